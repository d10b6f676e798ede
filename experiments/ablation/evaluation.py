"""Run the variants: the whole agent on each question, with its final SQL compared with gold.

In: questions, variants, settings, a folder. Out: `ItemResult`s in the folder. A recorded system answers over HTTP, as a
model would; a variant without one asks the configured model.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from eval.run_folder import RunFolder
from experiments.ablation.variants import ItemResult, Variant

if TYPE_CHECKING:
    from agent.config import Settings
    from agent.models.protocol import Model
    from agent.runner import Answer
    from eval.collection import Collection
    from eval.databases.base import Database
    from eval.schema import Dialect
    from experiments.recorded.answers import Recorded

Question = dict[str, Any]
NO_SUMMARY = "no-summary"


@dataclass(frozen=True, slots=True)
class Bench:
    """The questions, databases and test suites on which the variants are compared."""

    folder: Path
    questions: tuple[Question, ...]
    suites: Path | None = None
    """Folder of test suites, for TS."""


@dataclass(frozen=True, slots=True)
class Recording:
    """Recorded answers that replace a model's."""

    file: Path
    dialect: Dialect | None = None
    """The dialect in which they were written, if it differs from that of the databases."""


@dataclass(frozen=True, slots=True)
class Original:
    """A recorded answer as the recording has it."""

    raw: str
    reported_ex: bool | None


def evaluate(
    bench: Bench,
    variants: Sequence[Variant],
    config: Settings,
    folder: RunFolder[ItemResult],
    *,
    recording: Recording | None = None,
    model: str | None = None,
    jobs: int = 4,
    progress: Callable[[str, int], Any],
) -> None:
    """Evaluate the results missing from the folder. Raises OSError and ValueError for files that do not fit
    together."""
    from eval.collection import Collection

    databases = Collection(str(bench.folder / "databases"))
    try:
        for variant in variants:
            done = {c.id for c in folder.results if c.variant == variant.name}
            left = [q for q in bench.questions if str(q["id"]) not in done]
            if not left:
                continue
            with (
                _answering(variant, bench, recording, config) as (here, originals),
                progress(variant.name, len(left)) as advance,
            ):
                chosen = None if variant.system else variant.model or model
                work = _Evaluation(variant, bench, here, databases, originals, folder, advance)
                asyncio.run(work.all(left, chosen, jobs))
    finally:
        databases.close()


@contextmanager
def _answering(
    variant: Variant, bench: Bench, recording: Recording | None, config: Settings
) -> Iterator[tuple[Settings, dict[str, Original]]]:
    """The settings for the variant's run, and what the recording says of its answers."""
    here = config.changed(judging={"strategy": f"{variant.strategy}/{NO_SUMMARY}"})
    if variant.kit:
        here = here.changed(judging={"kit": variant.kit})
    if not variant.system:
        if variant.seed is not None:
            here = here.changed(model={"extra_body": {**(config.model.extra_body or {}), "seed": variant.seed}})
        yield here, {}
        return
    if recording is None:
        raise ValueError(f"{variant.name} names a recorded system, so --recorded must name the file")
    from experiments.recorded.answers import Answers, load_answers
    from experiments.recorded.server import application, running

    known = load_answers(recording.file, bench.folder / "questions.jsonl", variant.systems)
    if recording.dialect is not None:
        known = [_in_sqlite(one, recording.dialect) for one in known]
    missing = {str(q["id"]) for q in bench.questions} - {one.id for one in known}
    if missing:
        raise ValueError(f"{variant.system} did not answer {len(missing)} of the questions, such as {min(missing)}")
    with running(application(Answers(known))) as url:
        there = {"base_url": url, "api_key": None, "name": "recorded"}
        yield here.changed(model=there), _originals(recording.file, variant.system)


def _in_sqlite(one: Recorded, dialect: Dialect) -> Recorded:
    from eval.sql.translation import translated

    answers = tuple(
        replace(
            answer,
            sql=translated(answer.sql, dialect, "sqlite"),
            steps=tuple(translated(step, dialect, "sqlite") for step in answer.steps),
        )
        for answer in one.answers
    )
    return replace(one, answers=answers)


def _originals(file: Path, system: str) -> dict[str, Original]:
    from eval.jsonl import read_line

    found = {}
    with file.open("rb") as lines:
        for number, raw in enumerate(lines, 1):
            line = read_line(number, raw)
            record = (line.record if line else None) or {}
            if record.get("system") == system:
                reported = record.get("reported_ex")
                text = str(record.get("raw") or record.get("sql") or "")
                found[str(record.get("id"))] = Original(text, reported if isinstance(reported, bool) else None)
    return found


@dataclass(slots=True)
class _Evaluation:
    variant: Variant
    bench: Bench
    config: Settings
    databases: Collection
    originals: dict[str, Original]
    folder: RunFolder[ItemResult]
    advance: Callable[[], None]

    async def all(self, questions: Sequence[Question], model: str | None, jobs: int) -> None:
        from agent.models import shared_model

        turns = asyncio.Semaphore(jobs)
        chosen = await asyncio.to_thread(shared_model, self.config.model, model)

        async def one(question: Question) -> None:
            async with turns:
                self.folder.add(await self._one(question, chosen))
                self.advance()

        try:
            async with asyncio.TaskGroup() as group:
                for question in questions:
                    group.create_task(one(question))
        finally:
            if not isinstance(chosen, str):
                await chosen.close()

    async def _one(self, question: Question, model: Model | str) -> ItemResult:
        from agent.runner import run
        from experiments.ablation.replies import heard

        database = await asyncio.to_thread(self.databases.database, question["db"])
        with heard() as replies:
            answer = await run(question["question"], database=database, model=model, settings=self.config)
        return await asyncio.to_thread(self._measured, question, answer, database, replies.raw)

    def _measured(self, question: Question, answer: Answer, database: Database, raw: str) -> ItemResult:
        from eval.metrics.items import compare_items
        from eval.metrics.suites import suite_databases, suite_files
        from eval.tasks.cache_folder import cache_folder
        from experiments.ablation.outcomes import difficulty_of, outcome_of

        files = suite_files(self.bench.suites, question["db"], cache_folder()) if self.bench.suites else ()
        original = self.originals.get(str(question["id"]), Original(raw, None))
        measured = compare_items(question["gold_sql"], answer.sql, database, suite=suite_databases(files))
        return ItemResult(
            variant=self.variant.name,
            id=str(question["id"]),
            db=question["db"],
            sql=answer.sql,
            va=measured.va,
            em=measured.em,
            ex=measured.ex is True,
            ts=measured.ts,
            gold_error=measured.gold_error,
            error=(measured.error if answer.sql else answer.reason) if not measured.va else None,
            status=answer.status,
            attempts=len(answer.attempts),
            calls=answer.tokens.calls,
            input_tokens=answer.tokens.input,
            output_tokens=answer.tokens.output,
            cost_usd=answer.tokens.cost_usd,
            seconds=answer.seconds,
            reported_ex=original.reported_ex,
            question=question["question"],
            gold_sql=question["gold_sql"],
            raw=original.raw,
            outcome=outcome_of(question["gold_sql"], answer.sql, measured, database),
            difficulty=difficulty_of(question, database),
        )

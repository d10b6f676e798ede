"""Run the variants: the whole agent on each question, with its final SQL compared with gold.

In: questions, variants, settings, a folder. Out: `ItemResult`s in the folder. A recorded system answers over HTTP, as a
model would; a variant without one asks the configured model.
"""

from __future__ import annotations

import asyncio
import functools
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from eval.run_folder import RunFolder
from experiments.ablation.seeds import TEMPERATURE, seeded
from experiments.ablation.variants import ItemResult, Variant

if TYPE_CHECKING:
    from agent.config import Settings
    from agent.models.protocol import Model
    from agent.runner import Answer
    from eval.collection import Collection
    from eval.databases.base import Database
    from eval.jsonl import Record
    from eval.parallel import Opening
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
    temperature: float = TEMPERATURE
    """Of variants with a seed."""
    drawn: Path | None = None
    """Folder for the examples that each seed draws."""
    databases: str | None = None
    """A URL with `{db}`; None: the folder's own files."""


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
    on: str | None = None,
    progress: Callable[[str, int], Any],
) -> None:
    """Evaluate the results missing from the folder, here or in processes of the cluster that `on` names. Raises OSError
    and ValueError for files that do not fit together."""
    from eval.parallel import Lasting, results_in_order

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
            opening = functools.partial(_evaluating, variant, replace(bench, questions=()), here, chosen)
            records = [{"question": q, "original": originals.get(str(q["id"]))} for q in left]

            def add(result: ItemResult, advance: Callable[[], None] = advance) -> None:
                folder.add(result)
                advance()

            if on is None:
                asyncio.run(_all(opening, records, jobs, add))
                continue
            for found in results_in_order(Lasting(opening), records, jobs, on, progress=sys.stderr):
                add(found["result"])


async def _all(opening: Opening, records: Sequence[Record], jobs: int, add: Callable[[ItemResult], None]) -> None:
    turns = asyncio.Semaphore(jobs)

    async def one(work: Callable[[Record], Awaitable[Record]], record: Record) -> None:
        async with turns:
            add((await work(record))["result"])

    async with opening() as work, asyncio.TaskGroup() as group:
        for record in records:
            group.create_task(one(work, record))


@asynccontextmanager
async def _evaluating(
    variant: Variant, bench: Bench, config: Settings, model: str | None
) -> AsyncIterator[Callable[[Record], Awaitable[Record]]]:
    """Work on {question, original}, with databases and a model that are opened once: {result}."""
    from agent.models import shared_model
    from eval.collection import Collection

    databases = Collection(bench.databases or str(bench.folder / "databases"))
    chosen = await asyncio.to_thread(shared_model, config.model, model)
    evaluation = _Evaluation(variant, bench, config, databases, chosen)
    try:
        yield evaluation.one
    finally:
        if not isinstance(chosen, str):
            await chosen.close()
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
            here = seeded(here, variant.seed, bench.temperature, bench.drawn or bench.folder)
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
    from experiments.recorded.answers import records

    by_id = {}
    for record in records(file):
        if record.get("system") == system:
            reported = record.get("reported_ex")
            text = str(record.get("raw") or record.get("sql") or "")
            by_id[str(record.get("id"))] = Original(text, reported if isinstance(reported, bool) else None)
    return by_id


@dataclass(slots=True)
class _Evaluation:
    variant: Variant
    bench: Bench
    config: Settings
    databases: Collection
    model: Model | str

    async def one(self, record: Record) -> Record:
        from agent.models.calls import recording
        from agent.runner import run

        question = record["question"]
        database = await asyncio.to_thread(self.databases.database, question["db"])
        with recording() as replies:
            answer = await run(question["question"], database=database, model=self.model, settings=self.config)
        original = record["original"] or Original(replies.raw, None)
        measured = await asyncio.to_thread(self._measured, question, answer, database, original)
        return {"result": replace(measured, first_word_seconds=replies.first_word_seconds)}

    def _measured(self, question: Question, answer: Answer, database: Database, original: Original) -> ItemResult:
        from eval.metrics.items import compare_items
        from eval.metrics.suites import suite_databases, suite_files
        from eval.sql.translation import translated
        from eval.tasks.cache_folder import cache_folder
        from experiments.ablation.outcomes import difficulty_of, outcome_of

        files = suite_files(self.bench.suites, question["db"], cache_folder()) if self.bench.suites else ()
        gold = translated(question["gold_sql"], question.get("dialect", "sqlite"), database.dialect)
        measured = compare_items(gold, answer.sql, database, suite=suite_databases(files))
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

"""Runs the rungs: the whole agent on each question, its final SQL measured against gold.

In: questions, rungs, settings, a folder. Out: `Climbed` lines in the folder. A recorded system answers over HTTP, as a
model would; else the configured model does.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agent.ladder.rungs import Climbed, Folder, Rung

if TYPE_CHECKING:
    from agent.config import Settings
    from agent.models.protocol import Model
    from agent.runner import Answer
    from eval.collection import Collection
    from eval.databases.base import Database
    from eval.recorded.answers import Recorded
    from eval.schema import Dialect

Question = dict[str, Any]
NO_SUMMARY = "no-summary"


@dataclass(frozen=True, slots=True)
class Bench:
    """What the rungs are tried on."""

    folder: Path
    questions: tuple[Question, ...]
    suites: Path | None = None
    """Folder of test suites, for TS."""


@dataclass(frozen=True, slots=True)
class Recording:
    """Answers that stand in for a model's."""

    file: Path
    dialect: Dialect | None = None
    """The dialect in which they were written, where the databases speak another."""


def climb(
    bench: Bench,
    rungs: Sequence[Rung],
    config: Settings,
    folder: Folder,
    *,
    recording: Recording | None = None,
    model: str | None = None,
    jobs: int = 4,
    progress: Callable[[str, int], Any],
) -> None:
    """Work on what the folder lacks. Raises OSError and ValueError for files that do not fit together."""
    from eval.collection import Collection

    databases = Collection(str(bench.folder / "databases"))
    try:
        for rung in rungs:
            done = {c.id for c in folder.climbed if c.rung == rung.name}
            left = [q for q in bench.questions if str(q["id"]) not in done]
            if not left:
                continue
            with _answering(rung, bench, recording, config) as (here, reported), progress(rung.name, len(left)) as tell:
                chosen = None if rung.system else model
                work = _Climb(rung, bench, here, databases, reported, folder, tell)
                asyncio.run(work.all(left, chosen, jobs))
    finally:
        databases.close()


@contextmanager
def _answering(
    rung: Rung, bench: Bench, recording: Recording | None, config: Settings
) -> Iterator[tuple[Settings, dict[str, bool]]]:
    """The settings with which the rung runs, and what the recording says of its own answers."""
    here = config.model_copy(update={"strategy": f"{rung.strategy}/{NO_SUMMARY}"})
    if not rung.system:
        yield here, {}
        return
    if recording is None:
        raise ValueError(f"{rung.name} names a recorded system, so --recorded must name the file")
    from eval.recorded.answers import Answers, load_answers
    from eval.recorded.serving import application, running

    known = load_answers(recording.file, bench.folder / "questions.jsonl", rung.systems)
    if recording.dialect is not None:
        known = [_in_sqlite(one, recording.dialect) for one in known]
    missing = {str(q["id"]) for q in bench.questions} - {one.id for one in known}
    if missing:
        raise ValueError(f"{rung.system} did not answer {len(missing)} of the questions, such as {min(missing)}")
    with running(application(Answers(known))) as url:
        there = {"openai_base_url": url, "openai_api_key": None, "model": "recorded"}
        yield here.model_copy(update=there), _reported(recording.file, rung.system)


def _in_sqlite(one: Recorded, dialect: Dialect) -> Recorded:
    from eval.sql.translating import translated

    answers = tuple(
        replace(
            answer,
            sql=translated(answer.sql, dialect, "sqlite"),
            steps=tuple(translated(step, dialect, "sqlite") for step in answer.steps),
        )
        for answer in one.answers
    )
    return replace(one, answers=answers)


def _reported(file: Path, system: str) -> dict[str, bool]:
    from eval.jsonl import read_line

    found = {}
    with file.open("rb") as lines:
        for number, raw in enumerate(lines, 1):
            line = read_line(number, raw)
            record = (line.record if line else None) or {}
            if record.get("system") == system and isinstance(record.get("reported_ex"), bool):
                found[str(record.get("id"))] = record["reported_ex"]
    return found


@dataclass(slots=True)
class _Climb:
    rung: Rung
    bench: Bench
    config: Settings
    databases: Collection
    reported: dict[str, bool]
    folder: Folder
    tell: Callable[[], None]

    async def all(self, questions: Sequence[Question], model: str | None, jobs: int) -> None:
        from agent.catalogue import resolve_model

        turns = asyncio.Semaphore(jobs)
        chosen = await asyncio.to_thread(resolve_model, model, self.config)

        async def one(question: Question) -> None:
            async with turns:
                self.folder.add(await self._one(question, chosen))
                self.tell()

        try:
            async with asyncio.TaskGroup() as group:
                for question in questions:
                    group.create_task(one(question))
        finally:
            await chosen.close()

    async def _one(self, question: Question, model: Model) -> Climbed:
        from agent.runner import run

        database = await asyncio.to_thread(self.databases.database, question["db"])
        answer = await run(question["question"], database=database, model=model, settings=self.config)
        return await asyncio.to_thread(self._measured, question, answer, database)

    def _measured(self, question: Question, answer: Answer, database: Database) -> Climbed:
        from eval.metrics.items import compare_items
        from eval.metrics.suites import suite_databases, suite_files
        from eval.tasks.cache_folder import cache_folder

        files = suite_files(self.bench.suites, question["db"], cache_folder()) if self.bench.suites else ()
        measured = compare_items(question["gold_sql"], answer.sql, database, suite=suite_databases(files))
        return Climbed(
            rung=self.rung.name,
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
            reported_ex=self.reported.get(str(question["id"])),
        )

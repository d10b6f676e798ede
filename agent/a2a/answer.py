"""A task → its answer, through the runner. SQL is written, checked (guard, names, the engine's compiler on an empty
database with the task's structure), and retried with the error as feedback. Nothing is run and there are no rows.

In: a `SqlTask`. Out: the run's events as they happen, then a `TaskAnswer`. A caller that stops iterating stops the run.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import cast

from agent.a2a.task import SqlTask, TaskAnswer
from agent.config import Settings
from agent.events import Event
from agent.models.protocol import Model
from agent.runner import Answer, stream
from agent.sources.structure import without_samples
from eval.databases.scratch import ScratchDatabase, scratch_database
from eval.databases.types import DatabaseError
from eval.engines import ENGINES, NOT_EXECUTED
from eval.schema import Schema

log = logging.getLogger(__name__)

NO_SQL = "No SQL was found for this question."


async def answering(
    task: SqlTask, config: Settings, model: Model | str | None = None
) -> AsyncGenerator[Event | TaskAnswer, None]:
    """The events of the run; the answer is always last. Raises nothing but cancellation. Closing the iterator stops the
    run and removes its scratch database. `model`: None means the model of the settings."""
    database: ScratchDatabase | None = None
    answer: Answer | None = None
    problem = NO_SQL
    try:
        shown = task.schema if config.privacy.mode == "full" else without_samples(task.schema)
        database = await _scratch(shown)
        run = stream(
            task.question,
            evidence=task.evidence,
            database=database,
            model=model,
            settings=config,
            execute=False,
            history=task.history,
        )
        async with aclosing(cast("AsyncGenerator[Event, None]", run)) as events:
            async for event in events:
                if event.event == "answer":
                    answer = event.data
                elif event.event == "error":
                    problem = event.data.message
                yield event
        yield _answer(task, answer, problem)
    except DatabaseError as error:
        yield TaskAnswer(sql="", error=str(error), task_id=task.task_id)
    except Exception as error:
        log.exception("A task failed inside")
        yield TaskAnswer(sql="", error=f"Something went wrong inside: {type(error).__name__}.", task_id=task.task_id)
    finally:
        if database is not None:
            database.close()


async def answered(task: SqlTask, config: Settings, model: Model | str | None = None) -> TaskAnswer:
    """Only the answer, without the events."""
    async with aclosing(answering(task, config, model)) as events:
        async for event in events:
            if isinstance(event, TaskAnswer):
                return event
    raise AssertionError("answering ends with an answer")


async def _scratch(schema: Schema) -> ScratchDatabase:
    """Build the scratch database off the event loop. If the task is cancelled meanwhile, it is closed as soon as it is
    ready."""
    work = asyncio.ensure_future(asyncio.to_thread(scratch_database, schema, "task", "process"))
    try:
        return await asyncio.shield(work)
    except asyncio.CancelledError:
        work.add_done_callback(_close_unwanted)
        raise


def _close_unwanted(work: asyncio.Future[ScratchDatabase]) -> None:
    if not work.cancelled() and work.exception() is None:
        work.result().close()


def _answer(task: SqlTask, answer: Answer | None, problem: str) -> TaskAnswer:
    """SQL that passed its checks, or the reason why there is none. SQL that failed a check is never returned."""
    if answer and answer.status in ("success", "doubtful") and answer.sql:
        label = "" if ENGINES[task.dialect].executes else NOT_EXECUTED.format(title=ENGINES[task.dialect].title)
        reason = answer.reason if not answer.reason or answer.reason.endswith((".", "!", "?")) else f"{answer.reason}."
        said = " · ".join(part.text for part in answer.reading)
        shows = f"Shows: {said}." if said and said not in reason else ""
        reasoning = " ".join(filter(None, (reason, shows, answer.verdict, label)))
        return TaskAnswer(sql=answer.sql, reasoning=reasoning, read_as=answer.read_as or None, task_id=task.task_id)
    why = (answer.answer or answer.reason) if answer else problem
    return TaskAnswer(sql="", error=why, read_as=(answer and answer.read_as) or None, task_id=task.task_id)

"""A task → its answer, through the one runner: SQL is written, checked by guard, names and the engine's compiler on an
empty database of the task's structure, and tried again with what was wrong. Nothing is run, no row exists.

In: a `SqlTask`. Out: the run's events as they happen, then a `TaskAnswer`. Whoever stops listening stops the run.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any, cast

from agent.a2a.task import SqlTask, TaskAnswer
from agent.config import Settings
from agent.events import Event
from agent.models.protocol import Model
from agent.runner import stream
from eval.databases.base import DatabaseError
from eval.databases.scratch import ScratchDatabase, scratch_database

log = logging.getLogger(__name__)

NO_SQL = "No SQL was found for this question."


async def answering(
    task: SqlTask, config: Settings, model: Model | None = None
) -> AsyncGenerator[Event | TaskAnswer, None]:
    """The events of the run, and the answer last, always. Never raises but for cancellation; closing the iterator
    stops the run and removes its scratch database. `model`: None means what the settings say."""
    database: ScratchDatabase | None = None
    found: dict[str, Any] = {}
    problem = NO_SQL
    try:
        database = await _scratch(task)
        run = stream(task.question, database=database, model=model, settings=config, execute=False)
        async with aclosing(cast("AsyncGenerator[Event, None]", run)) as events:
            async for event in events:
                if event.event == "answer":
                    found = event.data
                elif event.event == "error":
                    problem = event.data.message
                yield event
        yield _answer(task, found, problem)
    except DatabaseError as error:
        yield TaskAnswer(sql="", error=str(error), task_id=task.task_id)
    except Exception as error:
        log.exception("A task failed inside")
        yield TaskAnswer(sql="", error=f"Something went wrong inside: {type(error).__name__}.", task_id=task.task_id)
    finally:
        if database is not None:
            database.close()


async def answered(task: SqlTask, config: Settings, model: Model | None = None) -> TaskAnswer:
    """The answer alone."""
    async with aclosing(answering(task, config, model)) as events:
        async for event in events:
            if isinstance(event, TaskAnswer):
                return event
    raise AssertionError("answering ends with an answer")


async def _scratch(task: SqlTask) -> ScratchDatabase:
    """Built off the loop; one that is ready only after its task was cancelled is closed where it stands."""
    work = asyncio.ensure_future(asyncio.to_thread(scratch_database, task.schema, "task"))
    try:
        return await asyncio.shield(work)
    except asyncio.CancelledError:
        work.add_done_callback(_close_unwanted)
        raise


def _close_unwanted(work: asyncio.Future[ScratchDatabase]) -> None:
    if not work.cancelled() and work.exception() is None:
        work.result().close()


def _answer(task: SqlTask, found: dict[str, Any], problem: str) -> TaskAnswer:
    """SQL that passed its checks, or why there is none: what did not pass is never handed out."""
    if found.get("status") in ("success", "doubtful") and found.get("sql"):
        return TaskAnswer(sql=found["sql"], reasoning=found.get("reason") or "", task_id=task.task_id)
    why = found.get("answer") or found.get("reason") or problem
    return TaskAnswer(sql="", error=why, task_id=task.task_id)

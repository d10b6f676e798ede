"""The assessment itself: send every task to every participant and judge every answer.

In: assignments, participants, options. Out: a `TaskResult` for each task of each participant, reported one by one as
they arrive. A participant that is down still gets a result for each task, with a score of 0.
"""

from __future__ import annotations

import asyncio
import os
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace

from eval.assessment.judgement import JudgeRequest
from eval.assessment.participants import Caller, Participant
from eval.assessment.records import TaskResult
from eval.assessment.sandbox import MEMORY_BYTES, Sandbox
from eval.assessment.selection import Assignment, task_message
from eval.jsonl import Record


@dataclass(frozen=True, slots=True)
class Options:
    preset: str = "default"
    """Weights of the dimensions: default, strict, performance, quality."""
    timeout: float = 300.0
    """Timeout for one reply, in seconds."""
    jobs: int = 4
    """Tasks sent to each participant in parallel."""
    judges: int = 0
    """Judging processes; 0 means one per core, at most four."""
    sql_seconds: float = 30.0
    """Timeout for each statement on the database, in seconds."""
    memory_bytes: int = MEMORY_BYTES
    """Memory of one judging process."""
    timed: bool = False
    """Measure VES: both queries run several more times."""


Done = Collection[tuple[str, str]]
"""Pairs of a participant's name and a task's id."""


async def assess(
    assignments: Sequence[Assignment],
    participants: Sequence[Participant],
    options: Options,
    *,
    on_result: Callable[[TaskResult], None] = lambda _: None,
    done: Done = (),
) -> list[TaskResult]:
    """Ask and judge. `on_result` is called for each result, in the order of arrival; the tasks in `done` are skipped.
    Cancelling stops the calls and ends the judging processes."""
    results: list[TaskResult] = []

    async def work(caller: Caller, waiting: deque[Assignment], sandbox: Sandbox) -> None:
        while waiting:
            result = await _asked(waiting.popleft(), caller, sandbox, options)
            results.append(result)
            on_result(result)

    jobs = max(1, options.jobs)
    judges = options.judges or min(4, os.cpu_count() or 1)
    async with AsyncExitStack() as stack:
        sandbox = await stack.enter_async_context(Sandbox(judges, options.memory_bytes))
        async with asyncio.TaskGroup() as group:
            for whom in participants:
                caller = await stack.enter_async_context(Caller(whom, timeout=options.timeout, connections=jobs))
                waiting = deque(a for a in assignments if (whom.name, a.task.id) not in done)
                for _ in range(min(jobs, len(waiting))):
                    group.create_task(work(caller, waiting, sandbox))
    return results


@asynccontextmanager
async def assessing(
    participants: Sequence[Participant], options: Options
) -> AsyncIterator[Callable[[Record], Awaitable[Record]]]:
    """The same for one process of several (`eval.parallel.Lasting`): {assignment, participant} in, {result} out."""
    async with AsyncExitStack() as stack:
        sandbox = await stack.enter_async_context(Sandbox(1, options.memory_bytes))
        callers = {
            whom.name: await stack.enter_async_context(Caller(whom, timeout=options.timeout, connections=1))
            for whom in participants
        }

        async def one(record: Record) -> Record:
            caller = callers[record["participant"]]
            return {"result": await _asked(record["assignment"], caller, sandbox, options)}

        yield one


async def _asked(assignment: Assignment, caller: Caller, sandbox: Sandbox, options: Options) -> TaskResult:
    """One participant's answer to one task, with its judgement. Gold runs even when there is no answer, so that its
    failures are known; a missing answer scores 0."""
    task = assignment.task
    answer = await caller.ask(task_message(task, dict(assignment.structure), assignment.dialect))
    judgement = await sandbox.judge(
        JudgeRequest(
            target=assignment.target,
            question=task.question,
            golds=assignment.golds,
            sql=answer.sql,
            reasoning=answer.reasoning,
            preset=options.preset,
            seconds=options.sql_seconds,
            features=assignment.features,
            suite=assignment.suite,
            timed=options.timed,
        )
    )
    if answer.failure:
        judgement = replace(judgement, error=answer.error or answer.failure)
    return TaskResult(
        participant=caller.whom.name,
        task_id=task.id,
        database=task.database,
        dialect=assignment.dialect,
        difficulty=task.difficulty,
        tags=task.tags,
        question=task.question,
        gold=assignment.golds[0],
        answer=answer,
        judgement=judgement,
    )

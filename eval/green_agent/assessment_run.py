"""Run an assessment from request to artifact, with progress messages.

In: an `AssessmentRequest`. Out: progress texts, then the artifact. If the consumer stops iterating, the assessment
stops.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from eval.assessment import SelectionError, TaskResult, assess, select_tasks
from eval.errors import Busy
from eval.green_agent.artifact import artifact
from eval.green_agent.request import AssessmentRequest, RequestUnusable

AT_ONCE = 2
"""Assessments that may run at once in one process."""
_STEPS = 20
"""The approximate number of progress reports."""


@dataclass(frozen=True, slots=True)
class Source:
    """The source of this evaluator's tasks: set by its operator, not by its clients."""

    tasks: str = "library"
    databases: Path | None = None
    suites: Path | None = None
    engine: str | None = None
    dialect: str = "sqlite"


class Evaluator:
    """Runs assessments, a few at once."""

    def __init__(self, source: Source | None = None) -> None:
        self._source = source or Source()
        self._under_way = 0

    async def assessing(self, request: AssessmentRequest) -> AsyncGenerator[str | dict[str, Any], None]:
        """Yields sentences, then the artifact. Raises Busy, and RequestUnusable when no task is left."""
        if self._under_way >= AT_ONCE:
            raise Busy(f"{AT_ONCE} assessments are under way here; try again later.")
        self._under_way += 1
        try:
            async for step in self._assessing(request):
                yield step
        finally:
            self._under_way -= 1

    async def _assessing(self, request: AssessmentRequest) -> AsyncGenerator[str | dict[str, Any], None]:
        config, source = request.config, self._source
        try:
            selection = await asyncio.to_thread(
                select_tasks,
                source.tasks,
                config.filters,
                dialect=config.dialect or source.dialect,
                engine=source.engine,
                databases=source.databases,
                suites=source.suites,
            )
        except SelectionError as error:
            raise RequestUnusable(f"config: {error}.") from None
        whom = request.called()
        total = len(selection.assignments) * len(whom)
        if config.ignored:
            yield f"Not known and ignored: {', '.join(config.ignored)}."
        names = ", ".join(p.name for p in whom)
        yield f"Tasks: {len(selection.assignments)}, from {selection.source}. Participants: {names}."
        queue: asyncio.Queue[TaskResult | None] = asyncio.Queue()
        work = asyncio.ensure_future(assess(selection.assignments, whom, config.options, on_result=queue.put_nowait))
        work.add_done_callback(lambda _: queue.put_nowait(None))
        try:
            done = right = 0
            while (result := await queue.get()) is not None:
                done, right = done + 1, right + result.right
                if done * _STEPS // total > (done - 1) * _STEPS // total:
                    yield f"{done} of {total} answers judged, {right} right."
            results = work.result()
        finally:
            work.cancel()
            with contextlib.suppress(asyncio.CancelledError, Exception):
                await work
        order = {a.task.id: place for place, a in enumerate(selection.assignments)}
        results.sort(key=lambda r: (order[r.task_id], r.participant))
        used = {**config.model_dump(by_alias=True, exclude=set(config.ignored)), "ignored": [*config.ignored]}
        yield artifact({**used, "source": selection.source, "task_count": len(selection.assignments)}, results)

"""Run an assessment from request to artifact, with progress messages.

In: an `AssessmentRequest`. Out: progress texts, then the artifact. If the consumer stops iterating, the assessment
stops.

The artifact has the format of the contract. It contains no gold queries and none of their rows, because the requester
may be a participant. Some figures are there twice, under the names of the contract and under those that evaluators of
the same kind use (`participant_id`, `overall_score`, `agent_scores`, …), so that queries written for either find them.
"""

from __future__ import annotations

import asyncio
import contextlib
import uuid
from collections import Counter
from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from eval.assessment import Figures, SelectionError, TaskResult, assess, ranked, select_tasks
from eval.assessment.records import GROUPS
from eval.errors import Busy
from eval.green_agent.request import AssessmentRequest, RequestUnusable
from eval.metrics.intervals import Rate

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


def artifact(config: Mapping[str, Any], results: Sequence[TaskResult]) -> dict[str, Any]:
    """The artifact; participants in the order of their ranks."""
    counted = ranked(results)
    by_name = {f.participant: [r for r in results if r.participant == f.participant] for f in counted}
    return {
        "assessment_id": uuid.uuid4().hex,
        "completed_at": datetime.now(UTC).isoformat(timespec="seconds"),
        "config": dict(config),
        "rankings": [_rank(place, f, counted) for place, f in enumerate(counted)],
        "participants": {
            f.participant: {
                "participant_id": f.participant,
                "total_tasks": f.ex.total,
                "successful": f.va.right,
                "failed": f.ex.total - f.va.right,
                "scores": _scores(f),
                "task_results": [_task_result(r) for r in by_name[f.participant]],
                "error_metrics": _errors(by_name[f.participant]),
            }
            for f in counted
        },
        "task_comparison": _comparison(results),
        "error_metrics_summary": _errors(results),
        **(_of_one(counted[0], results) if len(counted) == 1 else {}),
    }


def _of_one(f: Figures, results: Sequence[TaskResult]) -> dict[str, Any]:
    """Where one agent is assessed, its figures under the names that leaderboards of AgentBeats ask for."""
    return {
        "score": f.ex.right,
        "max_score": f.ex.total,
        "pass_rate": round(100 * f.ex.value, 2),
        "time_used": round(sum(r.answer.seconds for r in results), 3),
    }


def _rank(place: int, f: Figures, all_of_them: Sequence[Figures]) -> dict[str, Any]:
    """The rank; equal scores share a rank."""
    better = sum(other.overall > f.overall for other in all_of_them[:place])
    return {
        "rank": better + 1,
        "participant": f.participant,
        "participant_id": f.participant,
        "overall": round(f.overall, 4),
        "overall_score": round(f.overall, 4),
        "tasks": f.ex.total,
        "correct": f.ex.right,
        "execution_accuracy": round(f.ex.value, 4),
        "execution_accuracy_interval": _interval(f.ex),
    }


def _scores(f: Figures) -> dict[str, Any]:
    return {
        "overall": round(f.overall, 4),
        **{name: round(value, 4) for name, value in f.dimensions.items()},
        "va": round(f.va.value, 4),
        "em": round(f.em.value, 4),
        "ex": round(f.ex.value, 4),
        "ex_interval": _interval(f.ex),
        "bird_ex": round(f.bird_ex.value, 4),
        "ts": round(f.ts.value, 4) if f.ts else None,
        "tasks": f.ex.total,
        "correct": f.ex.right,
        "answered": f.ex.total - sum(f.failures.values()),
        "gold_failures": [*f.gold_failures],
        "by_difficulty": {level: _rate(rate) for level, rate in f.by_difficulty.items()},
        "by_feature": {feature: _rate(rate) for feature, rate in f.by_feature.items()},
        "seconds_mean": round(f.seconds_mean, 3),
        "tokens": f.tokens,
        "cost": f.cost,
        "calibration_error": None if f.calibration_error is None else round(f.calibration_error, 4),
    }


def _task_result(r: TaskResult) -> dict[str, Any]:
    judged = r.judgement
    return {
        "task_id": r.task_id,
        "database": r.database,
        "dialect": r.dialect,
        "difficulty": r.difficulty,
        "question": r.question,
        "sql": r.answer.sql,
        "sql_submitted": r.answer.sql,
        "correct": r.right,
        "score": judged.overall,
        "scores": dict(judged.dimensions),
        "executes": judged.va,
        "execution_success": judged.va,
        "failure": r.answer.failure or None,
        "error": judged.error,
        "error_message": judged.error or r.answer.error or None,
        "gold_error": judged.gold_error,
        "errors": [{"category": m.category, "reason": m.reason} for m in judged.mistakes],
        "seconds": round(r.answer.seconds, 3),
        "execution_time_ms": judged.answer_ms,
        "confidence": r.answer.confidence,
        "tokens": r.answer.tokens,
        "cost": r.answer.cost,
    }


def _errors(results: Sequence[TaskResult]) -> dict[str, Any]:
    """Each wrong answer under its most serious mistake; tasks without an answer separately."""
    primary = Counter(category for r in results if (category := r.judgement.category))
    failures = Counter(r.answer.failure for r in results if r.answer.failure)
    return {
        "total": len(results),
        "correct": sum(r.right for r in results),
        "no_answer": sum(failures.values()),
        "no_answer_by_kind": dict(failures),
        "gold_failed": sum(r.judgement.gold_error is not None for r in results),
        **{f"{group}_errors": {c: primary[c] for c in categories} for group, categories in GROUPS.items()},
    }


def _comparison(results: Sequence[TaskResult]) -> list[dict[str, Any]]:
    by_task: dict[str, list[TaskResult]] = {}
    for r in results:
        by_task.setdefault(r.task_id, []).append(r)
    return [
        {
            "task_id": task_id,
            "database": of[0].database,
            "difficulty": of[0].difficulty,
            "question": of[0].question,
            "scores": {r.participant: r.judgement.overall for r in of},
            "agent_scores": {
                r.participant: {"overall": r.judgement.overall, "execution_success": r.judgement.va} for r in of
            },
            "correct": [r.participant for r in of if r.right],
        }
        for task_id, of in by_task.items()
    ]


def _rate(rate: Rate) -> dict[str, Any]:
    return {"ex": round(rate.value, 4), "correct": rate.right, "tasks": rate.total, "interval": _interval(rate)}


def _interval(rate: Rate) -> list[float]:
    return [round(end, 4) for end in rate.interval]

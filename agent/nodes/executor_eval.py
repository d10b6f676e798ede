"""executor_eval: a draft → one scored QueryResult, or several. `case_of` examines and runs it → score → judge → blend.

With several candidates each becomes an attempt, and where the strategy has it verified the model looks at the result
and may revise the query. Whatever goes wrong ends in a valid QueryResult.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import Any

from agent.attempts import attempts_at
from agent.candidates.running import case_of
from agent.candidates.verifying import may_be_reviewed, review, stands
from agent.context import RunContext
from agent.events import QueryResultEvent, RetryEvent, RetryInfo
from agent.knowledge.schema_context import PREVIEW_ROWS
from agent.models.protocol import JudgeRequest, ModelError
from agent.state import AgentState, Draft, EvalReport, QueryResult, QueryTask, Relevance, ResultStatus, asked
from eval.databases.base import DatabaseError, ExecutionResult
from eval.databases.values import json_rows
from eval.scoring import Score, final_score, score
from eval.sql import ParsedQuery, ReadStatement, References

log = logging.getLogger(__name__)

NOT_JUDGED = Relevance(score=0.5, reasoning="Not judged: there is no result to look at.")
NOT_CHOSEN = Relevance(score=0.5, reasoning="Not judged: another candidate was chosen.")


async def executor_eval(state: AgentState, context: RunContext) -> dict[str, Any]:
    """The attempt that stands comes last, for that is the one that the gate looks at: behind other candidates, which
    are shown but not put before the judge, and behind a revision that is no better."""
    task, draft = state["current_task"], state["draft"]
    question = asked(state)
    number = len(attempts_at(task.id, state.get("query_results", []))) + 1
    results = [
        await _shown(question, task, rival, i, context, judged=False) for i, rival in enumerate(draft.rivals, number)
    ]
    others = [r.attempt for r in results]
    chosen = await _shown(question, task, draft, number + len(results), context, replaces=others)
    return {"query_results": [*results, *await _verified(question, state, chosen, context)]}


async def _shown(
    question: str,
    task: QueryTask,
    draft: Draft,
    attempt: int,
    context: RunContext,
    *,
    judged: bool = True,
    replaces: Sequence[int] = (),
    before: QueryResult | None = None,
) -> QueryResult:
    """One attempt, as it is told. As a revision of `before` it replaces that if it is no worse."""
    try:
        result = await _attempt(question, task, draft, attempt, context, judged=judged)
    except Exception as error:
        log.exception("An attempt failed inside")
        result = _without_sql(task, draft, attempt, f"internal error: {type(error).__name__}")
    if before is not None and stands(result, before):
        replaces = [before.attempt]
    if replaces or draft.agreeing:
        result = result.model_copy(update={"replaces": list(replaces), "agreeing": draft.agreeing})
    context.emit(QueryResultEvent.of(result))
    return result


async def _verified(question: str, state: AgentState, first: QueryResult, context: RunContext) -> list[QueryResult]:
    """The attempt and its revisions, in the end the one that stands: the model looks at its rows, within the rounds
    that the strategy allows a task, until it accepts them."""
    task, standing, others = state["current_task"], first, list[QueryResult]()
    earlier = attempts_at(task.id, state.get("query_results", []))
    rounds = context.strategy.verify_rounds - sum(r.verified is not None for r in earlier)
    while rounds > 0 and may_be_reviewed(standing) and context.seconds_left > 0:
        rounds -= 1
        seen = await review(question, task, standing, state["schema_context"], context)
        if seen is None:
            break
        known = {r.sql for r in (*earlier, *others, standing)}
        standing = standing.model_copy(update={"verified": seen.accepted})
        if seen.accepted or seen.sql in known:
            break
        number = first.attempt + len(others) + 1
        told = RetryInfo(task_id=task.id, attempt=number, category="relevance", feedback=seen.reasoning)
        context.emit(RetryEvent(data=told))
        draft = Draft(sql=seen.sql, reasoning=seen.reasoning)
        revised = await _shown(question, task, draft, number, context, before=standing)
        if not revised.replaces:
            return [*others, revised, standing]
        others.append(standing)
        standing = revised
    return [*others, standing]


async def _attempt(
    question: str, task: QueryTask, draft: Draft, attempt: int, context: RunContext, *, judged: bool
) -> QueryResult:
    if draft.failure:
        return _without_sql(task, draft, attempt, None if draft.failure.kind == "abstained" else draft.failure.message)
    if draft.error:
        return _without_sql(task, draft, attempt, draft.error)
    try:
        case = await case_of(question, task, draft, context)
    except DatabaseError as error:
        return _without_sql(task, draft, attempt, str(error))
    statement, executed = case.verdict.statement, case.result
    if not context.execute and statement and not case.references.phantoms:
        return await _unsent(task, draft, attempt, statement, context)
    scored = score(replace(case, candidates_agreeing=draft.agreeing))
    data = json_rows(executed.rows) if executed else []
    relevance = await _judged(question, task, draft, executed, data, context) if judged else NOT_CHOSEN
    return QueryResult(
        task_id=task.id,
        attempt=attempt,
        sql=draft.sql,
        data=data,
        columns=list(executed.columns) if executed else [],
        rows_returned=len(data),
        truncated=bool(executed and executed.truncated),
        execution_time_ms=round(executed.execution_time_ms, 3) if executed else 0.0,
        score=round(final_score(scored, relevance.score), 4),
        eval_report=_report(scored, case.references, relevance),
        status=_status(executed),
        error=_error(case.parsed, executed),
        reasoning=draft.reasoning,
        confidence=draft.confidence,
        not_understood=draft.not_understood,
        alternatives=draft.alternatives,
    )


async def _judged(
    question: str,
    task: QueryTask,
    draft: Draft,
    executed: ExecutionResult | None,
    data: list[list[Any]],
    context: RunContext,
) -> Relevance:
    """The model's opinion of the result; neutral where there is no result, or no usable opinion."""
    if executed is None or not executed.ok:
        return NOT_JUDGED
    if not context.strategy.judge:
        return Relevance(score=0.5, reasoning="Not judged: the strategy has no judge.")
    preview = tuple(tuple(row) for row in data[:PREVIEW_ROWS])
    request = JudgeRequest(
        question, task, draft.sql, executed.columns, preview, len(executed.rows), context.database.dialect
    )
    try:
        async with asyncio.timeout(context.seconds_left):
            judgement = await context.model.judge(request)
    except (ModelError, TimeoutError) as error:
        log.warning("The result was not judged: %s", str(error) or type(error).__name__)
        return Relevance(score=0.5, reasoning="Not judged: the model gave no usable opinion.")
    context.spend(judgement.usage)
    return Relevance(score=min(1.0, max(0.0, judgement.score)), reasoning=judgement.reasoning)


def _status(executed: ExecutionResult | None) -> ResultStatus:
    if executed is None:
        return "failed"
    return "success" if executed.ok else "error"


def _error(parsed: ParsedQuery, executed: ExecutionResult | None) -> str | None:
    """The message that the retry handler quotes: the database's own, or the parser's. A refusal is no error."""
    if parsed.error:
        return parsed.error
    return executed.error if executed else None


def _report(scored: Score, references: References, relevance: Relevance) -> EvalReport:
    kinds = {"tables": "table", "columns": "column", "functions": "function", "ambiguous": "ambiguous"}
    hallucinations = {
        plural: [{"name": p.name, "nearest": list(p.nearest)} for p in references.phantoms if p.kind == kind]
        for plural, kind in kinds.items()
    }
    return EvalReport(
        overall=round(final_score(scored, relevance.score), 4),
        overall_before_relevance=round(scored.weighted, 4),
        probability=scored.probability,
        dimensions={name: round(value, 4) for name, value in scored.dimensions.items()},
        relevance=relevance,
        analysis={
            "hallucinations": hallucinations,
            "evidence": [asdict(e) for e in scored.evidence],
            "notes": dict(scored.notes),
        },
        vetoes=list(scored.vetoes),
    )


async def _unsent(
    task: QueryTask, draft: Draft, attempt: int, statement: ReadStatement, context: RunContext
) -> QueryResult:
    """A statement that may run and names only what is there, when none is to be run: the engine is asked whether it
    takes it, where it can be. No rows, and so no score."""
    refusal = await context.database.refusal_async(statement)
    return QueryResult(
        task_id=task.id,
        attempt=attempt,
        sql=statement.sql,
        status="error" if refusal else "success",
        error=refusal,
        reasoning=draft.reasoning,
        confidence=draft.confidence,
        not_understood=draft.not_understood,
        alternatives=draft.alternatives,
    )


def _without_sql(task: QueryTask, draft: Draft, attempt: int, error: str | None) -> QueryResult:
    """An attempt that never came to a statement."""
    return QueryResult(
        task_id=task.id,
        attempt=attempt,
        sql=draft.sql,
        status="failed" if error is None else "error",
        error=error,
        reasoning=draft.reasoning,
        confidence=draft.confidence,
        not_understood=draft.not_understood,
        alternatives=draft.alternatives,
        failure=draft.failure,
    )

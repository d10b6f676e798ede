"""executor_eval: a draft → one scored QueryResult. Parse once → guard → references → execute → score → judge → blend.

A statement that the guard refuses or that names things the database lacks is never sent. Whatever goes wrong ends in
a valid QueryResult.
"""

from __future__ import annotations

import asyncio
import logging
from dataclasses import asdict, replace
from typing import Any

from agent.attempts import attempts_at
from agent.context import RunContext
from agent.events import QueryResultEvent
from agent.knowledge.schema_context import PREVIEW_ROWS
from agent.models.protocol import JudgeRequest, ModelError
from agent.second_opinion import second_opinion
from agent.state import AgentState, Draft, EvalReport, QueryResult, QueryTask, Relevance, ResultStatus
from eval.databases.base import DatabaseError, ExecutionResult
from eval.databases.values import json_rows
from eval.schema import Schema
from eval.scoring import Case, Score, final_score, score
from eval.scoring.stored import with_stored
from eval.sql import ParsedQuery, References, Verdict, check, facts, parse, resolve

log = logging.getLogger(__name__)

LONG_SQL = 4_000
"""Characters from which parsing leaves the event loop: about 5 ms of work."""

NOT_JUDGED = Relevance(score=0.5, reasoning="Not judged: there is no result to look at.")


async def executor_eval(state: AgentState, context: RunContext) -> dict[str, Any]:
    task, draft = state["current_task"], state["draft"]
    attempt = len(attempts_at(task.id, state.get("query_results", []))) + 1
    try:
        result = await _attempt(_asked(state), task, draft, attempt, context)
    except Exception as error:
        log.exception("An attempt failed inside")
        result = _without_sql(task, draft, attempt, f"internal error: {type(error).__name__}")
    context.emit(QueryResultEvent.of(result))
    return {"query_results": [result]}


def _asked(state: AgentState) -> str:
    """What the current query has to answer: the user's own words, or its task's where the plan has several."""
    return state["question"] if len(state["plan"].tasks) == 1 else state["current_task"].description


async def _attempt(question: str, task: QueryTask, draft: Draft, attempt: int, context: RunContext) -> QueryResult:
    if draft.failure:
        return _without_sql(task, draft, attempt, None if draft.failure.kind == "abstained" else draft.failure.message)
    if draft.error:
        return _without_sql(task, draft, attempt, draft.error)
    try:
        schema = await context.schema()
        parsed = await _parsed(draft.sql, schema)
        verdict = check(parsed)
        references = resolve(parsed, schema)
        if references.phantoms:  # the structure may have changed since it was cached
            schema = await context.fresh_schema()
            references = resolve(parsed, schema)
    except DatabaseError as error:
        return _without_sql(task, draft, attempt, str(error))
    if not context.execute and verdict.statement and not references.phantoms:
        return _unsent(task, draft, attempt, verdict.statement.sql)
    executed = await _executed(verdict, references, context)
    case = Case(
        question=question,
        task_description=task.description,
        parsed=parsed,
        verdict=verdict,
        references=references,
        facts=facts(parsed, schema),
        schema=schema,
        result=executed,
        plan_confidence=draft.confidence,
        reasoning=draft.reasoning,
    )
    scored = score(await _with_opinions(case, context))
    data = json_rows(executed.rows) if executed else []
    relevance = await _judged(question, task, draft, executed, data, context)
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
        eval_report=_report(scored, references, relevance),
        status=_status(executed),
        error=_error(parsed, executed),
        reasoning=draft.reasoning,
        confidence=draft.confidence,
        not_understood=draft.not_understood,
        alternatives=draft.alternatives,
    )


async def _parsed(sql: str, schema: Schema) -> ParsedQuery:
    if len(sql) < LONG_SQL:
        return parse(sql, schema.dialect)
    return await asyncio.to_thread(parse, sql, schema.dialect)


async def _executed(verdict: Verdict, references: References, context: RunContext) -> ExecutionResult | None:
    """Run the statement if nothing known beforehand forbids it."""
    if verdict.statement is None or references.phantoms:
        return None
    return await context.database.execute_async(verdict.statement, limits=context.limits())


async def _with_opinions(case: Case, context: RunContext) -> Case:
    """The case with what the database holds of its constants, and with the offline engine's own reading of the
    question, where another model wrote the query."""
    if case.result is None or not case.result.ok:
        return case
    case = await asyncio.to_thread(with_stored, case, context.database)
    if context.model.offline:
        return case
    opinion = await second_opinion(case.question, context.database, case.schema)
    return replace(case, second_opinion=opinion)


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


def _unsent(task: QueryTask, draft: Draft, attempt: int, sql: str) -> QueryResult:
    """A statement that may run and names only what is there, when none is to be sent: no rows, and so no score."""
    return QueryResult(
        task_id=task.id,
        attempt=attempt,
        sql=sql,
        status="success",
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

"""A draft as a `Case`, in a run: parse once → guard → references → execute → facts → constants, second opinion.

In: what the query has to answer, and the draft. Out: everything that scoring reads of it. A statement that the guard
refuses or that names things the database lacks is never sent. A draft that was examined before in this run, as one of
several candidates, is not run again.
"""

from __future__ import annotations

import asyncio
from dataclasses import replace

from agent.context import RunContext
from agent.second_opinion import second_opinion
from agent.state import Draft, QueryTask
from eval.databases.base import ExecutionResult
from eval.schema import Schema
from eval.scoring import Case
from eval.scoring.stored import with_stored
from eval.sql import ParsedQuery, References, Verdict, check, facts, parse, resolve

LONG_SQL = 4_000
"""Characters from which parsing leaves the event loop: about 5 ms of work."""


async def case_of(question: str, task: QueryTask, draft: Draft, context: RunContext) -> Case:
    """Raises DatabaseError where the structure can't be read. Cancelling stops the statement."""
    key = question, draft.sql
    if key not in context.examined:
        context.examined[key] = await _case(question, task, draft, context)
    return context.examined[key]


async def _case(question: str, task: QueryTask, draft: Draft, context: RunContext) -> Case:
    schema = await context.schema()
    parsed = await _parsed(draft.sql, schema)
    verdict = check(parsed)
    references = resolve(parsed, schema)
    if references.phantoms:  # the structure may have changed since it was cached
        schema = await context.fresh_schema()
        references = resolve(parsed, schema)
    executed = await _executed(verdict, references, context) if context.execute else None
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
    return await _with_opinions(case, context)


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

"""A draft examined within a run: the one examination of `eval.examination`, with a second opinion beside it.

In: a `Query` and the run's context. Out: a `Case`. Each statement is sent once a run, however many candidates, steps
or attempts hold it; only what differs (the question, the reasoning, the plan) is put in anew.
"""

from __future__ import annotations

import asyncio
from dataclasses import replace

from agent.parser.second_opinion import second_opinion
from agent.runtime.context import RunContext
from agent.state import LeftOut, ReadingPart
from agent.statements.reading import as_read
from eval.examination import Query, examine_async, inspect
from eval.schema import Schema
from eval.scoring import Case


async def examined(query: Query, context: RunContext, own_confidence: float | None = None) -> Case:
    """`own_confidence`: the calibrated one of the built-in engine, if it wrote the query; it is then no second opinion
    on itself. Raises DatabaseError where the structure can't be read. Cancelling stops the statement."""
    if query.sql not in context.examined:
        case = await _once(query, await context.schema(), context)
        if case.references.phantoms:  # the structure may have changed since it was cached
            case = await _once(query, await context.fresh_schema(), context)
        context.examined[query.sql] = case
    case = replace(
        context.examined[query.sql],
        question=query.question,
        reasoning=query.reasoning,
        plan_confidence=query.plan_confidence,
        prior=context.judging.writer_prior,
        own_confidence=own_confidence,
    )
    if own_confidence is not None or not (case.ran and context.model.capabilities.second_opinion):
        return case
    return replace(case, second_opinion=await second_opinion(case.question, context.database, case.schema))


async def as_read_once(question: str, case: Case, context: RunContext) -> tuple[list[ReadingPart], list[LeftOut]]:
    """What the query of a case that ran says, and what it leaves out. Raises DatabaseError."""
    if case.parsed.text not in context.read:
        context.read[case.parsed.text] = await as_read(
            question, case, context.database, seconds=context.seconds_left / 2, semantics=context.semantics
        )
    return context.read[case.parsed.text]


async def _once(query: Query, schema: Schema, context: RunContext) -> Case:
    if not context.execute:
        return await asyncio.to_thread(inspect, query, schema)
    limits = context.statement_limits()
    return await examine_async(query, context.database, schema=schema, limits=limits, ran=context.ran)

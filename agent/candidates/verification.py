"""Verification: the model looks at its result and accepts it, or revises the query.

In: an attempt that ran, as far as the model may see it. Out: its `Review`, or None where it cannot be had. And by which
rule a revised query stands for the one before: never because of the model's word alone.
"""

from __future__ import annotations

import asyncio
import logging

from agent.knowledge.privacy import for_feedback, privacy_of
from agent.knowledge.schema_context import PREVIEW_ROWS
from agent.models.protocol import ModelError, Review, ReviewRequest, Verifying
from agent.runtime.attempts import likelihood, objections
from agent.runtime.context import RunContext
from agent.state import QueryResult, QueryTask

log = logging.getLogger(__name__)

_DOUBTS = 4
"""Sentences against a query that the model is told at most."""


def may_be_reviewed(result: QueryResult) -> bool:
    """It ran, and nothing forbids it; what failed is for the retry handler."""
    return result.status == "success" and not (result.eval_report and result.eval_report.vetoes)


async def review(
    question: str, task: QueryTask, result: QueryResult, schema_context: str, context: RunContext, round_: int = 0
) -> Review | None:
    """The model's opinion of a result that it may see. None where the model knows no reviews, may see no rows, is
    away or sends nothing usable: the result then stays as it is."""
    model = context.model
    privacy = privacy_of(model)
    if privacy == "schema" or not isinstance(model, Verifying):
        return None
    schema = await context.schema()
    seen = for_feedback(result, privacy, schema, question)
    request = ReviewRequest(
        question=question,
        task=task,
        dialect=schema.dialect,
        schema_context=schema_context,
        schema=schema,
        sql=result.sql,
        columns=tuple(result.columns),
        preview=tuple(tuple(row) for row in result.data[:PREVIEW_ROWS]),
        rows_returned=result.rows_returned,
        doubts=tuple(objections(seen)[:_DOUBTS]),
        round=round_,
        instructions=context.memory.instructions if context.memory else "",
    )
    try:
        async with asyncio.timeout(context.seconds_left):
            review = await model.review(request)
    except (ModelError, TimeoutError) as error:
        log.warning("The result was not reviewed: %s", str(error) or type(error).__name__)
        return None
    context.spend(review.usage)
    return review


def stands(after: QueryResult, before: QueryResult) -> bool:
    """Whether a revised query takes the place of the one before: it ran, nothing forbids it, it does not return nothing
    where there was something, and it is no less probable."""
    if not may_be_reviewed(after) or (before.rows_returned and not after.rows_returned):
        return False
    return likelihood(after) >= likelihood(before)

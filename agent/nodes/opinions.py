"""What the model says of a result: its relevance as a judge, and a review that accepts the result or revises its query.

In: a case or an attempt that ran, and the run's context. Out: a `Relevance`, neutral with the reason where there is
none; a `Review`, or None where it cannot be had. A judge's opinion that repeats the prompt, gives no reason, or is the
same for every query does not count: the last `REMEMBERED` ones are kept with the model object.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from typing import Any
from weakref import WeakKeyDictionary

from agent.knowledge.privacy import for_feedback, privacy_of
from agent.knowledge.schema_context import PREVIEW_ROWS
from agent.models.distrust import flaw, folded
from agent.models.protocol import Judgement, JudgeRequest, Model, ModelError, Review, ReviewRequest, Verifying
from agent.runtime.attempts import likelihood, objections
from agent.runtime.context import RunContext
from agent.runtime.probability import SETTLED
from agent.state import QueryResult, QueryTask, Relevance
from eval.scoring import Case, Observation, score

log = logging.getLogger(__name__)


def _neutral(why: str) -> Relevance:
    return Relevance(score=0.5, reasoning=f"Not judged: {why}.")


NOT_CHOSEN = _neutral("another candidate was chosen")
PERFECT = Relevance(score=1.0, reasoning="The best that a judge may say.")

REMEMBERED = 12
SAME = 4
"""Different queries of different questions with one opinion, word for word, from which it is a constant."""
_DOUBTS = 4
"""Sentences against a query that the model is told at most."""
_Opinion = tuple[str, float]
_said: WeakKeyDictionary[Model, deque[tuple[_Opinion, str, str]]] = WeakKeyDictionary()
"""By model: its opinions, each with the question and the query."""


async def judged_relevance(
    question: str,
    task: QueryTask,
    case: Case,
    seen: tuple[Observation, ...],
    data: list[list[Any]],
    context: RunContext,
) -> Relevance:
    """The model's judgement of the result; neutral if there is no result or no usable judgement."""
    executed = case.result
    if executed is None or not executed.ok:
        return _neutral("there is no result to look at")
    if not context.strategy.judge:
        return _neutral("the strategy has no judge")
    if not context.strategy.judge_settled:
        scored = score(case, seen=seen)
        if (scored.probability or 0.0) >= SETTLED and not scored.vetoes:
            return _neutral("the evidence settles it")
    preview = tuple(tuple(row) for row in data[:PREVIEW_ROWS])
    sql, dialect = case.parsed.text, context.database.dialect
    request = JudgeRequest(question, task, sql, executed.columns, preview, len(executed.rows), dialect)
    try:
        async with asyncio.timeout(context.seconds_left):
            judgement = await context.model.judge(request)
    except (ModelError, TimeoutError) as error:
        why = context.spend_failed(error)
        log.warning("The result was not judged: %s", why)
        context.trouble(f"the result was not judged: {why}")
        return _neutral("the model gave no usable opinion")
    context.spend(judgement.usage)
    if why := why_it_does_not_count(judgement, request, context.model):
        return _neutral(why)
    return Relevance(score=min(1.0, max(0.0, judgement.score)), reasoning=judgement.reasoning)


def why_it_does_not_count(judgement: Judgement, request: JudgeRequest, model: Model) -> str:
    """Empty where the opinion counts. The opinion is remembered."""
    reason = folded(judgement.reasoning)
    if len(reason.split()) < 2:
        return "it gives no reason"
    if why := flaw(judgement.reasoning):
        return why
    if reason in (folded(request.question), folded(request.sql)):
        return "it repeats what was asked"
    known = _said.setdefault(model, deque(maxlen=REMEMBERED))
    opinion = reason, judgement.score
    others = {(q, sql) for said, q, sql in known if said == opinion and q != request.question and sql != request.sql}
    known.append((opinion, request.question, request.sql))
    return "it is the same for every query" if len(others) >= SAME - 1 else ""


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
    """Whether a revised query takes the place of the one before, never because of the model's word alone: it ran,
    nothing forbids it, it does not return nothing where there was something, and it is no less probable."""
    if not may_be_reviewed(after) or (before.rows_returned and not after.rows_returned):
        return False
    return likelihood(after) >= likelihood(before)

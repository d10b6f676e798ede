"""Several queries for one task from a model: written and run side by side, fewer where the first leave no doubt.

In: the request for one query. Out: the distinct queries with the chosen one first, each with how many agree with it.
The first two are written together; the others only where those two differ or are doubtful, and where enough of the
run's time is left. Candidates differ in temperature, in the way of working that the prompt suggests, and in how much of
the database's profile they see. A model that fails in between costs its own candidate; cancelling stops all of them.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import dataclass, replace

from agent.candidates.choice import Candidate, Choice, Examined, Ran, choose, labelled
from agent.candidates.clamps import clamped
from agent.candidates.evaluation import ran_or_problem
from agent.candidates.examination import examined
from agent.knowledge.schema_context import estimate_tokens, schema_context
from agent.models.protocol import ModelAuthError, ModelError, SqlReply, SqlRequest
from agent.runtime.context import RunContext
from agent.runtime.probability import ENOUGH_CANDIDATES
from eval.databases.types import DatabaseError
from eval.examination import Query

log = logging.getLogger(__name__)

FIRST = 2
"""Candidates that are written in any case."""
TIME_LEFT = 1 / 3
"""Share of the run's time that has to be left for more to be begun."""
BARE_EVERY = 3
"""Each so-manyth candidate sees the bare structure without the notes on the data."""


@dataclass(frozen=True, slots=True)
class Written:
    reply: SqlReply
    agreeing: tuple[int, int] | None = None
    """(queries with its result, queries written), itself counted; None where it did not run."""
    probability: float | None = None
    """0..1: that its result is right, where it was estimated."""


def wants_several(request: SqlRequest, context: RunContext) -> bool:
    """Whether several are to be written: by a model, for a first attempt, where they can be run and so compared; or in
    a cascade, which without rows still has the engine and repairs."""
    return (
        (context.strategy.cascade or (context.strategy.candidates > 1 and context.execute))
        and context.strategy.generator == "query"
        and request.attempt == 1
        and context.model.capabilities.samples
    )


async def written(request: SqlRequest, question: str, context: RunContext) -> tuple[Written, ...]:
    """The chosen query first, then the other distinct ones; the only reply where none holds SQL. Raises ModelError or
    TimeoutError where not one reply came."""
    total = context.strategy.candidates
    replies, failures = await _wave(request, question, range(min(FIRST, total)), context)
    refused = any(isinstance(failure, ModelAuthError) for failure in failures)
    enough = context.seconds_left > TIME_LEFT * context.limits.run_seconds
    ran, choice = await _compared(replies, question, context)
    # All that were asked for came, agree, and are likely right
    settled = choice is not None and choice.agreeing == FIRST and choice.probability >= ENOUGH_CANDIDATES
    if total > FIRST and enough and not refused and not settled:
        more, failed = await _wave(request, question, range(FIRST, total), context)
        replies, failures = [*replies, *more], [*failures, *failed]
        ran, choice = await _compared(replies, question, context)
    if not replies:
        raise failures[0] if failures else TimeoutError
    return _chosen_first(replies, ran, choice)


async def engine_reading(request: SqlRequest, context: RunContext, *, unsure: bool = False) -> SqlReply | None:
    """The built-in engine's query for the same request; None where it reads none. With `unsure`, also a query of which
    it is not sure, or what it says in place of one."""
    from agent.parser import OfflineModel

    try:
        reply = await OfflineModel(context.database, context.semantics).write_sql(request)
    except Exception:  # the reading is optional: its failure must not stop a question
        log.exception("The engine's reading failed inside")
        return None
    if unsure and reply.guess and not reply.sql and not reply.refused:
        reply = replace(reply, sql=reply.guess, guess="", abstained=False)
    if reply.abstained or not reply.sql:
        return reply if unsure else None
    return replace(reply, reasoning=f"Read without the model: {reply.reasoning}", by_engine=True)


async def _wave(
    request: SqlRequest, question: str, variants: range, context: RunContext
) -> tuple[list[SqlReply], list[ModelError]]:
    """The replies that came in time, in the order of their variants, and what the others failed with."""
    tasks = [asyncio.create_task(_one(varied(request, v, context), question, context)) for v in variants]
    try:
        await asyncio.wait(tasks, timeout=context.seconds_left)
    finally:
        for task in tasks:
            task.cancel()
        outcomes = await asyncio.gather(*tasks, return_exceptions=True)
    replies, failures = [], []
    for outcome in outcomes:
        if isinstance(outcome, SqlReply):
            replies.append(outcome)
        elif isinstance(outcome, ModelError):
            log.warning("A candidate was not written: %s", outcome)
            failures.append(outcome)
        elif not isinstance(outcome, asyncio.CancelledError):
            raise outcome
    return replies, failures


async def _one(request: SqlRequest, question: str, context: RunContext) -> SqlReply:
    reply = await context.model.write_sql(request)
    context.spend(reply.usage)
    after = await asyncio.to_thread(clamped, reply.sql, question, request.schema, context.strategy)
    return replace(reply, sql=after.sql, reasoning="\n".join([reply.reasoning, *after.changes]).strip())


def varied(request: SqlRequest, variant: int, context: RunContext) -> SqlRequest:
    """The request for one candidate; variant 0 is the request as it is."""
    if variant % BARE_EVERY == BARE_EVERY - 1:
        bare = schema_context(request.schema)
        if estimate_tokens(bare) <= context.limits.schema_tokens:
            return replace(request, variant=variant, schema_context=bare)
    return replace(request, variant=variant)


async def _examined(reply: SqlReply, question: str, context: RunContext) -> Ran | None:
    """The reply's query run and judged; None where it did not run."""
    try:
        query = Query(question, reply.sql, reasoning=reply.reasoning)
        case = await examined(query, context)
        outcome = await asyncio.to_thread(ran_or_problem, Candidate("", reply.sql), case)
    except DatabaseError:
        return None
    except Exception:  # it fails again, and is told so, where it is shown as an attempt
        log.exception("A candidate failed inside")
        return None
    return outcome if isinstance(outcome, Ran) else None


async def _compared(
    replies: Sequence[SqlReply], question: str, context: RunContext
) -> tuple[tuple[Examined, ...], Choice | None]:
    """Those that ran, in the order of the replies, and the choice."""
    distinct = {reply.sql: reply for reply in replies if reply.sql}
    outcomes = await asyncio.gather(*(_examined(reply, question, context) for reply in distinct.values()))
    known = dict(zip(distinct, outcomes, strict=True))
    ran = labelled([one for reply in replies if (one := known.get(reply.sql))])
    return ran, choose(ran, len(replies))


def _chosen_first(replies: Sequence[SqlReply], ran: Sequence[Examined], choice: Choice | None) -> tuple[Written, ...]:
    total = len(replies)
    several = ran if total > 1 else []
    agreeing = {one.candidate.sql: sum(o.result == one.result for o in ran) for one in several}
    sql = choice.candidate.sql if choice else next((reply.sql for reply in replies if reply.sql), "")
    first = next(reply for reply in replies if reply.sql == sql)
    distinct = {reply.sql: reply for reply in reversed(replies) if reply.sql and reply.sql != sql}
    return tuple(
        Written(reply, (agreeing[reply.sql], total) if reply.sql in agreeing else None)
        for reply in (first, *reversed(distinct.values()))
    )

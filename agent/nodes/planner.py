"""planner: question and schema → a validated QueryPlan. A failed or invalid plan becomes one task of confidence 0.0.

In a conversation the plan answers what the question means on its own (`read_as`), which all later nodes work on. A
question that is truly ambiguous becomes a `clarification` instead of a plan, once.
"""

from __future__ import annotations

import asyncio
import logging
from dataclasses import replace
from typing import Any

from agent.context import RunContext
from agent.events import PlanEvent
from agent.knowledge.privacy import privacy_of
from agent.models.protocol import ModelError, PlanReply, PlanRequest
from agent.plans import PlanInvalid, in_running_order, single_task_plan
from agent.state import AgentState, Turn
from eval.databases.base import DatabaseError

log = logging.getLogger(__name__)

LOW_CONFIDENCE = 0.5


async def planner(state: AgentState, context: RunContext) -> dict[str, Any]:
    question = state["question"]
    if state.get("failure"):
        reply = PlanReply(single_task_plan(question, 0.0))
    elif not (context.strategy.plan or _in_conversation(state, context)):
        reply = PlanReply(single_task_plan(question, 1.0))
    else:
        reply = await _reply(question, state, context)
        if reply.clarification:
            return {"clarification": reply.clarification}
        if reply.plan.confidence < LOW_CONFIDENCE:
            log.warning(
                "The plan of %d tasks has a confidence of only %.2f", len(reply.plan.tasks), reply.plan.confidence
            )
    context.emit(PlanEvent(data=reply.plan))
    read_as = reply.read_as.strip()
    return {"plan": reply.plan, "read_as": "" if read_as == question else read_as}


async def _reply(question: str, state: AgentState, context: RunContext) -> PlanReply:
    schema = await context.schema()
    clarified = state.get("clarified")
    request = PlanRequest(
        question,
        schema.dialect,
        state["schema_context"],
        schema,
        context.database,
        history=_earlier(state, context),
        may_ask=context.may_ask and clarified is None,
        clarified=clarified,
    )
    try:
        async with asyncio.timeout(context.seconds_left):
            reply = await context.model.plan(request)
        context.spend(reply.usage)
        if reply.clarification:
            return reply if request.may_ask else replace(reply, clarification=None)
        return replace(reply, plan=in_running_order(reply.plan))
    except (ModelError, PlanInvalid, TimeoutError) as error:
        log.warning("No usable plan, so one task: %s", str(error) or type(error).__name__)
        if privacy_of(context.model) != "full":  # the rules look stored values up, and the model reads what they write
            return PlanReply(single_task_plan(question, 0.0))
        return await asyncio.to_thread(_unplanned, request)


def _in_conversation(state: AgentState, context: RunContext) -> bool:
    return bool(context.may_ask or state.get("clarified") or _earlier(state, context))


def _earlier(state: AgentState, context: RunContext) -> tuple[Turn, ...]:
    """The turns that the question may lean on: all, or, for one that is asked again, those before it."""
    history = state.get("history", [])
    if context.history_before is None:
        return tuple(history)
    return tuple(turn for turn in history if turn.number < context.history_before)


def _unplanned(request: PlanRequest) -> PlanReply:
    """One task; in a conversation, the offline engine's rules make the question whole where the model did not."""
    read_as = ""
    if request.history or request.clarified:
        from agent.models.offline.dialogue import whole_question

        try:
            read_as = whole_question(request)
        except DatabaseError as error:
            log.warning("The follow-up stays as it is: %s", error)
    return PlanReply(single_task_plan(read_as or request.question, 0.0), read_as=read_as)

"""planner: question and schema → a validated QueryPlan. A failed or invalid plan becomes one task of confidence 0.0."""

from __future__ import annotations

import asyncio
import logging
from typing import Any

from agent.context import RunContext
from agent.events import PlanEvent
from agent.models.protocol import ModelError, PlanRequest
from agent.plans import PlanInvalid, in_running_order, single_task_plan
from agent.state import AgentState, QueryPlan

log = logging.getLogger(__name__)

LOW_CONFIDENCE = 0.5


async def planner(state: AgentState, context: RunContext) -> dict[str, Any]:
    question = state["question"]
    if state.get("failure"):
        plan = single_task_plan(question, 0.0)
    else:
        plan = await _plan(question, state, context)
        if plan.confidence < LOW_CONFIDENCE:
            log.warning("The plan of %d tasks has a confidence of only %.2f", len(plan.tasks), plan.confidence)
    context.emit(PlanEvent(data=plan))
    return {"plan": plan}


async def _plan(question: str, state: AgentState, context: RunContext) -> QueryPlan:
    schema = await context.schema()
    request = PlanRequest(question, schema.dialect, state["schema_context"], schema, context.database)
    try:
        async with asyncio.timeout(context.seconds_left):
            reply = await context.model.plan(request)
        context.spend(reply.usage)
        return in_running_order(reply.plan)
    except (ModelError, PlanInvalid, TimeoutError) as error:
        log.warning("No usable plan, so one task: %s", str(error) or type(error).__name__)
        return single_task_plan(question, 0.0)

"""set_first_task, set_next_task, check_remaining: they only update the state; no model, no database."""

from __future__ import annotations

from typing import Any

from agent.runtime.context import RunContext
from agent.state import AgentState, QueryTask


def remaining_task(state: AgentState) -> QueryTask | None:
    """The first task of the plan that has not been attempted; the plan is in running order."""
    attempted = {result.task_id for result in state.get("query_results", [])}
    return next((task for task in state["plan"].tasks if task.id not in attempted), None)


def _turn_to(task: QueryTask) -> dict[str, Any]:
    return {"current_task": task, "retry_count": 0, "retry_feedback": ""}


async def set_first_task(state: AgentState, _: RunContext) -> dict[str, Any]:
    return _turn_to(state["plan"].tasks[0])


async def set_next_task(state: AgentState, _: RunContext) -> dict[str, Any]:
    task = remaining_task(state)
    return _turn_to(task) if task else {}


async def check_remaining(_: AgentState, __: RunContext) -> dict[str, Any]:
    """An empty node for the conditional edge that checks whether tasks remain."""
    return {}

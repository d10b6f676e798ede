"""clarifier: asks the user what the planner wants to know, and waits, for days if need be, as a state on disk.

`interrupt` ends the run here; the next words on the thread resume it, in this process or another, with what was said.
"""

from __future__ import annotations

from typing import Any

from langgraph.types import interrupt

from agent.context import RunContext
from agent.state import AgentState, Clarified

MAX_REPLY = 2_000
"""Characters."""


async def clarifier(state: AgentState, _: RunContext) -> dict[str, Any]:
    asked = state.get("clarification")
    if asked is None:
        return {}
    reply = interrupt(asked.model_dump(mode="json"))
    return {"clarification": None, "clarified": Clarified(asked=asked, reply=str(reply)[:MAX_REPLY])}

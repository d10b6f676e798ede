"""clarifier: asks the user the planner's clarification and waits, for days if needed, as a state on disk.

`interrupt` ends the run here. The next text on the thread resumes it with the user's reply, in this process or another.
"""

from __future__ import annotations

from typing import Any

from agent.runtime.context import RunContext
from agent.state import AgentState, Clarified

MAX_REPLY = 2_000
"""Characters."""


async def clarifier(state: AgentState, _: RunContext) -> dict[str, Any]:
    asked = state.get("clarification")
    if asked is None:
        return {}
    from langgraph.types import interrupt

    reply = interrupt(asked.model_dump(mode="json"))
    return {"clarification": None, "clarified": Clarified(asked=asked, reply=str(reply)[:MAX_REPLY])}

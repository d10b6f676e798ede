"""A run without LangGraph: the nodes of `agent.nodes.flow`, one after the other, along its edges.

In: the state to begin with and the run's context. Out: the state at the end, as `graph.ainvoke` returns it. LangGraph
costs a run more than half a second of imports and a third of its processor time, and gives it nothing where no
checkpoint is written and nobody traces its steps. The channels' reducers are those of `AgentState`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, cast, get_args

from typing_extensions import get_type_hints

from agent.nodes.flow import EDGES, FIRST, LAST, MAX_STEPS, ROUTERS, stepped
from agent.runtime.context import RunContext
from agent.state import AgentState, Emptied

Reducer = Callable[[Any, Any], Any]


async def walk(given: Mapping[str, Any], context: RunContext) -> dict[str, Any]:
    """Raises what a node raises, and RuntimeError for a run that does not end."""
    state: dict[str, Any] = {channel: [] for channel in _reducers()}
    _apply(state, given)
    name = FIRST
    for _step in range(MAX_STEPS):
        _apply(state, await stepped(name, cast("AgentState", state), context))
        if name == LAST:
            return state
        if name in EDGES:
            name = EDGES[name]
        else:
            router, _ = ROUTERS[name]
            name = router(cast("AgentState", state), context)
    raise RuntimeError(f"the run did not end within {MAX_STEPS} steps")


def _apply(state: dict[str, Any], changes: Mapping[str, Any]) -> None:
    for channel, value in changes.items():
        reducer = _reducers().get(channel)
        if isinstance(value, Emptied):
            state[channel] = []
        else:
            state[channel] = value if reducer is None else reducer(state[channel], value)


@cache
def _reducers() -> dict[str, Reducer]:
    """The channels that accumulate, each with the function that joins a new value to the earlier ones."""
    hints = get_type_hints(AgentState, include_extras=True)
    return {name: get_args(hint)[1] for name, hint in hints.items() if hasattr(hint, "__metadata__")}

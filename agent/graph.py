"""The state machine of `agent.nodes.flow` as a LangGraph, for runs with checkpoints, traces or a studio.

In: nodes and routers, plain functions of state and `RunContext`. Out: the compiled graph; the wrappers here give them
LangGraph's signatures. Compiled once, on import, which takes more than half a second.
"""

from __future__ import annotations

from typing import Any

from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.runtime import Runtime
from langgraph.types import Overwrite

from agent.nodes.flow import EDGES, FIRST, LAST, MAX_STEPS, NODES, ROUTERS, Router, stepped
from agent.runtime.context import RunContext
from agent.state import AgentState, Emptied


def build_graph(checkpointer: BaseCheckpointSaver[Any] | None = None) -> CompiledStateGraph[Any, Any, Any, Any]:
    # No context_schema: a RunContext holds live objects, which have no JSON Schema to show in a studio.
    builder = StateGraph(AgentState)
    for name in NODES:
        builder.add_node(name, _step(name))
    builder.add_edge(START, FIRST)
    for name, following in EDGES.items():
        builder.add_edge(name, following)
    for name, (router, choices) in ROUTERS.items():
        builder.add_conditional_edges(name, _router(router), list(choices))
    builder.add_edge(LAST, END)
    return builder.compile(checkpointer=checkpointer, name="text2sql").with_config({"recursion_limit": MAX_STEPS})


async def context_of(state: AgentState, runtime: Runtime[RunContext]) -> RunContext:
    """The run's context; outside the runner (LangGraph's studio) one is made from the settings and the state."""
    if isinstance(runtime.context, RunContext):
        return runtime.context
    from agent.runtime.catalogue import default_context

    return await default_context(state.get("database"))


def _step(name: str) -> Any:
    async def step(state: AgentState, *, runtime: Runtime[RunContext]) -> dict[str, Any]:
        changes = await stepped(name, state, await context_of(state, runtime))
        return {channel: Overwrite([]) if isinstance(v, Emptied) else v for channel, v in changes.items()}

    step.__name__ = name
    return step


def _router(router: Router) -> Any:
    async def route(state: AgentState, *, runtime: Runtime[RunContext]) -> str:
        return router(state, await context_of(state, runtime))

    route.__name__ = router.__name__
    return route


graph = build_graph()

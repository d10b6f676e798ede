"""The state machine of `agent.nodes.flow` as a LangGraph: for threads, traces, a studio, or as a node of another graph.

In: a database and a model, or a `RunContext` with each run; and a checkpointer. Out: the compiled graph; the wrappers
here give nodes and routers, plain functions of state and `RunContext`, LangGraph's signatures. `graph`, from the
settings alone, is compiled on import, which takes more than half a second.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, cast

from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.runtime import Runtime
from langgraph.types import Overwrite
from pydantic import TypeAdapter

from agent.access.database import PersonalDatabase
from agent.config import settings
from agent.models.protocol import Model
from agent.nodes.flow import EDGES, FIRST, LAST, MAX_STEPS, NODES, ROUTERS, Router, stepped
from agent.runtime.context import RunContext
from agent.runtime.preparation import opened, run_context
from agent.runtime.run_state import RunState
from agent.state import AgentState, Emptied
from eval.databases.base import Database

_ADAPTER: TypeAdapter[AgentState] = TypeAdapter(AgentState)
ContextOf = Callable[[RunState, Runtime[RunContext]], Awaitable[RunContext]]


def build_graph(
    database: str | Database | None = None,
    model: str | Model | None = None,
    checkpointer: BaseCheckpointSaver[Any] | bool | None = None,
) -> CompiledStateGraph[Any, Any, Any, Any]:
    """The agent as a compiled LangGraph. Its input is `question` (and `evidence`, and `history` where the caller keeps
    the conversation), its output the whole `AgentState`: `final_answer`, `query_results`, `history`, ….

    `database`: a demo, a path, a URL or an open Database; `model`: a name, `offline`, or a Model; what is None comes
    from the settings. `checkpointer`: LangGraph's; with one, the questions of a thread are a conversation. As a node of
    another graph that has a checkpointer, `True` keeps the conversation inside the node.
    """

    async def context_of(state: RunState, runtime: Runtime[RunContext]) -> RunContext:
        if isinstance(runtime.context, RunContext):
            return runtime.context
        if held := state.get("context"):
            return cast("RunContext", held())
        config = settings()
        asked = await opened(database or state.get("database"), config.database)
        if isinstance(asked, PersonalDatabase):
            await asyncio.to_thread(asked.log_question, state["question"])
        return await run_context(asked, model, config)

    # No context_schema: a RunContext holds live objects, which have no JSON Schema to show in a studio.
    builder = StateGraph(RunState, input_schema=AgentState, output_schema=AgentState)
    for name in NODES:
        builder.add_node(name, _step(name, context_of))
    builder.add_edge(START, FIRST)
    for name, following in EDGES.items():
        builder.add_edge(name, following)
    for name, (router, choices) in ROUTERS.items():
        builder.add_conditional_edges(name, _router(router, context_of), list(choices))
    builder.add_edge(LAST, END)
    compiled = builder.compile(checkpointer=checkpointer, name="text2sql")
    compiled.stream_channels = [*AgentState.__annotations__]  # a stream shows no `context`
    return compiled.with_config({"recursion_limit": MAX_STEPS})


def _step(name: str, context_of: ContextOf) -> Any:
    async def step(state: RunState, *, runtime: Runtime[RunContext]) -> dict[str, Any]:
        context = await context_of(state, runtime)
        changes = await stepped(name, _typed(state), context)
        written = {channel: Overwrite([]) if isinstance(v, Emptied) else v for channel, v in changes.items()}
        if not isinstance(runtime.context, RunContext):
            written["context"] = lambda: context
            if name == LAST:
                await context.close()
        return written

    step.__name__ = name
    return step


def _router(router: Router, context_of: ContextOf) -> Any:
    async def route(state: RunState, *, runtime: Runtime[RunContext]) -> str:
        return router(_typed(state), await context_of(state, runtime))

    route.__name__ = router.__name__
    return route


def _typed(state: RunState) -> AgentState:
    """The state with its own types: dicts come from a strict checkpointer and from JSON."""
    typed: AgentState = _ADAPTER.validate_python({k: v for k, v in state.items() if v is not None})
    return typed


graph = build_graph()

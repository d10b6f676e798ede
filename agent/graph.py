"""The state machine: nodes, edges and routers, in the order of this diagram.

    START → schema_analyzer → planner → set_first_task → query_generator → executor_eval → gate
    gate  → check_remaining                      the attempt passes, or nothing is left to try
          → retry_handler → query_generator      otherwise
    check_remaining → set_next_task → query_generator   while tasks remain
                    → summarizer → END                  then

In a conversation that allows clarifications, `planner → clarifier → planner` may run before the first task, at most
once per question: the clarifier interrupts the graph, and the user's reply resumes it.

The nodes are plain async functions of state and `RunContext`; `_step` gives them LangGraph's signature and reports
their start and end to the listener. Compiled once, on import.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from typing import Any, Literal

from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.runtime import Runtime

from agent.nodes.clarifier import clarifier
from agent.nodes.executor_eval import executor_eval
from agent.nodes.planner import planner
from agent.nodes.query_generator import query_generator
from agent.nodes.retry_handler import diagnose, retry_handler
from agent.nodes.schema_analyzer import schema_analyzer
from agent.nodes.summarizer import summarizer
from agent.nodes.tasks import check_remaining, remaining_task, set_first_task, set_next_task
from agent.runtime.attempts import attempts_at, passes
from agent.runtime.context import RunContext
from agent.runtime.plans import MAX_TASKS
from agent.state import AgentState

Node = Callable[[AgentState, RunContext], Awaitable[dict[str, Any]]]

MAX_STEPS = 7 + MAX_TASKS * (3 + 3 * 11)
"""Steps of the longest possible run: every task retried ten times (the most that settings allow)."""


def build_graph(checkpointer: BaseCheckpointSaver[Any] | None = None) -> CompiledStateGraph[Any, Any, Any, Any]:
    # No context_schema: a RunContext holds live objects, which have no JSON Schema to show in a studio.
    builder = StateGraph(AgentState)

    for node in (
        schema_analyzer,
        planner,
        clarifier,
        set_first_task,
        query_generator,
        executor_eval,
        retry_handler,
        check_remaining,
        set_next_task,
        summarizer,
    ):
        builder.add_node(node.__name__, _step(node))

    builder.add_edge(START, "schema_analyzer")
    builder.add_edge("schema_analyzer", "planner")
    builder.add_conditional_edges("planner", after_planner, ["set_first_task", "clarifier"])
    builder.add_edge("clarifier", "planner")
    builder.add_edge("set_first_task", "query_generator")
    builder.add_edge("query_generator", "executor_eval")
    builder.add_conditional_edges("executor_eval", gate, ["check_remaining", "retry_handler"])
    builder.add_edge("retry_handler", "query_generator")
    builder.add_conditional_edges("check_remaining", route_after_remaining, ["set_next_task", "summarizer"])
    builder.add_edge("set_next_task", "query_generator")
    builder.add_edge("summarizer", END)

    return builder.compile(checkpointer=checkpointer, name="text2sql").with_config({"recursion_limit": MAX_STEPS})


async def after_planner(state: AgentState) -> Literal["set_first_task", "clarifier"]:
    return "clarifier" if state.get("clarification") else "set_first_task"


async def gate(state: AgentState, runtime: Runtime[RunContext]) -> Literal["check_remaining", "retry_handler"]:
    """Pass, retry or give up. Retries end when they are used up, when the writer repeats a query, when a retry cannot
    help, or when the run's time is over."""
    context = await context_of(state, runtime)
    attempts = attempts_at(state["current_task"].id, state["query_results"])
    last = attempts[-1]
    if passes(last, context.threshold):
        return "check_remaining"
    is_new = last.sql not in {earlier.sql for earlier in attempts[:-1]}
    if not (is_new and context.may_retry(state.get("retry_count", 0)) and not last.failure):
        return "check_remaining"
    wanted = diagnose(last, context.threshold)[0] in context.strategy.retry_on
    return "retry_handler" if wanted else "check_remaining"


async def route_after_remaining(state: AgentState) -> Literal["set_next_task", "summarizer"]:
    return "set_next_task" if remaining_task(state) else "summarizer"


async def context_of(state: AgentState, runtime: Runtime[RunContext]) -> RunContext:
    """The run's context; outside the runner (LangGraph's studio) one is made from the settings and the state."""
    if isinstance(runtime.context, RunContext):
        return runtime.context
    from agent.runtime.catalogue import default_context

    return await default_context(state.get("database"))


def _step(node: Node) -> Any:
    name = node.__name__

    async def step(state: AgentState, *, runtime: Runtime[RunContext]) -> dict[str, Any]:
        context = await context_of(state, runtime)
        task = state.get("current_task")
        task_id = task.id if task and name not in ("check_remaining", "set_next_task", "summarizer") else None
        attempt = state.get("retry_count", 0) + 1 if task_id else None
        context.announce(name, task_id, attempt)
        started = time.perf_counter()
        try:
            return await node(state, context)
        finally:
            context.finished(name, round((time.perf_counter() - started) * 1000, 3), task_id, attempt)

    step.__name__ = name
    return step


graph = build_graph()

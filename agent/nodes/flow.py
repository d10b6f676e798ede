"""The state machine as data: its nodes, edges and routers, in the order of this diagram.

    START → schema_analyzer → planner → set_first_task → query_generator → executor_eval → gate
    gate  → check_remaining                      the attempt passes, or nothing is left to try
          → retry_handler → query_generator      otherwise
    check_remaining → set_next_task → query_generator   while tasks remain
                    → summarizer → END                  then

In a conversation that allows clarifications, `planner → clarifier → planner` may run before the first task, at most
once per question: the clarifier interrupts the graph, and the user's reply resumes it.

In: nodes and routers, plain async functions of state and `RunContext`. Out: what `agent.graph` compiles with LangGraph,
for runs with a checkpoint or a trace, and what `agent.nodes.walk` walks for all others. Both have this one list.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Literal

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
Router = Callable[[AgentState, RunContext], str]

MAX_STEPS = 7 + MAX_TASKS * (3 + 3 * 11)
"""Steps of the longest possible run: every task retried ten times (the most that settings allow)."""


def after_planner(state: AgentState, _: RunContext) -> Literal["set_first_task", "clarifier"]:
    return "clarifier" if state.get("clarification") else "set_first_task"


def gate(state: AgentState, context: RunContext) -> Literal["check_remaining", "retry_handler"]:
    """Pass, retry or give up. Retries end when they are used up, when the writer repeats a query, when a retry cannot
    help, or when the run's time is over."""
    attempts = attempts_at(state["current_task"].id, state["query_results"])
    last = attempts[-1]
    if passes(last, context.threshold):
        return "check_remaining"
    is_new = last.sql not in {earlier.sql for earlier in attempts[:-1]}
    if not (is_new and context.may_retry(state.get("retry_count", 0)) and not last.failure):
        return "check_remaining"
    wanted = diagnose(last, context.threshold)[0] in context.strategy.retry_on
    return "retry_handler" if wanted else "check_remaining"


def route_after_remaining(state: AgentState, _: RunContext) -> Literal["set_next_task", "summarizer"]:
    return "set_next_task" if remaining_task(state) else "summarizer"


NODES: Mapping[str, Node] = {
    node.__name__: node
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
    )
}
FIRST, LAST = "schema_analyzer", "summarizer"
EDGES: Mapping[str, str] = {
    "schema_analyzer": "planner",
    "clarifier": "planner",
    "set_first_task": "query_generator",
    "query_generator": "executor_eval",
    "retry_handler": "query_generator",
    "set_next_task": "query_generator",
}
ROUTERS: Mapping[str, tuple[Router, tuple[str, ...]]] = {
    "planner": (after_planner, ("set_first_task", "clarifier")),
    "executor_eval": (gate, ("check_remaining", "retry_handler")),
    "check_remaining": (route_after_remaining, ("set_next_task", "summarizer")),
}
"""By node: the function that chooses what follows it, and all that may follow."""


async def stepped(name: str, state: AgentState, context: RunContext) -> dict[str, Any]:
    """One node's changes to the state; its start and end are reported to the listener."""
    task = state.get("current_task")
    task_id = task.id if task and name not in ("check_remaining", "set_next_task", "summarizer") else None
    attempt = state.get("retry_count", 0) + 1 if task_id else None
    context.announce(name, task_id, attempt)
    started = time.perf_counter()
    try:
        return await NODES[name](state, context)
    finally:
        context.finished(name, round((time.perf_counter() - started) * 1000, 3), task_id, attempt)

"""The state machine as data: its nodes, edges and routers, in the order of this diagram, and a run along them.

    START → schema_analyzer → planner → set_first_task → query_generator → executor_eval → gate
    gate  → check_remaining                      the attempt passes, or nothing is left to try
          → retry_handler → query_generator      otherwise
    check_remaining → set_next_task → query_generator   while tasks remain
                    → summarizer → END                  then

In a conversation that allows clarifications, `planner → clarifier → planner` may run before the first task, at most
once per question: the clarifier interrupts the graph, and the user's reply resumes it.

In: nodes and routers, plain async functions of state and `RunContext`. Out: what `agent.graph` compiles with LangGraph,
for runs with a checkpoint or a trace, and what `walk` walks for all others. LangGraph costs a run more than half a
second of imports and a third of its processor time, and gives it nothing where no checkpoint is written and nobody
traces its steps.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Mapping
from functools import cache
from typing import Any, Literal, cast, get_args

from typing_extensions import get_type_hints

from agent.nodes.executor_eval import executor_eval
from agent.nodes.planner import planner
from agent.nodes.query_generator import query_generator
from agent.nodes.retry_handler import diagnose, retry_handler
from agent.nodes.schema_analyzer import schema_analyzer
from agent.nodes.summarizer import summarizer
from agent.runtime.attempts import attempts_at, passes
from agent.runtime.context import RunContext
from agent.state import MAX_TASKS, AgentState, Clarified, Emptied, QueryTask

Node = Callable[[AgentState, RunContext], Awaitable[dict[str, Any]]]
Router = Callable[[AgentState, RunContext], str]
Reducer = Callable[[Any, Any], Any]

MAX_STEPS = 7 + MAX_TASKS * (3 + 3 * 11)
"""Steps of the longest possible run: every task retried ten times (the most that settings allow)."""
MAX_REPLY = 2_000
"""Characters of the reply to a clarification."""


async def clarifier(state: AgentState, _: RunContext) -> dict[str, Any]:
    """Ask the user the planner's clarification, and wait, for days if needed, as a state on disk. `interrupt` ends the
    run here; the next text on the thread resumes it with the reply, in this process or another."""
    asked = state.get("clarification")
    if asked is None:
        return {}
    from langgraph.types import interrupt

    reply = interrupt(asked.model_dump(mode="json"))
    return {"clarification": None, "clarified": Clarified(asked=asked, reply=str(reply)[:MAX_REPLY])}


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


async def walk(given: Mapping[str, Any], context: RunContext) -> dict[str, Any]:
    """Run the nodes without LangGraph: from the state to begin with to that at the end, as `graph.ainvoke` returns it.
    Raises what a node raises, and RuntimeError for a run that does not end."""
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

"""A run that walks the nodes ends as the same run in LangGraph does, along the same edges."""

from __future__ import annotations

from typing import Any

import pytest

from agent.config import Settings
from agent.conversations.conversation import fresh_turn
from agent.events import Event, NodeEvent
from agent.graph import graph
from agent.nodes.flow import EDGES, FIRST, LAST, NODES, ROUTERS
from agent.nodes.walk import walk
from agent.runtime.context import RunContext
from eval.databases.base import Database
from text2sql.testing import ScriptedModel

COUNT = "SELECT COUNT(*) FROM customers"
WRONG = "SELECT nmae FROM customers"


def context_for(database: Database, model: ScriptedModel, config: Settings, seen: list[str]) -> RunContext:
    def emit(event: Event) -> None:
        if isinstance(event, NodeEvent) and event.status == "done":
            seen.append(event.node)

    return RunContext(database, model, config.judging, config.limits, config.privacy, emit=emit)


def comparable(state: dict[str, Any]) -> dict[str, Any]:
    """The state without what depends on how long a statement took: its time, and the score that efficiency enters."""
    timed = {"execution_time_ms", "score", "eval_report", "verdict"}
    attempts = [
        (r.model_dump(exclude=timed), r.eval_report and (r.eval_report.vetoes, r.eval_report.analysis.evidence))
        for r in state["query_results"]
    ]
    return state | {"query_results": attempts}


@pytest.mark.parametrize("replies", [(COUNT,), (WRONG, COUNT), (WRONG, WRONG), ("DROP TABLE customers", COUNT)])
async def test_both_end_in_the_same_state(replies: tuple[str, ...], shop: Database, config: Settings) -> None:
    question = "How many customers are there?"
    given = fresh_turn(question, "", shop, 0)
    ends, ways = [], []
    for through in (walk, lambda given, context: graph.ainvoke(given, context=context)):
        seen: list[str] = []
        ends.append(comparable(await through(given, context_for(shop, ScriptedModel(*replies), config, seen))))
        ways.append(seen)
    assert ends[0] == ends[1]
    assert ways[0] == ways[1]
    assert ends[0]["final_answer"]


def test_langgraph_has_the_nodes_and_edges_that_are_walked() -> None:
    builder = graph.builder
    assert list(builder.nodes) == list(NODES)
    assert builder.edges == {*EDGES.items(), ("__start__", FIRST), (LAST, "__end__")}
    branches = {name: set(next(iter(b.values())).ends or ()) for name, b in builder.branches.items() if b}
    assert branches == {name: set(choices) for name, (_, choices) in ROUTERS.items()}

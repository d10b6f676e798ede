"""A run that walks the nodes ends as the same run in LangGraph does; an opinion that was copied counts nowhere."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from agent.config import Settings
from agent.conversations import fresh_turn
from agent.events import Event, NodeEvent
from agent.graph import graph
from agent.models.protocol import Judgement, JudgeRequest
from agent.nodes.flow import EDGES, FIRST, LAST, NODES, ROUTERS, walk
from agent.nodes.opinions import SAME, why_it_does_not_count
from agent.runtime.context import RunContext
from agent.state import QueryTask
from eval.databases.base import Database
from tests.pairs import rows
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


TASK = QueryTask(id="t1", description="count", sql="", depends_on=[])
REQUEST = JudgeRequest("How many customers are there?", TASK, "SELECT COUNT(*) FROM customers", ("n",), ((4,),), 1)


@pytest.mark.parametrize(("reasoning", "why"), rows("replies/opinions.jsonl"))
def test_an_opinion_counts_only_with_a_reason_of_its_own(reasoning: str, why: str) -> None:
    assert why_it_does_not_count(Judgement(0.9, reasoning), REQUEST, ScriptedModel("SELECT 1")) == why


def test_the_same_opinion_of_every_query_is_none() -> None:
    model, opinion = ScriptedModel("SELECT 1"), Judgement(0.9, "It answers the question.")
    asked = [replace(REQUEST, question=f"Question {n}?", sql=f"SELECT {n}") for n in range(SAME)]
    told = [why_it_does_not_count(opinion, one, model) for one in asked]
    assert told == [*[""] * (SAME - 1), "it is the same for every query"]
    assert why_it_does_not_count(Judgement(0.4, "The year is another one."), asked[0], model) == ""

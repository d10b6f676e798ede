"""Threads as LangGraph's own server and SDK use them: the input is a question and nothing else."""

from __future__ import annotations

import json
import logging
from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.serde._msgpack import STRICT_MSGPACK_ENABLED
from langgraph.graph import END, START, StateGraph
from typing_extensions import TypedDict

from agent.conversations.checkpointer import memory_checkpointer
from agent.graph import build_graph
from agent.runtime.preparation import run_context
from agent.state import AgentState


@pytest.fixture(autouse=True)
def _configured(alone: None, shop_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEXT2SQL_DB_PATH", str(shop_file))
    monkeypatch.setenv("TEXT2SQL_CACHE_DIR", str(tmp_path / "cache"))


async def test_each_turn_of_a_thread_answers_its_own_question() -> None:
    graph = build_graph(checkpointer=memory_checkpointer())
    for schema in (graph.get_input_jsonschema(), graph.get_output_jsonschema()):
        assert {"question", "final_answer", "query_results"} <= schema["properties"].keys()
    thread: Any = {"configurable": {"thread_id": "t"}}
    rows = []
    for question in ("How many customers are there?", "How many cities are there?", "How many orders are there?"):
        state = await graph.ainvoke(AgentState(question=question), thread)
        assert len(state["query_results"]) == 1
        rows.append(state["query_results"][0].data)
    assert rows == [[[4]], [[3]], [[4]]]
    assert [turn.number for turn in state["history"]] == [1, 2, 3]


class Plain(TypedDict, total=False):
    question: str
    final_answer: str


class Mail(TypedDict, total=False):
    question: str
    history: list[Any]
    """Without the type of its turns, LangGraph's strict serialization gives dicts back."""
    final_answer: str


QUESTIONS = ("How many customers are there?", "and per city?", "only the top 2")


@pytest.mark.parametrize("keeper", ["state", "node"])
async def test_a_node_of_another_graph_remembers(keeper: str, caplog: pytest.LogCaptureFixture) -> None:
    assert STRICT_MSGPACK_ENABLED
    caplog.set_level(logging.ERROR, "langgraph")
    builder: Any = StateGraph(Mail if keeper == "state" else Plain)
    builder.add_node("ask", build_graph(model="offline", checkpointer=keeper == "node" or None))
    builder.add_edge(START, "ask")
    builder.add_edge("ask", END)
    graph = builder.compile(checkpointer=InMemorySaver())

    thread = {"configurable": {"thread_id": "t"}}
    answers = [(await graph.ainvoke({"question": q}, thread))["final_answer"] for q in QUESTIONS]

    assert "4" in answers[0]
    assert ["Lyon" in answer for answer in answers] == [False, True, True]
    assert "Turku" not in answers[2]


async def test_a_history_that_came_as_json_is_read() -> None:
    graph = build_graph(model="offline")
    first: Any = await graph.ainvoke({"question": QUESTIONS[0]})
    kept = json.loads(json.dumps([turn.model_dump() for turn in first["history"]]))
    second: Any = await graph.ainvoke({"question": QUESTIONS[1], "history": kept})
    assert second["read_as"]
    assert [turn.number for turn in second["history"]] == [1, 2]


async def test_one_context_serves_a_run_and_is_not_in_its_streams(monkeypatch: pytest.MonkeyPatch) -> None:
    made = []

    async def counted(*given: Any, **more: Any) -> Any:
        made.append(await run_context(*given, **more))
        return made[-1]

    monkeypatch.setattr("agent.graph.run_context", counted)
    graph: Any = build_graph(model="offline", checkpointer=InMemorySaver())
    thread = {"configurable": {"thread_id": "t"}}
    parts = [
        part async for part in graph.astream({"question": QUESTIONS[0]}, thread, stream_mode=["updates", "values"])
    ]
    steps = [state for mode, part in parts for state in (part.values() if mode == "updates" else [part])]

    assert len(made) == 1
    assert len(steps) > 10
    assert not any("context" in (state or {}) for state in steps)
    assert "context" not in (await graph.aget_state(thread)).values

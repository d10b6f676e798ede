"""Threads as LangGraph's own server and SDK use them: the input is a question and nothing else."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from agent.conversations.checkpointer import memory_checkpointer
from agent.graph import build_graph
from agent.state import AgentState


@pytest.fixture(autouse=True)
def _configured(shop_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from agent.config import settings

    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TEXT2SQL_DB_PATH", str(shop_file))
    monkeypatch.setenv("TEXT2SQL_CACHE_DIR", str(tmp_path / "cache"))
    settings.cache_clear()
    yield
    settings.cache_clear()


async def test_each_turn_of_a_thread_answers_its_own_question() -> None:
    graph = build_graph(memory_checkpointer())
    thread: Any = {"configurable": {"thread_id": "t"}}
    rows = []
    for question in ("How many customers are there?", "How many cities are there?", "How many orders are there?"):
        state = await graph.ainvoke(AgentState(question=question), thread)
        assert len(state["query_results"]) == 1
        rows.append(state["query_results"][0].data)
    assert rows == [[[4]], [[3]], [[4]]]
    assert [turn.number for turn in state["history"]] == [1, 2, 3]


def test_the_graph_shows_the_schemas_of_its_input_and_output() -> None:
    graph = build_graph()
    for schema in (graph.get_input_jsonschema(), graph.get_output_jsonschema()):
        assert {"question", "final_answer", "query_results"} <= schema["properties"].keys()

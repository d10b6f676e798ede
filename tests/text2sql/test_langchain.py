"""The tool for LangChain agents, offline on the shop demo."""

from __future__ import annotations

import json

import pytest

from text2sql import Answer
from text2sql.errors import QuestionFailed
from text2sql.langchain import ROWS, database_tool

CALL = {"type": "tool_call", "id": "1", "name": "ask_database", "args": {"question": "list all customers"}}


def test_the_model_reads_the_first_rows_and_the_artifact_has_all() -> None:
    message = database_tool("shop", model="offline").invoke(CALL)
    shown = json.loads(message.content)
    assert (shown["status"], len(shown["rows"])) == ("success", ROWS)
    assert isinstance(message.artifact, Answer)
    assert len(message.artifact.rows) == shown["rows_in_all"] > ROWS
    assert shown["sql"].startswith("SELECT")


async def test_the_tool_awaits_and_a_failure_is_raised() -> None:
    tool = database_tool("shop", model="offline")
    assert json.loads(await tool.ainvoke({"question": "How many customers are there?"}))["rows"]
    with pytest.raises(QuestionFailed):
        await database_tool("missing.sqlite", model="offline").ainvoke({"question": "How many?"})

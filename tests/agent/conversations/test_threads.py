"""What a thread keeps: the latest state and nothing older, bounded, of known types, and safe from a bad disk."""

from __future__ import annotations

import asyncio
import pickle
import sqlite3
import stat
from pathlib import Path
from typing import Any

import psycopg
import pytest
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import BaseCheckpointSaver

from agent.config import Settings
from agent.conversations import Conversation
from agent.conversations.checkpointer import open_checkpointer
from agent.conversations.serialization import PREVIEW_CELL, PREVIEW_ROWS, StateSerializer
from agent.runner import run
from agent.state import QueryResult, Turn
from agent.store import StateUnavailable, StateUnusable, open_store
from eval.databases.base import Database
from tests.agent.conversations.conftest import Talk
from tests.agent.store.conftest import a_run, first_turn
from tests.settings import overridden
from tests.waiting import becomes
from text2sql.testing import ScriptedModel

COUNT = "SELECT COUNT(*) FROM customers"
MANY = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000) SELECT i, '{}' FROM n".format(
    "x" * 2000
)


async def test_the_answer_is_whole_and_what_is_kept_is_small(
    talk: Talk, checkpointer: BaseCheckpointSaver[Any], request: pytest.FixtureRequest
) -> None:
    answer = await talk("How many?", ScriptedModel(MANY, relevance=0.9))
    checkpoint = await checkpointer.aget_tuple({"configurable": {"thread_id": request.node.name}})
    state = checkpoint.checkpoint["channel_values"]

    assert len(answer.rows) == 5000
    assert len(answer.rows[0][1]) == 2000
    result = state["query_results"][0]
    assert isinstance(result, QueryResult)
    assert (len(result.data), result.rows_returned) == (PREVIEW_ROWS, 5000)
    assert len(result.data[0][1]) == PREVIEW_CELL
    (turn,) = state["history"]
    assert isinstance(turn, Turn)
    assert (len(turn.rows), len(turn.rows[0][1])) == (5, 100)
    assert len(StateSerializer().dumps_typed(state)[1]) < 60_000


async def test_a_thread_keeps_its_latest_state_alone(
    talk: Talk, checkpointer: BaseCheckpointSaver[Any], request: pytest.FixtureRequest
) -> None:
    for _ in range(4):
        await talk("How many customers are there?", ScriptedModel(COUNT, relevance=0.9))
    config: Any = {"configurable": {"thread_id": request.node.name}}

    kept = [checkpoint async for checkpoint in checkpointer.alist(config)]
    if "memory" not in request.node.name:
        assert len(kept) == 1
    assert len(kept[0].checkpoint["channel_values"]["history"]) == 4
    if "postgres" in request.node.name:
        several = "SELECT channel FROM checkpoint_blobs WHERE thread_id = %s GROUP BY channel HAVING COUNT(*) > 1"
        with psycopg.connect(request.getfixturevalue("postgres_url")) as direct:
            assert direct.execute(several, (request.node.name,)).fetchall() == []


def test_a_type_from_elsewhere_is_not_made_and_no_pickle_read(caplog: pytest.LogCaptureFixture) -> None:
    from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer

    from agent.config import Settings as Foreign

    with pytest.raises(NotImplementedError):
        StateSerializer().loads_typed(("pickle", pickle.dumps(1)))
    written = JsonPlusSerializer().dumps_typed({"x": Foreign.model_validate({})})
    read = StateSerializer().loads_typed(written)

    assert not isinstance(read["x"], Foreign)
    assert "Blocked" in caplog.text


def test_anything_that_a_result_may_hold_can_be_written() -> None:
    serializer = StateSerializer()
    for value in (2**70, -(2**70), float("nan"), "\ud800", ["\x00"], {"k": (1, 2)}, True, None, b"bytes"):
        result = QueryResult(task_id="t", attempt=1, sql="SELECT 1", status="success", data=[[value]])
        read = serializer.loads_typed(serializer.dumps_typed({"query_results": [result]}))
        assert read["query_results"][0].task_id == "t"


async def test_a_deleted_thread_leaves_no_state(kept: Settings, shop: Database) -> None:
    async with open_checkpointer(kept.state) as checkpointer:
        store = await open_store(kept.state, checkpointer=checkpointer)
        thread = await first_turn(store, a_run())
        await store.finish_run("r1", status="success")
        conversation = Conversation(thread.thread_id, checkpointer)
        await run("How many customers are there?", database=shop, model="offline", conversation=conversation)
        before = await checkpointer.aget_tuple({"configurable": {"thread_id": thread.thread_id}})
        await store.delete_thread("ann", thread.thread_id)
        after = await checkpointer.aget_tuple({"configurable": {"thread_id": thread.thread_id}})
        await store.close()

    assert before is not None
    assert after is None


async def test_two_questions_at_once_on_a_thread_are_one_too_many(talk: Talk) -> None:
    slow = ScriptedModel(COUNT, relevance=0.9, seconds=0.3)
    first = asyncio.create_task(talk("How many customers are there?", slow))
    assert await asyncio.to_thread(becomes, lambda: bool(slow.plan_requests))
    second = await talk("How many customers are there?", slow)
    elsewhere = await talk("How many customers are there?", slow, thread="other")

    assert (second.status, second.error_kind) == ("error", "busy")
    assert "still running" in second.answer
    assert (await first).rows == elsewhere.rows == [[4]]
    assert (await talk("How many customers are there?", slow)).rows == [[4]]


async def test_a_cancelled_turn_leaves_the_earlier_ones_and_the_next_begins_afresh(talk: Talk) -> None:
    model = ScriptedModel(COUNT, relevance=0.9)
    await talk("How many customers are there?", model)
    cancelled = asyncio.create_task(talk("How many now?", ScriptedModel(COUNT, seconds=30)))
    await asyncio.sleep(0.3)
    cancelled.cancel()
    with pytest.raises(asyncio.CancelledError):
        await cancelled
    answer = await talk("How many customers are there?", model)

    assert answer.rows == [[4]]
    assert [r.attempt for r in answer.attempts] == [1]
    assert [turn.asked for turn in model.plan_requests[-1].history] == ["How many customers are there?"]


# --- a bad state ---


async def test_threads_in_a_damaged_file_are_refused_and_left_as_they_are(kept: Settings) -> None:
    file = Path(kept.state.folder or "") / "threads.sqlite"
    await asyncio.to_thread(file.parent.mkdir)
    content = b"not a database " * 400
    await asyncio.to_thread(file.write_bytes, content)

    with pytest.raises(StateUnusable, match="Nothing was changed"):
        async with open_checkpointer(kept.state):
            pass
    assert await asyncio.to_thread(file.read_bytes) == content


async def test_threads_on_a_server_away_are_unavailable(kept: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("agent.conversations.shared.CONNECT_SECONDS", 1.0)
    away = overridden(kept, state_url="postgresql://me:hunter2@127.0.0.1:9/state")
    with pytest.raises(StateUnavailable, match="does not answer") as refused:
        async with open_checkpointer(away.state):
            pass
    assert "hunter2" not in str(refused.value)


async def test_a_turn_that_cannot_be_kept_says_so(kept: Settings, shop: Database) -> None:
    async with open_checkpointer(kept.state) as checkpointer:
        thread = Conversation("t", checkpointer)
        await run("How many customers are there?", database=shop, model="offline", conversation=thread)
        checkpointer.conn.execute("PRAGMA query_only=ON")
        failed = await run("How many orders are there?", database=shop, model="offline", conversation=thread)
        checkpointer.conn.execute("PRAGMA query_only=OFF")
        after = await run("only paid ones", database=shop, model="offline", conversation=thread)

    assert (failed.status, failed.error_kind) == ("error", "state")
    assert "earlier turns are as they were" in failed.answer
    assert after.status != "error"


async def test_nobody_else_may_read_the_threads(kept: Settings) -> None:
    async with open_checkpointer(kept.state):
        file = Path(kept.state.folder or "") / "threads.sqlite"
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        with sqlite3.connect(file) as connection:
            assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
        connection.close()


# --- threads in PostgreSQL ---


async def test_a_connection_that_the_server_closed_is_not_handed_out(kept: Settings, postgres_url: str) -> None:
    config: RunnableConfig = {"configurable": {"thread_id": "t", "checkpoint_ns": ""}}
    async with open_checkpointer(overridden(kept, state_url=postgres_url).state) as threads:
        with psycopg.connect(postgres_url, autocommit=True) as admin:
            admin.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                "WHERE datname = current_database() AND pid <> pg_backend_pid()"
            )

        assert await threads.aget_tuple(config) is None

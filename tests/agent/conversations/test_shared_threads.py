"""Threads in PostgreSQL survive a server that closes its connections, and are read once a turn."""

from __future__ import annotations

import asyncio
import select
from pathlib import Path
from typing import Any

import psycopg
import pytest
from langgraph.checkpoint.base import CheckpointTuple, empty_checkpoint
from psycopg.rows import dict_row

from agent.config import Settings
from agent.conversations.checkpointer import open_checkpointer
from agent.conversations.read_once import forget_read, one_turn, read_once
from agent.conversations.shared import _alive
from tests.settings import overridden

CONFIG: Any = {"configurable": {"thread_id": "t", "checkpoint_ns": ""}}


async def test_a_connection_that_the_server_has_closed_is_not_handed_out_again(
    kept: Settings, postgres_url: str
) -> None:
    async with await psycopg.AsyncConnection.connect(postgres_url, row_factory=dict_row) as connection:
        await connection.execute("SELECT 1")
        await connection.rollback()
        await _alive(connection)
        with psycopg.connect(postgres_url, autocommit=True) as admin:
            admin.execute("SELECT pg_terminate_backend(%s)", (connection.info.backend_pid,))
        await asyncio.to_thread(select.select, [connection], [], [], 30)
        with pytest.raises(psycopg.OperationalError):
            await _alive(connection)
        assert connection.closed


async def test_a_thread_keeps_its_latest_checkpoint_alone(kept: Settings, postgres_url: str) -> None:
    async with open_checkpointer(overridden(kept, state_url=postgres_url).state) as threads:
        config: Any = {"configurable": {"thread_id": f"latest {Path(__file__).name}", "checkpoint_ns": ""}}
        for turn in (1, 2, 3):
            checkpoint = empty_checkpoint()
            checkpoint["channel_values"] = {"history": [f"turn {turn}"]}
            checkpoint["channel_versions"] = {"history": f"{turn:032}.0"}
            versions = dict(checkpoint["channel_versions"])
            config = await threads.aput(config, checkpoint, {"source": "loop", "step": turn, "parents": {}}, versions)
        found = await threads.aget_tuple(
            {"configurable": {**config["configurable"], "checkpoint_id": checkpoint["id"]}}
        )
        with psycopg.connect(postgres_url) as direct:
            name = (config["configurable"]["thread_id"],)
            counts = [
                direct.execute(f"SELECT COUNT(*) FROM {table} WHERE thread_id = %s", name).fetchone()
                for table in ("checkpoints", "checkpoint_blobs")
            ]
        await threads.adelete_thread(name[0])

    assert found is not None
    assert found.checkpoint["channel_values"] == {"history": ["turn 3"]}
    assert counts == [(1,), (1,)]


async def test_a_turn_reads_its_thread_once_until_it_writes() -> None:
    reads = 0

    async def read() -> CheckpointTuple | None:
        nonlocal reads
        reads += 1
        return CheckpointTuple(CONFIG, empty_checkpoint(), {})

    await read_once(CONFIG, read)
    await read_once(CONFIG, read)
    assert reads == 2
    with one_turn():
        first, second = await read_once(CONFIG, read), await read_once(CONFIG, read)
        assert (reads, first == second) == (3, True)
        forget_read(CONFIG)
        await read_once(CONFIG, read)
        assert reads == 4
    with one_turn("t"):
        assert await read_once(CONFIG, read) is None
    assert reads == 4

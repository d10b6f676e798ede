"""Where threads live: LangGraph's checkpointer on SQLite, or on the PostgreSQL that servers share.

In: settings. Out: an open checkpointer that keeps the latest state of each thread and nothing older: a turn's state
holds the history, so older checkpoints would only repeat it.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from typing import Any

from langgraph.checkpoint.base import BaseCheckpointSaver, ChannelVersions, Checkpoint, CheckpointMetadata
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

from agent.config import Settings
from agent.conversations.serialising import StateSerializer
from agent.store.base import BUSY_SECONDS
from agent.store.errors import StateUnusable
from agent.store.location import Location, private_file, state_location

THREADS_FILE = "threads.sqlite"

Config = Any
"""LangChain's RunnableConfig; that library is imported by `agent.models` alone."""


@contextlib.asynccontextmanager
async def open_checkpointer(settings: Settings) -> AsyncIterator[BaseCheckpointSaver[Any]]:
    """The checkpointer for threads, ready for use: `threads.sqlite` beside a SQLite state, else tables in the
    PostgreSQL of TEXT2SQL_STATE_URL. Raises StoreError when it cannot be opened."""
    location = state_location(settings)
    opened = _in_file(location) if location.sqlite else _in_postgres(location)
    async with opened as checkpointer:
        yield checkpointer


def memory_checkpointer() -> BaseCheckpointSaver[Any]:
    """Threads that end with the process (a session at a prompt)."""
    from langgraph.checkpoint.memory import InMemorySaver

    return InMemorySaver(serde=StateSerializer())


class _ThreadFile(AsyncSqliteSaver):
    """Threads in a SQLite file; several processes may share it."""

    async def aput(
        self,
        config: Config,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> Config:
        put = await super().aput(config, checkpoint, metadata, new_versions)
        its = (*_thread(put), checkpoint["id"])
        async with self.lock:
            for table in ("checkpoints", "writes"):
                await self.conn.execute(
                    f"DELETE FROM {table} WHERE thread_id = ? AND checkpoint_ns = ? AND checkpoint_id < ?", its
                )
            await self.conn.commit()
        return put


@contextlib.asynccontextmanager
async def _in_file(location: Location) -> AsyncIterator[BaseCheckpointSaver[Any]]:
    import aiosqlite

    path = location.folder / THREADS_FILE
    await asyncio.to_thread(private_file, path)
    async with aiosqlite.connect(path, timeout=BUSY_SECONDS) as connection:
        saver = _ThreadFile(connection, serde=StateSerializer())
        try:
            await connection.execute("PRAGMA synchronous=NORMAL")
            await connection.execute("PRAGMA trusted_schema=OFF")
            await saver.setup()
        except aiosqlite.Error as error:
            raise StateUnusable(
                f"The threads in {path} cannot be used ({error}). Nothing was changed; set the file right, move it "
                "away, or name another place by TEXT2SQL_STATE_DIR."
            ) from error
        yield saver


@contextlib.asynccontextmanager
async def _in_postgres(location: Location) -> AsyncIterator[BaseCheckpointSaver[Any]]:
    try:
        from agent.conversations.shared import shared_threads
    except ImportError as error:
        raise StateUnusable(f"For PostgreSQL, install the extra `postgres` ({error.name} is missing).") from error
    async with shared_threads(location) as saver:
        yield saver


def _thread(config: Config) -> tuple[str, str]:
    return str(config["configurable"]["thread_id"]), str(config["configurable"]["checkpoint_ns"])

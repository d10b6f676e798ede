"""Storage of threads: LangGraph's checkpointer on SQLite, or on a PostgreSQL that several servers share.

In: settings. Out: an open checkpointer that keeps the latest state of each thread and nothing older: a turn's state
holds the history, so older checkpoints would only repeat it.
"""

from __future__ import annotations

import asyncio
import contextlib
import sqlite3
from collections.abc import AsyncIterator, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeVar

from langgraph.checkpoint.base import (
    BaseCheckpointSaver,
    ChannelVersions,
    Checkpoint,
    CheckpointMetadata,
    CheckpointTuple,
)
from langgraph.checkpoint.sqlite import SqliteSaver

from agent.config import StateSettings
from agent.conversations.serialization import StateSerializer
from agent.store.base import BUSY_SECONDS
from agent.store.location import private_file, state_location
from agent.store.store_errors import StateUnusable

THREADS_FILE = "threads.sqlite"

T = TypeVar("T")
Config = Any
"""LangChain's RunnableConfig; only `agent.models` imports that library."""


@contextlib.asynccontextmanager
async def open_checkpointer(settings: StateSettings) -> AsyncIterator[BaseCheckpointSaver[Any]]:
    """The checkpointer for threads, ready for use: `threads.sqlite` beside a SQLite state, else tables in the
    PostgreSQL of TEXT2SQL_STATE_URL. Raises StoreError when it cannot be opened."""
    location = state_location(settings)
    if location.sqlite:
        saver = await asyncio.to_thread(_opened, location.folder / THREADS_FILE)
        try:
            yield saver
        finally:
            await saver.close()
        return
    try:
        from agent.conversations.shared import shared_threads
    except ImportError as error:
        raise StateUnusable(f"For PostgreSQL, install the extra `postgres` ({error.name} is missing).") from error
    async with shared_threads(location) as shared:
        yield shared


def memory_checkpointer() -> BaseCheckpointSaver[Any]:
    """A checkpointer in memory, for threads that end with the process (a session at a prompt)."""
    from langgraph.checkpoint.memory import InMemorySaver

    return InMemorySaver(serde=StateSerializer())


class _ThreadFile(SqliteSaver):
    """Threads in a SQLite file, which several processes can share. Each call runs on one worker thread from start to
    end; the library's own asynchronous saver returns to the event loop for every statement."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        super().__init__(connection, serde=StateSerializer())
        self._thread = ThreadPoolExecutor(1, "threads")

    def put(
        self, config: Config, checkpoint: Checkpoint, metadata: CheckpointMetadata, new_versions: ChannelVersions
    ) -> Config:
        put = super().put(config, checkpoint, metadata, new_versions)
        its = (str(put["configurable"]["thread_id"]), str(put["configurable"]["checkpoint_ns"]), checkpoint["id"])
        with self.cursor() as cursor:
            for table in ("checkpoints", "writes"):
                cursor.execute(
                    f"DELETE FROM {table} WHERE thread_id = ? AND checkpoint_ns = ? AND checkpoint_id < ?", its
                )
        return put

    async def aget_tuple(self, config: Config) -> CheckpointTuple | None:
        return await self._done(self.get_tuple, config)

    async def aput(
        self, config: Config, checkpoint: Checkpoint, metadata: CheckpointMetadata, new_versions: ChannelVersions
    ) -> Config:
        return await self._done(self.put, config, checkpoint, metadata, new_versions)

    async def aput_writes(
        self, config: Config, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str = ""
    ) -> None:
        await self._done(self.put_writes, config, writes, task_id, task_path)

    async def alist(
        self,
        config: Config | None,
        *,
        filter: dict[str, Any] | None = None,  # noqa: A002 - the library's name
        before: Config | None = None,
        limit: int | None = None,
    ) -> AsyncIterator[CheckpointTuple]:
        for checkpoint in await self._done(lambda: [*self.list(config, filter=filter, before=before, limit=limit)]):
            yield checkpoint

    async def adelete_thread(self, thread_id: str) -> None:
        await self._done(self.delete_thread, thread_id)

    async def close(self) -> None:
        """Work that has started is finished first."""
        await self._done(self.conn.close)
        self._thread.shutdown()

    async def _done(self, work: Callable[..., T], *given: Any) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._thread, work, *given)


def _opened(path: Path) -> _ThreadFile:
    private_file(path)
    connection = sqlite3.connect(path, timeout=BUSY_SECONDS, check_same_thread=False)
    try:
        connection.execute("PRAGMA synchronous=NORMAL")
        connection.execute("PRAGMA trusted_schema=OFF")
        saver = _ThreadFile(connection)
        saver.setup()
    except sqlite3.Error as error:
        connection.close()
        raise StateUnusable(
            f"The threads in {path} cannot be used ({error}). Nothing was changed; set the file right, move it "
            "away, or name another place by TEXT2SQL_STATE_DIR."
        ) from error
    return saver

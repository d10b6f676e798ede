"""Storage of threads in PostgreSQL, shared by any number of servers.

In: the location of the state. Out: LangGraph's checkpointer on a small pool of connections, with its tables created. A
thread that waits for an answer can be resumed by another server.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from typing import Any, TypeVar

from langgraph.checkpoint.base import ChannelVersions, Checkpoint, CheckpointMetadata, CheckpointTuple
from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver
from psycopg import AsyncConnection, Error, OperationalError
from psycopg.rows import DictRow, dict_row
from psycopg_pool import AsyncConnectionPool, PoolTimeout

from agent.conversations.serialization import StateSerializer
from agent.store.base import CONNECT_SECONDS
from agent.store.location import Location
from agent.store.store_errors import StateUnavailable
from agent.store.tables import storable

_MIGRATING = 0x7E4726
AWAY_SECONDS = 20.0
"""A turn waits this long for a server that is being restarted."""
_AGAIN_SECONDS = 0.5

T = TypeVar("T")

Config = Any
"""LangChain's RunnableConfig; only `agent.models` imports that library."""

_PRUNE = (
    "DELETE FROM checkpoints WHERE thread_id = %(thread)s AND checkpoint_ns = %(ns)s AND checkpoint_id < %(id)s",
    "DELETE FROM checkpoint_writes WHERE thread_id = %(thread)s AND checkpoint_ns = %(ns)s AND checkpoint_id < %(id)s",
    """DELETE FROM checkpoint_blobs WHERE thread_id = %(thread)s AND checkpoint_ns = %(ns)s
       AND (channel, version) NOT IN (SELECT * FROM unnest(%(channels)s::text[], %(versions)s::text[]))""",
)


class _SharedThreads(AsyncPostgresSaver):
    """Keeps only the latest checkpoint of each thread. A server that is being restarted is waited for: reading changes
    nothing, and writing the same checkpoint twice leaves one."""

    async def aget_tuple(self, config: Config) -> CheckpointTuple | None:
        return await _patiently(super().aget_tuple, config)

    async def aput_writes(
        self, config: Config, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str = ""
    ) -> None:
        await _patiently(super().aput_writes, config, writes, task_id, task_path)

    async def aput(
        self, config: Config, checkpoint: Checkpoint, metadata: CheckpointMetadata, new_versions: ChannelVersions
    ) -> Config:
        values = checkpoint["channel_values"]  # plain text is written as JSON and bypasses the serializer
        clean = {name: storable(value) if isinstance(value, str) else value for name, value in values.items()}
        copy: Checkpoint = {**checkpoint, "channel_values": clean}
        put = await _patiently(super().aput, config, copy, metadata, new_versions)
        await _patiently(self._prune, checkpoint, put)
        return put

    async def _prune(self, checkpoint: Checkpoint, put: Config) -> None:
        """Remove what is older than the checkpoint that was put."""
        kept = checkpoint["channel_versions"]
        its = {
            "thread": str(put["configurable"]["thread_id"]),
            "ns": str(put["configurable"]["checkpoint_ns"]),
            "id": checkpoint["id"],
            "channels": list(kept),
            "versions": [str(version) for version in kept.values()],
        }
        async with self._cursor(pipeline=True) as cursor:
            for statement in _PRUNE:
                await cursor.execute(statement, its)


async def _patiently(work: Callable[..., Awaitable[T]], *given: Any) -> T:
    until = time.monotonic() + AWAY_SECONDS
    while True:
        try:
            return await work(*given)
        except (OperationalError, PoolTimeout):
            if time.monotonic() > until:
                raise
            await asyncio.sleep(_AGAIN_SECONDS)


@contextlib.asynccontextmanager
async def shared_threads(location: Location) -> AsyncIterator[AsyncPostgresSaver]:
    """An open checkpointer. Raises StateUnavailable when the server does not answer."""
    pool: AsyncConnectionPool[AsyncConnection[DictRow]] = AsyncConnectionPool(
        location.postgres_uri,
        min_size=1,
        max_size=4,
        open=False,
        timeout=CONNECT_SECONDS,
        check=AsyncConnectionPool.check_connection,
        kwargs={"autocommit": True, "prepare_threshold": 0, "row_factory": dict_row},
    )
    try:
        try:
            await pool.open(wait=True, timeout=CONNECT_SECONDS)
            saver = _SharedThreads(pool, serde=StateSerializer())
            await _made(saver, pool)
        except (Error, PoolTimeout) as error:
            raise StateUnavailable(
                f"The state database {location.place} does not answer ({type(error).__name__})."
            ) from error
        yield saver
    finally:
        await pool.close()


async def _made(saver: AsyncPostgresSaver, pool: AsyncConnectionPool[AsyncConnection[DictRow]]) -> None:
    """Create the tables, one server at a time. The lock is polled, never waited for: a concurrent index build waits for
    all running statements, so a statement that waited for the builder's lock would deadlock with it."""
    async with pool.connection() as alone:
        while True:
            tried = await alone.execute("SELECT pg_try_advisory_lock(%s) AS held", (_MIGRATING,))
            row = await tried.fetchone()
            if row is not None and row["held"]:
                break
            await asyncio.sleep(0.05)
        try:
            await saver.setup()
        finally:
            await alone.execute("SELECT pg_advisory_unlock(%s)", (_MIGRATING,))

"""The connection to the state database, and what every part of the store does alike: read, write, tell errors plainly.

In: a `Location`. Out: transactions. A write takes its lock at the start (SQLite: BEGIN IMMEDIATE, so that it never
fails half-way for want of one), and within one process writes to SQLite queue up in order instead of polling the file's
lock.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from sqlalchemy import event, text
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, create_async_engine

from agent.store.errors import told_plainly
from agent.store.location import Location, private_file
from agent.store.sealing import Sealer
from agent.store.tables import migrate

BUSY_SECONDS = 10
"""How long a statement waits for another process's write."""
CONNECT_SECONDS = 5
_MIGRATING = 0x7E4725  # any number that all replicas share

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class Base:
    """An open state database."""

    def __init__(self, location: Location, sealer: Sealer) -> None:
        self.place = location.place
        """For messages; holds no credentials."""
        self._location = location
        self._sealer = sealer
        self._engine = _engine(location)
        self._writing = asyncio.Lock() if location.sqlite else None

    async def _open(self) -> None:
        if self._location.sqlite:
            private_file(Path(self._location.url.database or ""))
        async with self._write() as connection:
            if not self._location.sqlite:
                await connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _MIGRATING})
            await connection.run_sync(migrate, self.place)

    async def close(self) -> None:
        await self._engine.dispose()

    @contextlib.asynccontextmanager
    async def _read(self) -> AsyncIterator[AsyncConnection]:
        """A consistent view of the state. Raises StoreError."""
        with told_plainly(self.place):
            async with self._engine.connect() as connection:
                yield connection

    @contextlib.asynccontextmanager
    async def _write(self) -> AsyncIterator[AsyncConnection]:
        """One transaction, all or nothing. Raises StoreError."""
        async with self._writing or contextlib.nullcontext():
            with told_plainly(self.place):
                async with self._engine.connect() as connection:
                    await connection.execution_options(writes=True)
                    async with connection.begin():
                        yield connection


def _engine(location: Location) -> AsyncEngine:
    if not location.sqlite:
        return create_async_engine(
            location.url,
            pool_pre_ping=True,  # a state server that was restarted must not fail the first request after it
            pool_size=8,
            max_overflow=16,
            connect_args={"connect_timeout": CONNECT_SECONDS},
        )
    engine = create_async_engine(location.url, connect_args={"timeout": BUSY_SECONDS}, pool_size=4, max_overflow=4)

    @event.listens_for(engine.sync_engine, "connect")
    def connected(connection: Any, _: Any) -> None:
        connection.isolation_level = None  # transactions begin where `began` says, not where the driver guesses
        cursor = connection.cursor()
        cursor.execute("PRAGMA journal_mode=WAL")
        cursor.execute("PRAGMA synchronous=NORMAL")  # a killed process loses nothing; a power cut, the last moments
        cursor.execute("PRAGMA trusted_schema=OFF")
        cursor.close()

    @event.listens_for(engine.sync_engine, "begin")
    def began(connection: Any) -> None:
        writes = connection.get_execution_options().get("writes", False)
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")

    return engine


def micros(moment: datetime) -> int:
    """Microseconds since 1970 UTC."""
    return (moment - _EPOCH) // timedelta(microseconds=1)


def moment(micros: int) -> datetime:
    return _EPOCH + timedelta(microseconds=micros)


def now() -> int:
    return micros(datetime.now(UTC))


def storable(text: str) -> str:
    """Text as every database takes it: PostgreSQL has no NUL, and neither takes half a surrogate pair."""
    return text.replace("\x00", "�").encode("utf-8", "replace").decode()

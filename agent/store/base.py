"""The connection to the state database, with what all parts of the store share: reads, writes, plain error messages,
and records of any kind that has one owner and a key, which only their owner finds.

In: a `Location`. Out: transactions. Each transaction runs on one thread from start to end, because returning to the
event loop after every statement costs more than the statements themselves. A write takes its lock at the start (SQLite:
BEGIN IMMEDIATE), so it never fails half-way because the lock is taken. Within one process, writes to SQLite queue in
order for one thread instead of polling the file's lock.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from datetime import UTC, datetime
from functools import wraps
from pathlib import Path
from typing import Any, Concatenate, ParamSpec, TypeVar

from pydantic import BaseModel
from sqlalchemy import Column, Connection, Engine, Select, and_, create_engine, event, func, or_, select, text, update

from agent.store.encryption import Sealer
from agent.store.location import Location, private_file
from agent.store.records import (
    BoardRecord,
    KeptRecord,
    Record,
    RunRecord,
    ScheduleRecord,
    SourceRecord,
    ThreadRecord,
)
from agent.store.store_errors import BadCursor, TooMany, told_plainly
from agent.store.tables import TABLES, key_of, micros, migrate, moment, selected
from eval.threads import started_threads

BUSY_SECONDS = 10
"""Seconds that a statement waits for another process's write."""
CONNECT_SECONDS = 5
_MIGRATING = 0x7E4725  # any number that all replicas share

_READERS = 4
"""Threads that read SQLite; one writes it."""
_SERVER_THREADS = 24
"""Threads, and so connections at most, to a state server."""

T = TypeVar("T")
R = TypeVar("R", bound=BaseModel)
Given = ParamSpec("Given")
S = TypeVar("S", bound="Base")

LARGEST_PAGE = 200
CURSOR = r"^[0-9]{1,17}-[A-Za-z0-9_-]{1,200}$"
"""Where the next page of records begins, newest first: time and id of the last record of a page. It is no secret: the
page holds only the owner's records."""


MOST: dict[type[Record], int] = {KeptRecord: 1_000, BoardRecord: 1_000, ScheduleRecord: 100}
"""Maximum number of records of one owner."""

Owned = RunRecord | ThreadRecord | SourceRecord | KeptRecord | BoardRecord | ScheduleRecord
Kind = TypeVar("Kind", RunRecord, ThreadRecord, SourceRecord, KeptRecord, BoardRecord, ScheduleRecord)


def transaction(
    work: Callable[Concatenate[S, Connection, Given], T],
) -> Callable[Concatenate[S, Given], Coroutine[Any, Any, T]]:
    """A method that is awaited without the connection and does all its work in one transaction, or nothing."""

    @wraps(work)
    async def done(self: S, /, *given: Given.args, **named: Given.kwargs) -> T:
        return await self._write(lambda connection: work(self, connection, *given, **named))

    return done


class Base:
    """An open state database."""

    def __init__(self, location: Location, sealer: Sealer) -> None:
        self.place = location.place
        """For messages; holds no credentials."""
        self._location = location
        self._sealer = sealer
        self._engine = _engine(location)
        self._for_writing = self._engine.execution_options(writes=True)
        self._for_reading = (
            self._engine if location.sqlite else self._engine.execution_options(isolation_level="AUTOCOMMIT")
        )
        self._reading = started_threads(_READERS if location.sqlite else _SERVER_THREADS, "state")
        self._writing = started_threads(1, "state-writer") if location.sqlite else self._reading

    async def _open(self) -> None:
        if self._location.sqlite:
            private_file(Path(self._location.url.database or ""))
        await self._write(self._migrated)

    def _migrated(self, connection: Connection) -> None:
        if not self._location.sqlite:
            connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _MIGRATING})
        migrate(connection, self.place)

    async def close(self) -> None:
        """Work that has started is finished first."""
        for end in (self._writing.shutdown, self._reading.shutdown, self._engine.dispose):
            await asyncio.to_thread(end)

    async def _read(self, work: Callable[[Connection], T]) -> T:
        """Run `work` and return its result. Raises StoreError."""
        return await self._done(work, self._reading, self._for_reading.connect)

    async def _first(self, record: type[R], query: Select[Any]) -> R | None:
        """The first record that a query selects. Raises StoreError."""
        row = await self._read(lambda connection: connection.execute(query).mappings().first())
        return None if row is None else record.model_validate(dict(row))

    async def _all(self, record: type[R], query: Select[Any]) -> list[R]:
        """All records that a query selects. Raises StoreError."""
        rows = await self._read(lambda connection: connection.execute(query).mappings().all())
        return [record.model_validate(dict(row)) for row in rows]

    async def _page(
        self,
        record: type[R],
        query: Select[Any],
        when: Column[datetime],
        key: Column[str],
        limit: int,
        before: str | None,
    ) -> tuple[list[R], str | None]:
        """The latest records that a query selects, and the cursor of the next page. Raises BadCursor, StoreError."""
        if before is not None:
            if re.fullmatch(CURSOR, before) is None:
                raise BadCursor("This is not a cursor that was given out here.")
            at, _, last = before.partition("-")
            query = query.where(or_(when < moment(int(at)), and_(when == moment(int(at)), key < last)))
        size = max(1, min(limit, LARGEST_PAGE))
        records = await self._all(record, query.order_by(when.desc(), key.desc()).limit(size + 1))
        if len(records) <= size:
            return records, None
        end = records[size - 1]
        return records[:size], f"{micros(getattr(end, when.name))}-{getattr(end, key.name)}"

    async def _write(self, work: Callable[[Connection], T]) -> T:
        """Do `work` in one transaction, all or nothing. Raises StoreError."""
        return await self._done(work, self._writing, self._for_writing.begin)

    async def _done(
        self,
        work: Callable[[Connection], T],
        threads: ThreadPoolExecutor,
        connect: Callable[[], AbstractContextManager[Connection]],
    ) -> T:
        def inside() -> T:
            with connect() as connection:
                return work(connection)

        with told_plainly(self.place):
            return await asyncio.get_running_loop().run_in_executor(threads, inside)

    # --- records of any kind that has one owner and a key ---

    @transaction
    def add(self, connection: Connection, record: Owned) -> None:
        """Raises TooMany."""
        table, most = TABLES[type(record)], MOST.get(type(record))
        mine = select(func.count()).select_from(table).where(table.c.owner == record.owner)
        if most is not None and (connection.scalar(mine) or 0) >= most:
            raise TooMany(f"You have {most:,} of them already, which is the most: remove some first.")
        connection.execute(table.insert(), record.model_dump())

    async def get(self, kind: type[Kind], owner: str, key: str) -> Kind | None:
        table = TABLES[kind]
        return await self._first(kind, selected(kind).where(table.c.owner == owner, key_of(table) == key))

    async def of_owner(self, kind: type[Kind], owner: str) -> list[Kind]:
        """The one changed last first; of a kind that has no time of that, the latest."""
        table = TABLES[kind]
        latest = table.c["updated" if "updated" in table.c else "created"].desc()
        return await self._all(kind, selected(kind).where(table.c.owner == owner).order_by(latest, key_of(table)))

    async def change(self, record: Kind, **changed: Any) -> Kind:
        """Store other values of a record (columns of its table) and return it with them."""
        table, fields = TABLES[type(record)], type(record).model_fields
        if "updated" in fields:
            changed["updated"] = datetime.now(UTC)
        key = key_of(table)
        query = update(table).where(key == getattr(record, key.name)).values(**changed)
        await self._write(lambda connection: connection.execute(query))
        return record.model_copy(update={name: value for name, value in changed.items() if name in fields})


def _engine(location: Location) -> Engine:
    if not location.sqlite:
        return create_engine(
            location.url,
            pool_size=8,
            max_overflow=_SERVER_THREADS - 8,
            pool_pre_ping=True,  # the first request after the state server restarts must not fail
            # a server that has vanished must not hold a thread, and so the end of the process, for hours
            connect_args={"connect_timeout": CONNECT_SECONDS, "tcp_user_timeout": BUSY_SECONDS * 1000},
        )
    engine = create_engine(location.url, connect_args={"timeout": BUSY_SECONDS}, pool_size=_READERS + 1)

    @event.listens_for(engine, "connect")
    def connected(connection: Any, _: Any) -> None:
        connection.isolation_level = None  # transactions begin where `began` says, not where the driver guesses
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("PRAGMA synchronous=NORMAL")  # a killed process loses nothing; a power cut, the last moments
        connection.execute("PRAGMA trusted_schema=OFF")

    @event.listens_for(engine, "begin")
    def began(connection: Any) -> None:
        writes = connection.get_execution_options().get("writes", False)
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")

    return engine

"""Clients' own databases as presets: connected by URL, or uploaded.

In: a client's name with a URL, or with files as they arrive. Out: a record in the store, and an open database when it
is asked. An address with its password is sealed in the store and leaves it only to be opened.
"""

from __future__ import annotations

import asyncio
import contextlib
import secrets
from collections.abc import AsyncIterable, Sequence
from datetime import UTC, datetime
from typing import Literal

from agent.server.errors import ApiError
from agent.sources import SourceError, SourceGone, SourceRefused, SourceTooLarge
from agent.sources.connections import ConnectionPolicy, connect
from agent.sources.tabular.plan import Plans, Reading
from agent.sources.uploads import Progress, Source, UploadStore
from agent.store import Store
from agent.store.records import SourceRecord
from eval.databases.base import Database
from eval.databases.types import DatabaseError, DatabaseNotFound

REMOVED = "source_removed"
"""Kind of the signal that a database was removed; it is about `source_id`."""
MAX_NAME = 100
"""Characters of a name for people."""


class Sources:
    """Opened databases are kept until they are removed, or the server ends."""

    def __init__(self, policy: ConnectionPolicy, uploads: UploadStore, store: Store) -> None:
        self.policy = policy
        self.uploads = uploads
        self._store = store
        self._open: dict[str, Database] = {}
        self._opening: dict[str, asyncio.Lock] = {}
        self._closing: set[asyncio.Task[None]] = set()
        store.heed(REMOVED, lambda about: self._removed_elsewhere(about["source_id"]))

    async def listed(self, owner: str) -> list[SourceRecord]:
        return await self._store.sources(owner)

    async def connect(self, owner: str, url: str, name: str | None) -> tuple[SourceRecord, tuple[str, ...]]:
        """Connect and keep; with what the user should know (the login can write). Raises ApiError 400, 403."""
        try:
            made = await connect(url, self.policy)
        except SourceRefused as error:
            raise ApiError(403, str(error)) from error
        except (SourceError, DatabaseError) as error:
            raise ApiError(400, str(error)) from error
        database = made.database
        record = _record(owner, "connected", name or database.name, database.dialect, url.strip())
        try:
            await self._store.add_source(record)
        except BaseException:
            await asyncio.to_thread(database.close)
            raise
        self._open[record.source_id] = database
        return record, made.warnings

    async def receive(
        self,
        owner: str,
        files: Sequence[tuple[str, AsyncIterable[bytes]]],
        name: str | None,
        on_progress: Progress = lambda *_: None,
    ) -> SourceRecord:
        """Take one database or table file, or several files of tables as one database. Raises ApiError (400, 413,
        503)."""
        try:
            source = await self.uploads.receive(files, owner=owner, on_progress=on_progress)
        except (SourceError, DatabaseError) as error:
            raise _refusal(error) from error
        for known in await self._store.sources(owner):
            if known.kind == "uploaded" and known.location == source.id:
                return known  # the same files again
        record = _record(owner, "uploaded", name or source.name, source.dialect, source.id)
        try:
            await self._store.add_source(record)
        except BaseException:
            await asyncio.to_thread(self.uploads.remove, source.id, owner=owner)
            raise
        return record

    async def notes(self, record: SourceRecord) -> list[str]:
        """How an uploaded file was read; nothing where the file is gone."""
        if record.kind != "uploaded":
            return []
        with contextlib.suppress(SourceGone):
            return (await asyncio.to_thread(self.uploads.find, record.location, owner=record.owner)).notes
        return []

    async def reading(self, owner: str, source_id: str) -> Reading:
        """How the tables of an upload were read. Raises ApiError 404."""
        return (await self._upload(owner, source_id)).reading

    async def read_again(self, owner: str, source_id: str, plans: Plans) -> Reading:
        """Read the files of an upload again by other plans. Raises ApiError 400, 404, 413, 503."""
        upload = await self._upload(owner, source_id)
        try:
            again = await self.uploads.read_again(upload.id, plans, owner=owner)
        except (SourceError, DatabaseError) as error:
            raise _refusal(error) from error
        await self._forget(source_id)
        await self._store.signal(REMOVED, source_id=source_id)  # others open the new file when they are asked
        return again.reading

    async def _upload(self, owner: str, source_id: str) -> Source:
        for record in await self._store.sources(owner):
            if record.source_id == source_id and record.kind == "uploaded":
                with contextlib.suppress(SourceGone):
                    return await asyncio.to_thread(self.uploads.find, record.location, owner=owner)
        raise ApiError(404, "There is no such uploaded database of yours.")

    async def opened(self, record: SourceRecord) -> Database:
        """Raises DatabaseError."""
        key = record.source_id
        async with self._opening.setdefault(key, asyncio.Lock()):
            if key not in self._open:
                try:  # the address is checked again each time, because its name may have changed its target
                    if record.kind == "connected":
                        self._open[key] = (await connect(record.location, self.policy)).database
                    else:
                        opened = asyncio.to_thread(self.uploads.open, record.location, owner=record.owner)
                        self._open[key] = await opened
                except SourceError as error:
                    raise DatabaseNotFound(str(error)) from error
            elif record.kind == "uploaded":
                try:
                    await asyncio.to_thread(self.uploads.require, record.location, owner=record.owner)
                except SourceGone as error:
                    raise DatabaseNotFound(str(error)) from error
            return self._open[key]

    async def remove(self, owner: str, source_id: str) -> bool:
        """False when this client has none of that id."""
        record = await self._store.remove_source(owner, source_id)
        if record is None:
            return False
        await self._forget(source_id)
        await self._store.signal(REMOVED, source_id=source_id)
        if record.kind == "uploaded":
            with contextlib.suppress(SourceGone):
                await asyncio.to_thread(self.uploads.remove, record.location, owner=owner)
        return True

    def _removed_elsewhere(self, source_id: str) -> None:
        task = asyncio.create_task(self._forget(source_id))
        self._closing.add(task)
        task.add_done_callback(self._closing.discard)

    async def _forget(self, source_id: str) -> None:
        """Close what is open of a database that was removed."""
        self._opening.pop(source_id, None)
        if (database := self._open.pop(source_id, None)) is not None:
            await asyncio.to_thread(database.close)

    async def close(self) -> None:
        await asyncio.gather(*self._closing, return_exceptions=True)
        while self._open:
            await asyncio.to_thread(self._open.popitem()[1].close)


def _record(owner: str, kind: Literal["connected", "uploaded"], name: str, dialect: str, location: str) -> SourceRecord:
    return SourceRecord(
        source_id=secrets.token_urlsafe(12),
        owner=owner,
        name=" ".join(name.split())[:MAX_NAME] or "database",
        kind=kind,
        dialect=dialect,
        location=location,
        created=datetime.now(UTC),
    )


def _refusal(error: SourceError | DatabaseError) -> ApiError:
    if isinstance(error, SourceTooLarge):
        return ApiError(413, str(error))
    its_own = isinstance(error, SourceRefused | DatabaseError)  # else the disk fails
    return ApiError(400 if its_own else 503, str(error))

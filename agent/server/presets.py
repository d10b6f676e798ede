"""The databases that a client may query, by id, and how they are opened.

In: a client's name and an id. Out: a `Preset`, which opens its database when it is needed, off the event loop. An id
is looked up among those that the client has; it is never read as a path or a URL.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import Literal

from pydantic import Field

from agent.access import Person, access_of, audit_of, personal
from agent.config import DatabaseSettings, JudgingSettings
from agent.inspection.memory import described_schema
from agent.runtime.catalogue import DEFAULT_DEMO, resolve_database
from agent.runtime.preparation import for_database
from agent.server.access import Client
from agent.server.errors import ApiError
from agent.server.replies import Reply
from agent.server.sources import Sources
from agent.store.records import SourceRecord
from eval.databases.base import Database
from eval.databases.types import DatabaseError
from eval.databases.urls import parse_target
from eval.schema import Schema
from eval.tasks import DEMOS, demo_ids, demo_named

CONFIGURED = "configured"
"""Id of the database that the settings name."""


class PresetReply(Reply):
    """A database that a client may ask."""

    id: str
    name: str
    description: str
    dialect: str
    kind: Literal["demo", "configured", "connected", "uploaded"]
    examples: list[str] = Field(default_factory=list)
    tables: int | None = None
    """None: not known before it has been opened."""
    default: bool = False
    removable: bool = False
    notes: list[str] = Field(default_factory=list)
    """How an uploaded file was read."""


@dataclass(frozen=True, slots=True)
class Preset:
    """A database that a client may ask."""

    id: str
    reply: PresetReply
    opened: Callable[[], Awaitable[Database]]
    """The open database, opened off the event loop. Raises DatabaseError."""

    async def database(self) -> Database:
        """The open database, for a reply. Raises ApiError 503 where it does not open."""
        try:
            return await self.opened()
        except DatabaseError as error:
            raise ApiError(503, str(error)) from error


class Presets:
    def __init__(self, settings: DatabaseSettings, judging: JudgingSettings, sources: Sources) -> None:
        self._settings = settings
        self._judging = judging
        self._sources = sources
        self._access = access_of(settings)
        self._audit = audit_of(settings)
        self._tables: dict[str, int] = {}
        target = settings.url or settings.path
        self._target = None if target is None or target in demo_ids() else target
        self.default_id = target if target in demo_ids() else CONFIGURED if target else DEFAULT_DEMO

    async def listed(self, client: Client) -> list[PresetReply]:
        """The default one first."""
        presets = [self._configured()] if self._target else []
        presets += [self._demo(demo.id) for demo in DEMOS]
        presets += [await self.noted(record) for record in await self._sources.listed(client.name)]
        return [p.reply for p in sorted(presets, key=lambda p: not p.reply.default)]

    async def find(self, client: Client, preset_id: str | None, owner: str | None = None) -> Preset:
        """The preset of this id, or of this name if only one is called so. Its database shows what the client's person
        may see; of a database that the client brought, all of it. `owner`: the name of another client, who shares one.
        Raises ApiError 404 for what there is not."""
        wanted = preset_id or self.default_id
        if wanted == CONFIGURED and self._target:
            return self._for(client, self._configured())
        if wanted in demo_ids():
            return self._for(client, self._demo(wanted))
        records = await self._sources.listed(owner or client.name)
        for record in records:
            if record.source_id == wanted:
                return self.of_source(record)
        fixed = [*([self._configured()] if self._target else []), *(self._demo(demo.id) for demo in DEMOS)]
        called = [self._for(client, preset) for preset in fixed if preset.reply.name == wanted]
        called += [self.of_source(record) for record in records if record.name == wanted]
        if len(called) == 1:
            return called[0]
        raise ApiError(404, "There is no preset of that id; GET /presets lists those there are.")

    def default(self) -> Preset:
        """The default preset as the server itself sees it; never for a client."""
        return self._configured() if self._target else self._demo(self.default_id)

    def local(self) -> Client:
        """The client at a door that checks no token."""
        if self._access is None:
            return Client("local")
        person = self._access.person(self._settings.person)
        return Client(person.name, person, self._access.digest(person))

    def _for(self, client: Client, preset: Preset) -> Preset:
        person = client.person or Person(client.name)

        async def opened() -> Database:
            return personal(await preset.opened(), person, self._access, self._audit)

        return replace(preset, opened=opened)

    async def schema(self, preset: Preset) -> tuple[Database, Schema]:
        """The database and its structure as questions see it, with what the semantic model adds.

        Raises ApiError 503 when the database cannot be opened or read."""
        try:
            database = await preset.opened()
            schema = await asyncio.to_thread(database.schema, ttl=self._settings.schema_ttl)
        except DatabaseError as error:
            raise ApiError(503, str(error)) from error
        if self._access is None:  # the number is of what this client sees
            self._tables[preset.id] = len(schema.tables)
        return database, await asyncio.to_thread(described_schema, database, schema, self.judging(database))

    def judging(self, database: Database) -> JudgingSettings:
        """The settings for questions on this database."""
        return for_database(self._judging, self._settings, database)

    def _demo(self, demo_id: str) -> Preset:
        demo = demo_named(demo_id)
        reply = PresetReply(
            id=demo.id,
            name=demo.name,
            description=demo.description,
            dialect="sqlite",
            kind="demo",
            examples=list(demo.example_questions) if self._access is None else [],  # they name values
            tables=len(demo.tables) if self._access is None else None,
            default=demo.id == self.default_id,
        )
        return Preset(demo.id, reply, lambda: asyncio.to_thread(resolve_database, demo_id, self._settings, whole=True))

    def _configured(self) -> Preset:
        assert self._target is not None
        try:
            place = parse_target(self._target)
            name, dialect = place.name, str(place.dialect)
        except DatabaseError:  # said when it is opened
            name, dialect = CONFIGURED, self._settings.dialect
        reply = PresetReply(
            id=CONFIGURED,
            name=name,
            description="The database that this server was configured with.",
            dialect=dialect,
            kind="configured",
            tables=self._tables.get(CONFIGURED),
            default=True,
        )
        return Preset(CONFIGURED, reply, lambda: asyncio.to_thread(resolve_database, None, self._settings, whole=True))

    async def noted(self, record: SourceRecord) -> Preset:
        """A database that a client brought, with how its files were read."""
        preset = self.of_source(record)
        return replace(preset, reply=preset.reply.model_copy(update={"notes": await self._sources.notes(record)}))

    def of_source(self, record: SourceRecord) -> Preset:
        """A database that a client brought."""
        origin = "Connected" if record.kind == "connected" else "Uploaded"
        reply = PresetReply(
            id=record.source_id,
            name=record.name,
            description=f"{origin} on {record.created:%Y-%m-%d}.",
            dialect=record.dialect,
            kind=record.kind,
            tables=self._tables.get(record.source_id),
            removable=True,
        )
        return Preset(record.source_id, reply, lambda: self._sources.opened(record))

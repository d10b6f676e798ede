"""The services that all routes use, created once by the app's lifespan."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, fields
from typing import Annotated, Any

from fastapi import Depends, Request

from agent.config import Settings
from agent.results import ResultStore, SqlOutcome, run_sql
from agent.server.access import Client, CurrentClient
from agent.server.errors import ApiError, required
from agent.server.middleware.tokens import Tokens
from agent.server.models import SharedModels
from agent.server.presets import Presets
from agent.server.runs.registry import LiveRuns
from agent.server.sources import Sources
from agent.server.warmup import Warmup
from agent.store import Store
from agent.store.base import Kind
from agent.store.records import BoardRecord, KeptRecord, Record, RunRecord, ScheduleRecord, ThreadRecord
from eval.databases.base import Database
from eval.databases.types import Limits

CALLED: dict[type[Record], str] = {
    RunRecord: "run",
    ThreadRecord: "thread",
    KeptRecord: "kept answer",
    BoardRecord: "board",
    ScheduleRecord: "schedule",
}
"""What a client is told that there is none of."""


@dataclass(frozen=True, slots=True)
class Services:
    settings: Settings
    store: Store
    runs: LiveRuns
    presets: Presets
    sources: Sources
    results: ResultStore
    models: SharedModels
    checkpointer: Any
    """LangGraph's, in which conversations live."""
    warming: Warmup
    auth: bool
    """A bearer token is asked for."""
    tokens: Tokens
    look_for_due: asyncio.Event
    """Set when a delivery has become due before its time."""

    @property
    def run_limits(self) -> Limits:
        """Of a statement that a client gives or has kept."""
        limits = self.settings.limits
        return Limits(seconds=limits.query_seconds, rows=limits.max_rows)

    async def ran(self, database: Database, sql: str) -> SqlOutcome:
        """The outcome of a statement within the server's limits."""
        return await run_sql(database, sql, limits=self.run_limits, schema_ttl=self.settings.database.schema_ttl)

    def on_behalf_of(self, client: Client) -> ClientServices:
        return ClientServices(**{field.name: getattr(self, field.name) for field in fields(Services)}, client=client)


@dataclass(frozen=True, slots=True)
class ClientServices(Services):
    """The services as one client uses them."""

    client: Client

    @property
    def owner(self) -> str:
        """The owner of what the client makes."""
        return self.client.name

    async def mine(self, kind: type[Kind], key: str) -> Kind:
        """A record of the client's own. Raises ApiError 404."""
        return required(await self.store.get(kind, self.owner, key), CALLED[kind])

    async def run(self, run_id: str) -> RunRecord:
        """A run of the client's as the client may see it. Raises ApiError 404."""
        return self.client.sees(await self.mine(RunRecord, run_id))

    async def database(self, preset_id: str, owner: str | None = None) -> Database:
        """The database with the client's rights, or one that the owner brought. Raises ApiError (404 there is none, 503
        it does not open)."""
        return await (await self.presets.find(self.client, preset_id, owner)).database()


async def services(request: Request) -> Services:
    """Raises ApiError 503 while the app is starting or ending."""
    current = getattr(request.app.state, "services", None)
    if not isinstance(current, Services):
        raise ApiError(503, "The server is starting or stopping.")
    return current


CurrentServices = Annotated[Services, Depends(services)]


async def client_services(services: CurrentServices, client: CurrentClient) -> ClientServices:
    return services.on_behalf_of(client)


Here = Annotated[ClientServices, Depends(client_services)]

"""The services that all routes use, created once by the app's lifespan."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass, fields
from typing import Annotated, Any

from fastapi import Depends, Request

from agent.config import Settings
from agent.results import ResultStore, SqlOutcome, run_sql
from agent.runner import answer_many
from agent.server.access import Client, CurrentClient
from agent.server.errors import ApiError, required
from agent.server.middleware.tokens import Tokens
from agent.server.models import SharedModels
from agent.server.presets import Presets
from agent.server.runs.registry import LiveRuns
from agent.server.sources import Sources
from agent.store import Store
from agent.store.base import Kind
from agent.store.records import BoardRecord, KeptRecord, Record, RunRecord, ScheduleRecord, ThreadRecord
from eval.databases.base import Database
from eval.databases.types import Limits

log = logging.getLogger(__name__)


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


class Warmup:
    """Slow one-time work in the background when the server starts, so that the first question is fast: the graph and
    the model's client imported, the default database opened and its structure read. A failure here is no failure of the
    server: `/ready` says what is missing, and a question says why."""

    def __init__(self) -> None:
        self.graph = "still being loaded"
        """`ok` once a run would find it imported."""
        self._task: asyncio.Task[None] | None = None

    def begin(self, presets: Presets, *, offline: bool) -> None:
        self._task = asyncio.create_task(self._warm(presets, offline))

    async def end(self) -> None:
        """Wait for a step that is under way; threads cannot be stopped."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    async def _warm(self, presets: Presets, offline: bool) -> None:
        def imported() -> None:
            import agent.graph
            import agent.parser  # gives a second opinion on every other model's query

            if not offline:
                import agent.models.chat  # noqa: F401

        try:
            await presets.schema(presets.default())
        except ApiError as error:
            log.warning("The default database cannot be used: %s", error)
        try:
            await asyncio.to_thread(imported)
            answer_many()
            self.graph = "ok"
        except Exception:
            log.exception("The graph could not be loaded")
            self.graph = "could not be loaded"


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

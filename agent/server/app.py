"""The app: all HTTP interfaces and their shared services.

In: settings. Out: a FastAPI app, to be run by any ASGI server. The lifespan creates and closes everything that outlives
a request: the state, the runs, the models. The server holds no data that another replica would need.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import AbstractAsyncContextManager
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from fastapi import FastAPI
from pydantic import TypeAdapter
from starlette.routing import BaseRoute, Route
from starlette.types import Receive, Scope, Send

from agent.config import Settings
from agent.config import settings as process_settings
from agent.conversations.checkpointer import open_checkpointer
from agent.events import Event
from agent.results import ResultStore
from agent.server.errors import ErrorReply, install_errors
from agent.server.middleware import protect
from agent.server.middleware.request_limits import Limits
from agent.server.middleware.tokens import Tokens, tokens_needed
from agent.server.models import SharedModels
from agent.server.presets import Presets
from agent.server.routes import data, databases, kept, lab, model, page, presets, query, runs, schedules, status, terms
from agent.server.runs.registry import Instance, LiveRuns
from agent.server.schedules.scheduler import Scheduler
from agent.server.services import Services, Warmup
from agent.server.sources import Sources
from agent.server.submission import RunEvent
from agent.server.telemetry import configure_logging, observed
from agent.sources.connections import ConnectionPolicy
from agent.sources.uploads import UploadLimits, UploadStore
from agent.store import open_store
from agent.store.location import state_folder, state_location
from eval.a2a.card_url import CARD_PATHS, checked_card_url
from eval.threads import started_threads

if TYPE_CHECKING:
    from agent.mcp.http import McpEndpoint
    from eval.a2a.jsonrpc import RpcRoutes

THREADS = 32
"""Threads for blocking work: opening databases, reading structures, looking up values. Statements have their own
threads."""
FORM_BYTES = 64 * 1024
"""Size allowed for an upload's body in addition to its files."""
_REF = "#/components/schemas/{model}"

Opening = Callable[[], AbstractAsyncContextManager[Sequence[BaseRoute]]]
"""Makes the routes, and ends what they have started."""


def create_app(
    settings: Settings | None = None, *, url: str = "http://127.0.0.1:8000", instance: Instance | None = None
) -> FastAPI:
    """Make the app. `url`: where others reach it, for the card of the agent-to-agent door. `instance`: the identity of
    this process; None: one of its own. Raises pydantic.ValidationError or ValueError where the settings cannot be used.
    """
    config = settings or process_settings()
    configure_logging(config)
    tokens = Tokens.of(config.server, config.database)
    limits = Limits(config.server)
    late: list[LateRoutes] = []

    @contextlib.asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        threads = started_threads(THREADS, "server")
        asyncio.get_running_loop().set_default_executor(threads)
        async with observed(show_sql=config.privacy.log_sql), _services(config, instance or Instance(), tokens) as made:
            app.state.services = made
            if made.store.shared:
                limits.store = made.store
            try:
                async with contextlib.AsyncExitStack() as doors:
                    await doors.enter_async_context(Scheduler(made).running())
                    for door in late:
                        await doors.enter_async_context(door.running())
                    yield
            finally:
                limits.store = None
                del app.state.services

    # no interactive pages of the API: their scripts would have to come from elsewhere
    app = FastAPI(
        title="text2sql", summary="Ask a database in plain English.", lifespan=lifespan, docs_url=None, redoc_url=None
    )
    install_errors(app)
    for routes in (presets, query, data, runs, kept, schedules, databases, model, lab, status, terms):
        app.include_router(routes.router)
    shared = not state_location(config.state).sqlite
    late += [*_agent_to_agent(app, config, url, shared=shared), *_model_context_protocol(app, shared=shared)]
    below = urlsplit(config.deliveries.public_url or "").path.rstrip("/")
    page_router, otherwise = page.page_routes(page.page_folder(config.server.page_dir), below)
    app.include_router(page_router)
    app.router.default = otherwise
    _describe(app)
    upload = (config.limits.upload_mb << 20) + FORM_BYTES
    protect(app, config.server, tokens=tokens, max_upload=upload, limits=limits, below=below)
    return app


def _agent_to_agent(app: FastAPI, config: Settings, url: str, *, shared: bool) -> Iterator[LateRoutes]:
    """`/generate` always; JSON-RPC and the cards where the extra `a2a` is installed. Raises CardUrlUnusable."""
    from agent.a2a.rest import rest_router

    app.include_router(rest_router(config, status=False))
    if find_spec("a2a") is None:
        return
    checked_card_url(f"{url}/a2a")

    @contextlib.asynccontextmanager
    async def opening() -> AsyncIterator[Sequence[BaseRoute]]:
        rpc = await asyncio.to_thread(routes)
        try:
            yield rpc.routes
        finally:
            await rpc.aclose()

    def routes() -> RpcRoutes:
        from agent.a2a.rpc import rpc_routes
        from agent.a2a.shared_tasks import Place

        def place() -> Place:
            return Place(app.state.services.store, app.state.services.runs.instance.id)

        return rpc_routes(config, f"{url}/a2a", path="/a2a", also_at=("/",), place=place if shared else None)

    own = [(path, None) for path in ("/a2a", "/a2a/{rest:path}")]
    cards = [(path, ("GET",)) for path in CARD_PATHS]
    yield LateRoutes(app, [*own, ("/", ("POST",)), *cards], opening)


def _model_context_protocol(app: FastAPI, *, shared: bool) -> Iterator[LateRoutes]:
    """`/mcp`, where the extra `mcp` is installed. `shared`: other processes may get the next request of a client."""
    if find_spec("mcp") is None:
        return

    @contextlib.asynccontextmanager
    async def opening() -> AsyncIterator[Sequence[BaseRoute]]:
        endpoint = await asyncio.to_thread(made)
        async with endpoint.running():
            yield endpoint.routes

    def made() -> McpEndpoint:
        from agent.mcp.http import McpEndpoint

        return McpEndpoint(lambda: app.state.services, stateless=shared)

    yield LateRoutes(app, [("/mcp", None), ("/mcp/", None)], opening)


def _describe(app: FastAPI) -> None:
    """Add `StreamEvent`, the type of each `data:` line of a stream, and the common error form to the app's
    description."""
    plain = app.openapi

    def openapi() -> dict[str, Any]:
        if app.openapi_schema is None:
            described = plain()
            schemas = described.setdefault("components", {}).setdefault("schemas", {})
            error = ErrorReply.model_json_schema(ref_template=_REF, mode="serialization")
            schemas |= {**error.pop("$defs", {}), "ErrorReply": error}
            event: Any = TypeAdapter(RunEvent | Event).json_schema(ref_template=_REF, mode="serialization")
            for name, schema in event.pop("$defs", {}).items():
                schemas.setdefault(name, schema)
            schemas["StreamEvent"] = event | {"description": "One event of a stream; `event` names its kind."}
            app.openapi_schema = described
        return app.openapi_schema

    app.openapi = openapi  # type: ignore[method-assign]


@contextlib.asynccontextmanager
async def _services(config: Settings, instance: Instance, tokens: Tokens) -> AsyncIterator[Services]:
    async with contextlib.AsyncExitStack() as stack:
        checkpointer = await stack.enter_async_context(open_checkpointer(config.state))
        store = await open_store(config.state, checkpointer=checkpointer)
        stack.push_async_callback(store.close)
        folder = state_folder(config.state)
        policy = ConnectionPolicy.from_settings(config.connections, users_have_tokens=config.server.tokens is not None)
        uploads = UploadStore(folder / "uploads", UploadLimits.from_settings(config.limits))
        sources = Sources(policy, uploads, store)
        stack.push_async_callback(sources.close)
        live = LiveRuns(store, config.server, instance=instance, state_days=config.state.days)
        models = SharedModels(config.model, store)
        models.refresh_soon()
        stack.push_async_callback(models.close)
        await live.open()
        stack.push_async_callback(live.close)
        presets = Presets(config.database, config.judging, sources)
        warming = Warmup()
        warming.begin(presets, offline=config.model.offline)
        stack.push_async_callback(warming.end)
        yield Services(
            settings=config,
            store=store,
            runs=live,
            presets=presets,
            sources=sources,
            results=ResultStore.from_settings(folder / "results", config.limits),
            models=models,
            checkpointer=checkpointer,
            warming=warming,
            auth=tokens_needed(config.server),
            tokens=tokens,
            look_for_due=asyncio.Event(),
        )


class LateRoutes:
    """Doors that are opened when somebody first comes: their SDKs take 40 MB and a third of a second. An ASGI app for
    the places of a door, which makes way for the real routes at their first request; `running` brackets the life of the
    app around it, any number of times."""

    def __init__(self, app: FastAPI, paths: Sequence[tuple[str, Sequence[str] | None]], opening: Opening) -> None:
        """`paths`: each with its methods, None for any. They have to cover all paths of the routes that are made."""
        self._app, self._opening = app, opening
        self._places = [
            Route(path, self, methods=None if methods is None else [*methods], include_in_schema=False)
            for path, methods in paths
        ]
        self._closing = asyncio.Event()
        self._opened: asyncio.Future[None] | None = None
        self._kept: asyncio.Task[None] | None = None
        app.router.routes.extend(self._places)

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        self._closing, self._opened, self._kept = asyncio.Event(), None, None
        try:
            yield
        finally:
            self._closing.set()
            if self._kept is not None:
                await self._kept

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self._opened is None:
            self._opened = asyncio.get_running_loop().create_future()
            self._kept = asyncio.create_task(self._keep(self._opened))
        await asyncio.shield(self._opened)  # a client that goes away stops nobody else's
        await self._app.router(scope, receive, send)

    async def _keep(self, opened: asyncio.Future[None]) -> None:
        """What a door starts is ended by the task that started it. A failure is told to those who wait; the next
        request tries again."""
        try:
            async with self._opening() as routes:
                self._swap(self._places, routes)
                opened.set_result(None)
                await self._closing.wait()
                self._swap(routes, self._places)
        except Exception as error:
            if opened.done():
                raise
            self._opened = None
            opened.set_exception(error)

    def _swap(self, old: Sequence[BaseRoute], new: Sequence[BaseRoute]) -> None:
        routes = self._app.router.routes
        at = routes.index(old[0])
        routes[at : at + len(old)] = new

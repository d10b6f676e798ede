"""The standalone app: plain REST and JSON-RPC beside each other, no page, no state on disk.

In: settings and the card's URL. Out: a FastAPI app for any ASGI server. It accepts loopback host names, its card's host
and TEXT2SQL_SERVER_HOSTS, and refuses pages of other origins. Without tokens in the settings it authenticates nobody,
as evaluators expect; then it must listen on loopback or behind a proxy that authenticates.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from urllib.parse import urlsplit

from fastapi import FastAPI

from agent.a2a.answer import answered
from agent.a2a.rest import MAX_BYTES, rest_router
from agent.a2a.rpc import EXAMPLE, rpc_routes
from agent.a2a.task import TaskAnswer, read_task
from agent.config import Settings
from agent.models import OFFLINE
from agent.models.protocol import Model
from agent.server.middleware.addresses import OriginCheck, listed
from agent.server.middleware.request_limits import Limits
from agent.server.middleware.tokens import Authentication, Tokens, tokens_needed
from eval.a2a.http_requests import BodyLimit


def build_app(config: Settings, card_url: str, *, model: Model | None = None) -> FastAPI:
    """The app whose card shows `card_url`. Raises CardUrlUnusable, and TokensInvalid for unusable tokens. `model`: None
    means the model of the settings."""
    rpc = rpc_routes(config, card_url, model=model)

    @contextlib.asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        # Run the card's example once, without a model, so that no task waits a second for the graph to load
        app.state.warming = asyncio.ensure_future(answered(read_task(EXAMPLE), config, OFFLINE))
        try:
            yield
        finally:
            app.state.warming.cancel()
            await asyncio.gather(rpc.aclose(), app.state.warming, return_exceptions=True)

    app = FastAPI(title="text2sql over A2A", lifespan=lifespan)
    app.include_router(rest_router(config, model=model))
    app.router.routes.extend(rpc.routes)
    too_large = TaskAnswer(sql="", error=f"More than {MAX_BYTES:,} bytes.").wire()
    app.add_middleware(BodyLimit, most=MAX_BYTES, refusal=too_large)
    tokens = Tokens.of(config.server)
    if tokens_needed(config.server):
        app.add_middleware(Authentication, tokens=tokens, limits=Limits(config.server))
    hosts = {*listed(config.server.hosts), urlsplit(card_url).hostname or ""}
    app.add_middleware(OriginCheck, needed=tokens.needed, hosts=frozenset(hosts), origins=frozenset())
    return app

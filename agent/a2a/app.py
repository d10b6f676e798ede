"""The standalone app: plain REST and JSON-RPC beside each other, no page, no state on disk.

In: settings and the card's URL. Out: a FastAPI app for any ASGI server. Where the settings name no tokens it asks
nobody who they are, as evaluators expect, and then belongs on loopback or behind something that does.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator

from fastapi import FastAPI

from agent.a2a.answering import answered
from agent.a2a.card import EXAMPLE
from agent.a2a.rest import MAX_BYTES, rest_router
from agent.a2a.rpc import rpc_routes
from agent.a2a.task import TaskAnswer, read_task
from agent.config import Settings
from agent.models import OFFLINE, make_model
from agent.models.protocol import Model
from agent.server.protection.tokens import Tokens, WhoIsAsking
from eval.a2a.body_limit import BodyLimit


def build_app(config: Settings, card_url: str, *, model: Model | None = None) -> FastAPI:
    """The app whose card says `card_url`. Raises CardUrlUnusable, and TokensInvalid for tokens that can't be used.
    `model`: None means what the settings say."""
    rpc = rpc_routes(config, card_url, model=model)

    @contextlib.asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        app.state.warming = asyncio.ensure_future(_warm(config))
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
    tokens = Tokens.of(config)
    if config.auth == "required" or (tokens and config.auth == "auto"):
        app.add_middleware(WhoIsAsking, tokens=tokens)
    return app


async def _warm(config: Settings) -> None:
    """Work the card's own example once, without a model, so that no task waits a second for the graph to load."""
    await answered(read_task(EXAMPLE), config, await asyncio.to_thread(make_model, config, OFFLINE))

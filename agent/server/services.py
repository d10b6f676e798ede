"""The services that all routes use, created once by the app's lifespan."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import Depends, Request

from agent.config import Settings
from agent.results import ResultStore
from agent.server.errors import ApiError
from agent.server.middleware.tokens import Tokens
from agent.server.models import SharedModels
from agent.server.presets import Presets
from agent.server.runs import LiveRuns
from agent.server.sources import Sources
from agent.server.warmup import Warmup
from agent.store import Store


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


async def services(request: Request) -> Services:
    """Raises ApiError 503 while the app is starting or ending."""
    current = getattr(request.app.state, "services", None)
    if not isinstance(current, Services):
        raise ApiError(503, "The server is starting or stopping.")
    return current


CurrentServices = Annotated[Services, Depends(services)]

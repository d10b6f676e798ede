"""`/health` and `/ready`: is it up, and can it answer."""

from __future__ import annotations

import asyncio
from importlib.metadata import PackageNotFoundError, version

from fastapi import APIRouter, Response
from fastapi.responses import PlainTextResponse

from agent.server.observing.metrics import CONTENT_TYPE, exposition
from agent.server.replies import HealthReply, ReadyReply
from agent.server.routes.answers import refusals
from agent.server.services import Here
from agent.store import StoreError
from eval.databases.base import DatabaseError

router = APIRouter(tags=["status"])


@router.get("/health", responses=refusals())
async def health(here: Here) -> HealthReply:
    """What answers here. Needs no token and touches nothing."""
    settings = here.settings
    default = await here.presets.find("", None)
    return HealthReply(
        version=_version(),
        model=here.models.default_name,
        offline=settings.offline,
        score_threshold=settings.score_threshold,
        max_retries=settings.max_retries,
        dialect=default.reply.dialect,
        database=default.id,
        privacy=settings.privacy,
        auth=here.auth,
    )


@router.get(
    "/ready",
    response_model=ReadyReply,
    responses={**refusals(), 503: {"model": ReadyReply, "description": "Not ready: `checks` says why."}},
)
async def ready(here: Here, response: Response) -> ReadyReply:
    """Whether a question would be answered now. Needs no token."""
    checks = {"state": await _state(here), "database": await _database(here), "graph": here.warming.graph}
    is_ready = all(said == "ok" for said in checks.values())
    if not is_ready:
        response.status_code = 503
    return ReadyReply(ready=is_ready, checks=checks)


async def _state(here: Here) -> str:
    try:
        async with asyncio.timeout(5):
            await here.store.ping()
    except (StoreError, TimeoutError):
        return "the state database does not answer"
    return "ok"


async def _database(here: Here) -> str:
    try:
        async with asyncio.timeout(5):
            preset = await here.presets.find("", None)
            database = await preset.opened()
            await asyncio.to_thread(database.schema, ttl=here.settings.schema_cache_ttl)
    except TimeoutError:
        return "the default database has not answered yet"
    except DatabaseError:
        return "the default database cannot be opened"
    return "ok"


@router.get(
    "/metrics",
    response_class=PlainTextResponse,
    responses={200: {"content": {"text/plain": {"schema": {"type": "string"}}}}, **refusals()},
)
async def metrics(here: Here) -> Response:
    """Figures in Prometheus' text format."""
    return Response(exposition(), media_type=CONTENT_TYPE)


def _version() -> str:
    try:
        return version("text2sql")
    except PackageNotFoundError:
        return "from source"

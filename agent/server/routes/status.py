"""`/health` and `/ready`: whether the process is up, and whether it can answer questions."""

from __future__ import annotations

import asyncio
from importlib.util import find_spec
from typing import Literal

from fastapi import APIRouter, Response
from fastapi.responses import PlainTextResponse

from agent.server.errors import AGAIN_SECONDS
from agent.server.replies import Reply
from agent.server.routes.answers import refusals
from agent.server.services import CurrentServices
from agent.server.telemetry.metrics import CONTENT_TYPE, exposition
from agent.store import StoreError
from eval.databases.types import DatabaseError
from eval.version import VERSION

router = APIRouter(tags=["status"])

CHECK_SECONDS = 5


class HealthReply(Reply):
    status: Literal["ok"] = "ok"
    version: str
    model: str
    offline: bool
    """The built-in engine answers, because no model is configured."""
    score_threshold: float
    max_retries: int
    dialect: str
    database: str
    """The default preset."""
    privacy: str
    auth: bool
    """A bearer token is asked for."""
    lab: bool
    """There are runs of the lab to be shown, to those who may see them."""
    parquet: bool
    """Results can be saved as Parquet."""


class ReadyReply(Reply):
    ready: bool
    checks: dict[str, str]
    """`ok`, or what is wrong, for `state`, `database` and `graph`; `server` only while it is stopping."""
    worker: int | None = None
    """Number of the worker that says so, where there are several."""


@router.get("/health", responses=refusals())
async def health(services: CurrentServices) -> HealthReply:
    """What answers here. Needs no token and touches nothing."""
    settings = services.settings
    default = services.presets.default()
    return HealthReply(
        version=VERSION,
        model=services.models.default_name,
        offline=services.models.settings.offline,
        score_threshold=settings.judging.score_threshold,
        max_retries=settings.judging.max_retries,
        dialect=default.reply.dialect,
        database=default.id,
        privacy=settings.privacy.mode,
        auth=services.auth,
        lab=bool(settings.server.lab_dir),
        parquet=find_spec("pyarrow") is not None,
    )


@router.get(
    "/ready",
    response_model=ReadyReply,
    responses={**refusals(), 503: {"model": ReadyReply, "description": "Not ready: `checks` says why."}},
)
async def ready(services: CurrentServices, response: Response) -> ReadyReply:
    """Whether this process, one worker of the server, would answer a question now. Needs no token."""
    checks = {"state": "ok", "database": "ok", "graph": services.warming.graph}
    try:
        async with asyncio.timeout(CHECK_SECONDS):
            await services.store.ping()
    except (StoreError, TimeoutError):
        checks["state"] = "the state database takes no writes"
    try:
        async with asyncio.timeout(CHECK_SECONDS):
            database = await services.presets.default().opened()
            await asyncio.to_thread(database.schema, ttl=services.settings.database.schema_ttl)
    except TimeoutError:
        checks["database"] = "the default database has not answered yet"
    except DatabaseError:
        checks["database"] = "the default database cannot be opened"
    if services.runs.closing:
        checks["server"] = "is stopping and takes no further question"
    is_ready = all(state == "ok" for state in checks.values())
    if not is_ready:
        response.status_code = 503
        response.headers["Retry-After"] = str(AGAIN_SECONDS)
    return ReadyReply(ready=is_ready, checks=checks, worker=services.runs.instance.worker)


@router.get(
    "/metrics",
    response_class=PlainTextResponse,
    responses={200: {"content": {"text/plain": {"schema": {"type": "string"}}}}, **refusals()},
)
async def metrics(services: CurrentServices) -> Response:  # noqa: ARG001
    """Figures in Prometheus' text format."""
    return Response(exposition(), media_type=CONTENT_TYPE)

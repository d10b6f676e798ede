"""`/model`: the endpoint and the model that answer, for those who may choose them."""

from __future__ import annotations

from typing import Annotated
from urllib.parse import urlsplit

from fastapi import APIRouter
from pydantic import AfterValidator, BaseModel, Field

from agent.models.trial import tried
from agent.server.access import Client, CurrentClient
from agent.server.errors import ApiError
from agent.server.middleware.addresses import listed
from agent.server.models import KeptModel
from agent.server.replies import Reply
from agent.server.routes.answers import refusals
from agent.server.services import CurrentServices, Services
from agent.sources.connections import check_host
from agent.sources.errors import SourceRefused
from eval.databases import DatabaseUnreachable

router = APIRouter(tags=["model"])


_ADDRESS = r"^(?:https?://(?:[A-Za-z0-9][A-Za-z0-9._-]*|\[::1\])(?::[0-9]{1,4})?(?:/[A-Za-z0-9._~/-]*)?)?$"
"""What programs are told; `_address` also takes other forms that a URL may have."""


def _address(url: str | None) -> str | None:
    parts = urlsplit((url or "").strip())
    if not parts.geturl():
        return None
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.username or parts.password:
        raise ValueError("an endpoint's address begins with http:// or https:// and contains no password")
    return parts.geturl()


class ModelIn(BaseModel):
    base_url: Annotated[str | None, AfterValidator(_address)] = Field(
        None, max_length=2_000, json_schema_extra={"pattern": _ADDRESS}
    )
    """Any OpenAI-compatible server; None means OpenAI's own."""
    name: str = Field(min_length=1, max_length=200, pattern=r"^[\w./:@+ -]*$")
    api_key: str | None = Field(None, max_length=4_000)
    """None: the key in force, if the endpoint stays the same; empty: no key."""


class ModelReply(Reply):
    name: str
    base_url: str | None
    """Null for OpenAI's own, and for those who may not change it."""
    has_key: bool
    offline: bool
    """The built-in engine answers, because no model is configured."""
    kept: bool
    """It was chosen here, not by the server's environment."""
    may_change: bool


class TrialReply(Reply):
    ok: bool
    message: str
    seconds: float
    models: list[str]


@router.get("/model", responses=refusals())
async def model(services: CurrentServices, client: CurrentClient) -> ModelReply:
    """The model in force. Its key is never shown."""
    await services.models.refresh()
    return _reply(services, client)


@router.put("/model", responses=refusals())
async def choose_model(services: CurrentServices, client: CurrentClient, asked: ModelIn) -> ModelReply:
    """Choose the model for all questions from now on. The key is sealed in the state and leaves it only to be used."""
    _require(services, client)
    await _reachable(services, asked)
    await services.models.keep(_chosen(services, asked))
    return _reply(services, client)


@router.delete("/model", responses=refusals())
async def configured_model(services: CurrentServices, client: CurrentClient) -> ModelReply:
    """Go back to the model of the server's environment."""
    _require(services, client)
    await services.models.keep(None)
    return _reply(services, client)


@router.post("/model/test", responses=refusals())
async def try_model(services: CurrentServices, client: CurrentClient, asked: ModelIn) -> TrialReply:
    """Ask an endpoint for its models, and the model for one word. Nothing of a database is sent or kept."""
    _require(services, client)
    await _reachable(services, asked)
    return TrialReply.of(await tried(services.models.changed(_chosen(services, asked))))


def may_change(services: Services, client: Client) -> bool:
    """The names in TEXT2SQL_ADMINS; also the own machine's user, where nobody else can reach the server."""
    server = services.settings.server
    return client.name in listed(server.admins) or not (services.auth or server.auth == "off")


def _require(services: Services, client: Client) -> None:
    if not may_change(services, client):
        raise ApiError(403, "The model is chosen by those whom TEXT2SQL_ADMINS names.")


async def _reachable(services: Services, asked: ModelIn) -> None:
    """Raises ApiError 403 for an endpoint at a host that may not be chosen; the environment's own always may."""
    parts = urlsplit(asked.base_url or "")
    if not parts.hostname or services.models.is_configured(asked.base_url):
        return
    try:
        port = parts.port or (443 if parts.scheme == "https" else 80)
        await check_host(parts.hostname, port, services.settings.server.model_hosts)
    except (SourceRefused, DatabaseUnreachable, ValueError) as error:
        message = f"This endpoint cannot be chosen: {error}. TEXT2SQL_MODEL_HOSTS lists the hosts that may be."
        raise ApiError(403, message) from None


def _chosen(services: Services, asked: ModelIn) -> KeptModel:
    """A key in force stays with its endpoint: it is never sent to another one."""
    now = services.models.settings
    key = asked.api_key
    if key is None and now.api_key and (asked.base_url or "") == (now.base_url or ""):
        key = now.api_key.get_secret_value()
    return KeptModel(base_url=asked.base_url, name=asked.name.strip(), api_key=key or None)


def _reply(services: Services, client: Client) -> ModelReply:
    settings, may = services.models.settings, may_change(services, client)
    return ModelReply(
        name=services.models.default_name,
        base_url=settings.base_url if may else None,
        has_key=bool(settings.api_key and settings.api_key.get_secret_value()),
        offline=settings.offline,
        kept=services.models.kept,
        may_change=may,
    )

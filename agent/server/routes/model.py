"""`/model`: the endpoint and the model that answer, for those who may choose them."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from dataclasses import asdict
from typing import Annotated, Literal
from urllib.parse import urlsplit

from fastapi import APIRouter
from pydantic import AfterValidator, BaseModel, Field

from agent.inspection.model_probe import probed
from agent.models.discovery import PORTS, servers_here
from agent.models.protocol import ModelError
from agent.runtime.catalogue import DEFAULT_DEMO, resolve_database
from agent.runtime.preparation import judging_with
from agent.server.errors import ApiError
from agent.server.middleware.addresses import listed
from agent.server.models import KeptModel
from agent.server.replies import Reply
from agent.server.routes.answers import refusals
from agent.server.services import ClientServices, Here, Services
from agent.sources import SourceRefused
from agent.sources.connections import check_host
from agent.strategies import STRATEGIES, SWITCHES, strategy
from eval.databases import DatabaseUnreachable

router = APIRouter(tags=["model"])


_ADDRESS = r"^(?:https?://(?:[A-Za-z0-9][A-Za-z0-9._-]*|\[::1\])(?::[0-9]{1,4})?(?:/[A-Za-z0-9._~/-]*)?)?$"
"""What programs are told; `_address` also takes other forms that a URL may have."""


_NAME = r"^[\w./:@+ -]*$"


_STRATEGY = rf"^(?:(?:{'|'.join(STRATEGIES)})(?:/(?:no-)?(?:{'|'.join(SWITCHES)}))*)?$"
"""What programs are told; `strategy` also takes numbers and other spellings."""


def _address(url: str | None) -> str | None:
    parts = urlsplit((url or "").strip())
    if not parts.geturl():
        return None
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.username or parts.password:
        raise ValueError("an endpoint's address begins with http:// or https:// and contains no password")
    return parts.geturl()


class EndpointIn(BaseModel):
    base_url: Annotated[str | None, AfterValidator(_address)] = Field(
        None, max_length=2_000, json_schema_extra={"pattern": _ADDRESS}
    )
    """Any OpenAI-compatible server; None means OpenAI's own."""
    name: str = Field("", max_length=200, pattern=_NAME)
    """Empty: the first model that the endpoint lists."""
    api_key: str | None = Field(None, max_length=4_000)
    """None: the key in force, if the endpoint stays the same; empty: no key."""


class ModelIn(EndpointIn):
    name: str = Field(min_length=1, max_length=200, pattern=_NAME)
    strategy: Annotated[str | None, AfterValidator(lambda name: strategy(name).name if name else None)] = Field(
        None, max_length=200, json_schema_extra={"pattern": _STRATEGY}
    )
    """How questions are worked on with it; None: as the server is configured."""


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
    strategy: str
    """How questions are worked on."""


class ServerReply(Reply):
    base_url: str
    kind: str
    """`Ollama`, `LM Studio`, `llama.cpp` or `vLLM`, if it says so; else empty."""
    models: list[str]


class TrialReply(Reply):
    ok: bool
    message: str
    """What the model said, or why it did not answer."""
    seconds: float
    models: list[str]
    name: str
    """The model that was tried; empty where none was named and none is listed."""
    server: str
    context_tokens: int | None
    """Tokens that the model reads at once, where its server says so."""
    first_token_seconds: float | None
    tokens_per_second: float | None
    structured: bool | None
    """Whether it keeps to a JSON schema."""
    copies_example: bool | None
    """Whether it replies with the example of its prompt."""
    asked: int
    """Questions about the demo database whose answer is known."""
    right: int
    """Of these, those that it answered with the right rows."""
    query_seconds: float | None
    judges: bool | None
    """Whether it marks right queries above plainly wrong ones."""
    strategy: str
    """The recommended one; `offline`: the built-in engine serves better."""
    reason: str


class LocalModelReply(Reply):
    name: str
    title: str
    licence: str
    size: int
    """Bytes of the file."""
    memory: int
    """Bytes that it takes while it answers."""
    accuracy: float | None
    """0..1: how many questions of Spider's development set it answers right; null: not measured."""
    seconds: float | None
    """Of a question, in the middle, on one core; null: not measured."""
    state: Literal["absent", "fetching", "fetched"]
    bytes: int
    """That are there; the next download goes on with them."""
    problem: str
    """Why the last download failed; else empty."""
    needs: str
    """What has to be installed on the server's machine to run it; empty: nothing."""


class LocalModelIn(BaseModel):
    name: str = Field(max_length=200, pattern=_NAME)


@router.get("/model", responses=refusals())
async def model(here: Here) -> ModelReply:
    """The model in force. Its key is never shown."""
    await here.models.refresh()
    return await _reply(here)


@router.put("/model", responses=refusals())
async def choose_model(here: Here, asked: ModelIn) -> ModelReply:
    """Choose the model for all questions from now on. The key is sealed in the state and leaves it only to be used."""
    _require(here)
    await _reachable(here, asked)
    await here.models.keep(_chosen(here, asked))
    return await _reply(here)


@router.delete("/model", responses=refusals())
async def configured_model(here: Here) -> ModelReply:
    """Go back to the model of the server's environment."""
    _require(here)
    await here.models.keep(None)
    return await _reply(here)


@router.post("/model/test", responses=refusals())
async def try_model(here: Here, asked: EndpointIn) -> TrialReply:
    """Try what a model is good for, on the demo database, and recommend a strategy. At most 13 short calls, none begun
    after three minutes. Nothing of other databases is sent, and nothing is kept."""
    _require(here)
    await _reachable(here, asked)
    settings = here.settings
    demo = await asyncio.to_thread(resolve_database, DEFAULT_DEMO, settings.database, whole=True)
    probe = await probed(here.models.changed(_chosen(here, asked)), demo, settings.privacy.mode)
    return TrialReply(**asdict(probe.trial), **asdict(probe))


@router.get("/model/servers", responses=refusals())
async def model_servers(here: Here) -> list[ServerReply]:
    """The model servers on the server's own machine, at their default ports; those that may be chosen."""
    _require(here)
    try:
        await check_host("127.0.0.1", next(iter(PORTS)), here.settings.server.model_hosts)
    except (SourceRefused, DatabaseUnreachable):
        return []
    return [ServerReply.of(server) for server in await servers_here()]


@router.get("/model/local", responses=refusals())
async def local_models(here: Here) -> list[LocalModelReply]:
    """The small models that can be fetched to the server's own machine and answer there, and how far they have come.
    None where TEXT2SQL_LOCAL_MODEL is `off`."""
    _require(here)
    return await asyncio.to_thread(_local_models, here)


@router.post("/model/local", responses=refusals(404))
async def get_local_model(here: Here, asked: LocalModelIn) -> list[LocalModelReply]:
    """Begin to download a model, or go on with it. Once it is there, it answers where no other model is configured."""
    _require(here)
    if asked.name not in {known.name for known in await asyncio.to_thread(_local_models, here)}:
        raise ApiError(404, "There is no such model; GET /model/local lists those there are.")
    from agent.models.local.download import get_model, model_named, state_of

    wanted, folder = model_named(asked.name), here.settings.model.models_folder

    def get() -> None:
        with contextlib.suppress(ModelError):  # what it says is kept beside the file
            get_model(wanted, folder)

    def begin() -> list[LocalModelReply]:
        thread = threading.Thread(target=get, name="model-get", daemon=True)  # what has come outlives it
        thread.start()
        while thread.is_alive() and state_of(wanted, folder).state == "absent":
            thread.join(0.02)
        return _local_models(here)

    return await asyncio.to_thread(begin)


@router.delete("/model/local", responses=refusals())
async def stop_local_model(here: Here) -> list[LocalModelReply]:
    """Stop the download that is under way, in whatever process. What has come stays for the next one."""
    from agent.models.local.download import model_named, stop_getting

    _require(here)
    for known in await asyncio.to_thread(_local_models, here):
        await asyncio.to_thread(stop_getting, model_named(known.name), here.settings.model.models_folder)
    return await asyncio.to_thread(_local_models, here)


def _local_models(services: Services) -> list[LocalModelReply]:
    from agent.models.local.download import CATALOGUE, state_of
    from agent.models.local.serving import INSTALL

    settings = services.settings.model
    if (settings.local_model or "").strip().lower() == "off":
        return []
    needs = "" if settings.server_program else INSTALL
    try:
        states = [(known, state_of(known, settings.models_folder)) for known in CATALOGUE]
    except OSError as error:
        raise ApiError(503, f"The folder of models cannot be read: {error}.") from None
    return [LocalModelReply(**asdict(known), **asdict(state), needs=needs) for known, state in states]


def may_change(here: ClientServices) -> bool:
    """The names in TEXT2SQL_ADMINS; also the own machine's user, where nobody else can reach the server."""
    server = here.settings.server
    return here.client.name in listed(server.admins) or not (here.auth or server.auth == "off")


def _require(here: ClientServices) -> None:
    if not may_change(here):
        raise ApiError(403, "The model is chosen by those whom TEXT2SQL_ADMINS names.")


async def _reachable(services: Services, asked: EndpointIn) -> None:
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


def _chosen(services: Services, asked: EndpointIn) -> KeptModel:
    """A key in force stays with its endpoint: it is never sent to another one."""
    now = services.models.settings
    key = asked.api_key
    if key is None and now.api_key and (asked.base_url or "") == (now.base_url or ""):
        key = now.api_key.get_secret_value()
    kept = KeptModel(base_url=asked.base_url, name=asked.name.strip(), api_key=key or None)
    return kept.model_copy(update={"strategy": asked.strategy}) if isinstance(asked, ModelIn) else kept


async def _reply(here: ClientServices) -> ModelReply:
    settings, may = here.models.settings, may_change(here)
    name = here.models.default_name
    return ModelReply(
        name=name,
        base_url=settings.base_url if may else None,
        has_key=bool(settings.api_key and settings.api_key.get_secret_value()),
        offline=settings.offline,
        kept=here.models.kept,
        may_change=may,
        strategy=(await judging_with(here.models.in_force(here.settings), name)).strategy,
    )

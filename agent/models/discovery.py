"""Model servers: which of them run on this machine, which models a server lists, how many tokens a model reads.

In: nothing but the known ports, or the address of a server. Out: `ModelServer`s. A server is named after what it says
of itself; a port proves nothing. Only loopback is searched, and a server that says nothing in time is not there.
"""

from __future__ import annotations

import asyncio
import logging
import re
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from importlib import import_module
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit, urlunsplit

if TYPE_CHECKING:
    import httpx2

    from agent.config import ModelSettings

log = logging.getLogger(__name__)

PORTS = {11434: "Ollama", 1234: "LM Studio", 8080: "llama.cpp", 8000: "vLLM"}
"""The default port of each kind of server."""
SECONDS = 1.5
"""Time in which a server on this machine says that it is there."""
MOST_MODELS = 500
MOST_NAME = 400
_OWNERS = {"library": "Ollama", "organization_owner": "LM Studio", "llamacpp": "llama.cpp", "vllm": "vLLM"}
"""What servers give as the owner of their models."""
_EMBEDS = re.compile(r"embed|rerank|whisper|tts", re.IGNORECASE)
"""Models that write no text, by their names."""
SMALL = 9e9
"""Weights up to which a model is small: it writes a query better than it plans, judges or summarises."""
_WEIGHTS = re.compile(r"(?<![\w.])(\d{1,3}(?:\.\d{1,2})?)\s?b(?![a-z0-9])", re.IGNORECASE)
"""How many thousand million weights a model has, in its name: `qwen2.5-coder:7b`."""
_NUM_CTX = re.compile(r"^num_ctx\s+(\d+)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class ModelServer:
    base_url: str
    kind: str
    """As it says itself: `Ollama`, `LM Studio`, `llama.cpp`, `vLLM`; else empty."""
    models: tuple[str, ...]
    """In the order in which it lists them, those that write no text last."""
    context: Mapping[str, int] = field(default_factory=dict)
    """Tokens that a model reads at once, where the list says so."""
    weights: Mapping[str, int] = field(default_factory=dict)
    """How many weights a model has, where the list says so."""


async def servers_here(ports: Iterable[int] = tuple(PORTS)) -> tuple[ModelServer, ...]:
    """The servers on this machine that list models, asked side by side."""
    await asyncio.to_thread(import_module, "agent.models.connections")  # a second of imports, off the event loop
    from agent.models.connections import http_client

    async def in_time(port: int) -> ModelServer | None:
        try:
            async with asyncio.timeout(SECONDS):
                return await server_at(client, f"http://127.0.0.1:{port}/v1")
        except TimeoutError:
            return None

    async with http_client(SECONDS) as client:
        found = await asyncio.gather(*map(in_time, ports))
    return tuple(server for server in found if server is not None and server.models)


async def server_at(
    client: httpx2.AsyncClient, base_url: str, headers: Mapping[str, str] | None = None
) -> ModelServer | None:
    """What a server says of itself in its list of models; None where it has none. Never raises but for cancellation."""
    try:
        response = await client.get(_path(base_url, "/models"), headers=headers)
        return _listing(base_url, response) if response.status_code == 200 else None
    except Exception as error:  # noqa: BLE001 (whatever is at this address, it is no list of models)
        log.info("No list of models at %s: %s", base_url, type(error).__name__)
        return None


def _listing(base_url: str, response: Any) -> ModelServer | None:
    """Raises ValueError for what is no JSON."""
    body = response.json()
    entries = body.get("data") if isinstance(body, dict) else None
    named = [e for e in entries if isinstance(e, dict) and _name(e)] if isinstance(entries, list) else None
    if named is None:
        return None
    named = sorted(named[:MOST_MODELS], key=lambda e: _EMBEDS.search(_name(e)) is not None)
    kinds = [_OWNERS.get(str(e.get("owned_by", "")).lower(), "") for e in named]
    says = response.headers.get("server", "").lower()
    kind = next(filter(None, kinds), "") or next((kind for kind in PORTS.values() if kind.lower() in says), "")
    context = {_name(e): size for e in named if (size := _size(e.get("max_model_len")))}
    told = {_name(e): meta for e in named if isinstance(meta := e.get("meta"), dict)}  # llama.cpp's
    weights = {name: n for name, meta in told.items() if isinstance(n := meta.get("n_params"), int)}
    return ModelServer(base_url, kind, tuple(dict.fromkeys(map(_name, named))), context, weights)


def _name(entry: Mapping[str, Any]) -> str:
    name = entry.get("id")
    return shown(name) if isinstance(name, str) else ""


async def context_tokens(
    client: httpx2.AsyncClient, server: ModelServer | None, model: str, headers: Mapping[str, str] | None = None
) -> int | None:
    """Tokens that a model reads at once; None where its server does not say. Ollama says so of a model that is
    loaded, thus after a first call."""
    if server is None:
        return None
    if model in server.context:
        return server.context[model]
    try:
        if server.kind == "llama.cpp":
            props = (await client.get(_root(server.base_url, "/props"), headers=headers)).json()
            return _size(props.get("default_generation_settings", {}).get("n_ctx"))
        if server.kind == "LM Studio":
            said = (await client.get(_root(server.base_url, f"/api/v0/models/{model}"))).json()
            return _size(said.get("loaded_context_length"))
        if server.kind == "Ollama":
            running = (await client.get(_root(server.base_url, "/api/ps"))).json().get("models", [])
            for one in running:
                if model in (one.get("name"), one.get("model")) and (size := _size(one.get("context_length"))):
                    return size
            told = (await client.post(_root(server.base_url, "/api/show"), json={"model": model})).json()
            set_there = _NUM_CTX.search(str(told.get("parameters", "")))
            return _size(int(set_there[1])) if set_there else None
    except Exception as error:  # noqa: BLE001 (a size that cannot be read is not known)
        log.info("No context size of %s: %s", model, type(error).__name__)
    return None


@lru_cache(maxsize=64)
def _listed(base_url: str, key: str) -> ModelServer:
    """What the server lists. Raises LookupError where that is nothing, which is asked again."""
    import httpx2

    from agent.models.calls import DIRECT

    try:
        with httpx2.Client(timeout=SECONDS, follow_redirects=False, mounts=DIRECT) as client:
            headers = {"Authorization": f"Bearer {key}"} if key else {}
            response = client.get(_path(base_url, "/models"), headers=headers)
            server = _listing(base_url, response) if response.status_code == 200 else None
    except (httpx2.HTTPError, ValueError, AttributeError) as error:
        raise LookupError(base_url) from error
    if server is None or not server.models:
        raise LookupError(base_url)
    return server


def address_and_key(settings: ModelSettings) -> tuple[str, str]:
    """Both may be empty."""
    key = settings.api_key.get_secret_value().strip() if settings.api_key else ""
    return (settings.base_url or "").strip().rstrip("/"), key


AGAIN = 5.0
"""Seconds for which an endpoint that listed nothing is not asked again."""
_silent: dict[str, float] = {}
"""By address, until when."""


def _listed_at(settings: ModelSettings) -> ModelServer | None:
    """What the endpoint lists; None where that is nothing. Blocks for SECONDS at most, and once for an endpoint."""
    address, key = address_and_key(settings)
    if time.monotonic() < _silent.get(address, 0.0):
        return None
    try:
        return _listed(address, key)
    except LookupError:
        _silent[address] = time.monotonic() + AGAIN
        return None


async def small(settings: ModelSettings) -> bool:
    """Whether the model has at most `SMALL` weights: the one that was fetched, one whose name says so, or as a server
    on this machine says that lists it."""
    if settings.local is not None and settings.local.stem == settings.name:
        return True
    if named := _WEIGHTS.search(settings.name):
        return float(named[1]) * 1e9 <= SMALL
    if urlsplit(address_and_key(settings)[0]).hostname not in ("localhost", "127.0.0.1", "::1"):
        return False
    if (server := await asyncio.to_thread(_listed_at, settings)) is None:
        return False
    weights = server.weights.get(settings.name)
    if weights is None and len(server.weights) == 1:  # llama.cpp serves its one model under any name
        (weights,) = server.weights.values()
    return weights is not None and weights <= SMALL


def named(settings: ModelSettings) -> tuple[ModelSettings, str]:
    """The settings with a model, and a sentence for the user if it was not theirs to name: where an endpoint is set and
    no model, it is the first one that the endpoint lists, or an empty name where it lists none, which calls then say.
    Blocks for SECONDS at most, and once for an endpoint."""
    if settings.has_model:
        return settings, ""
    if (server := _listed_at(settings)) is None:
        return settings.model_copy(update={"name": ""}), ""
    models = server.models
    place = "the only one" if len(models) == 1 else f"the first of {len(models)}"
    note = f"No model is set (TEXT2SQL_MODEL), so {models[0]} answers, {place} that the endpoint lists."
    return settings.model_copy(update={"name": models[0]}), note


def shown(text: str) -> str:
    """What a server says, in one short line without control characters."""
    return "".join(c if c.isprintable() else " " for c in text[:MOST_NAME])


def _size(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 < value < 100_000_000 else None


def _path(base_url: str, path: str) -> str:
    parts = urlsplit(base_url)
    return urlunsplit(parts._replace(path=parts.path.rstrip("/") + path))


def _root(base_url: str, path: str) -> str:
    return urlunsplit(urlsplit(base_url)._replace(path=path, query=""))

"""Addresses, Host headers and paths, read strictly: what is not plainly harmless counts as the worse case."""

from __future__ import annotations

import ipaddress
from collections.abc import Callable
from functools import lru_cache

from starlette.types import ASGIApp, Receive, Scope, Send

from agent.server.errors import refuse

_PROXY_HEADERS = frozenset(
    {
        b"cf-connecting-ip",
        b"fly-client-ip",
        b"forwarded",
        b"true-client-ip",
        b"via",
        b"x-client-ip",
        b"x-cluster-client-ip",
        b"x-envoy-external-address",
        b"x-original-forwarded-for",
        b"x-real-ip",
    }
)

PLACES = (
    "/", "/t/{thread_id}", "/r/{run_id}", "/d/{preset_id}", "/data/{preset_id}", "/data/{preset_id}/{view}",
    "/q/{preset_id}", "/b", "/b/{board}", "/s/{share}", "/k/{kept}", "/lab", "/activity",
)  # fmt: skip
"""The page's own addresses: threads, runs, a database to ask, the data and its views, SQL without a
question, boards, a board that is shared, a kept answer, the lab's runs, what runs, ran and is scheduled."""
_OPEN_PATHS = frozenset(
    {
        *(place for place in PLACES if "{" not in place),
        "/health",
        "/ready",
        "/.well-known/agent.json",
        "/.well-known/agent-card.json",
        "/index.html",
        "/favicon.ico",
        "/favicon.svg",
        "/icon.svg",
    }
)
_OPEN_FOLDERS = ("/assets/", *(place.partition("{")[0] for place in PLACES if "{" in place))
"""The page's files, and the addresses that the page itself makes; all of them hold no data."""


def listed(text: str | None) -> frozenset[str]:
    """The parts of a setting that are separated by commas."""
    return frozenset(part.strip() for part in (text or "").split(",") if part.strip())


@lru_cache(maxsize=1024)
def is_loopback(host: str) -> bool:
    """Whether this is the address of the machine itself: 127.0.0.0/8, ::1, or one mapped into IPv6. Names are not."""
    try:
        address = ipaddress.ip_address(host.strip("[]"))
    except ValueError:
        return False
    mapped = getattr(address, "ipv4_mapped", None)
    return (mapped or address).is_loopback


def peer(scope: Scope) -> str:
    """The address that the request came from; empty where there is none (a socket file)."""
    client = scope.get("client")
    return str(client[0]) if client and client[0] else ""


def is_local(scope: Scope) -> bool:
    """Whether the request was made on this machine and directly."""
    proxied = any(name in _PROXY_HEADERS or name.startswith(b"x-forwarded-") for name, _ in scope["headers"])
    return is_loopback(peer(scope)) and not proxied


def header_values(scope: Scope, name: bytes) -> list[bytes]:
    return [value for key, value in scope["headers"] if key == name]


@lru_cache(maxsize=1024)
def host_name(value: bytes) -> str | None:
    """The name or address in a Host header, lower case and without port or brackets; None if it is malformed."""
    try:
        text = value.decode("ascii").strip().lower()
    except UnicodeDecodeError:
        return None
    if text.startswith("["):
        name, closed, rest = text[1:].partition("]")
        port = rest[1:] if rest.startswith(":") else rest
        good = bool(closed) and (not rest or rest.startswith(":"))
    else:
        name, _, port = text.partition(":")
        name = name.removesuffix(".")
        good = bool(name) and all(c.isalnum() or c in "-._" for c in name)
    if not good or (port and not port.isdecimal()):
        return None
    return name


def is_open(scope: Scope) -> bool:
    """Whether anybody may read this: liveness, agent cards, and the page with its files. Reading only, and only by a
    path that can be read in one way: no dot segments, empty segments, backslashes or encoded separators."""
    if scope["method"] not in ("GET", "HEAD"):
        return False
    path, root = scope["path"], scope.get("root_path", "")
    path = path[len(root) :] if root and path.startswith(root + "/") else path
    if path not in _OPEN_PATHS and not path.startswith(_OPEN_FOLDERS):
        return False
    raw: bytes = scope.get("raw_path") or scope["path"].encode()
    segments = path.split("/")[1:]
    return (
        raw.count(b"/") == scope["path"].count("/")
        and "\\" not in path
        and path.isprintable()
        and not {".", ".."}.intersection(segments)
        and all(segments[:-1])
    )


class Below:
    """Addresses below a path of a proxy (`/ask/query`), whether the proxy takes that path away or not."""

    def __init__(self, app: ASGIApp, *, path: str) -> None:
        self._app = app
        self._path = path

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and f"{scope['path']}/".startswith(f"{self._path}/"):
            raw = scope.get("raw_path") or scope["path"].encode()
            own = {"path": scope["path"][len(self._path) :] or "/", "raw_path": raw[len(self._path.encode()) :] or b"/"}
            scope = {**scope, **own}
        await self._app(scope, receive, send)


class OriginCheck:
    """Checks of the Host and Origin headers, against DNS rebinding and cross-site requests. Where no token is `needed`,
    an attacker would use the browser on this machine, so Host must name this machine. Origin must be the server's own
    or an allowed one."""

    def __init__(
        self, app: ASGIApp, *, needed: Callable[[Scope], bool], hosts: frozenset[str], origins: frozenset[str]
    ) -> None:
        self._app = app
        self._needed = needed
        self._hosts = frozenset(host.lower() for host in hosts)
        self._origins = origins

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and (message := self._problem(scope)):
            await refuse(scope, receive, send, 403, message)
            return
        await self._app(scope, receive, send)

    def _problem(self, scope: Scope) -> str | None:
        hosts = header_values(scope, b"host")
        if len(hosts) > 1:
            return "There is more than one Host header."
        host = hosts[0] if hosts else b""
        name = host_name(host)
        own = name is not None and (name == "localhost" or is_loopback(name) or name in self._hosts)
        if (self._hosts or not self._needed(scope)) and not own:
            return (
                "The Host header names another machine. Call the server as localhost or 127.0.0.1, or add the name to "
                "TEXT2SQL_SERVER_HOSTS."
            )
        origins = header_values(scope, b"origin")
        if len(origins) > 1:
            return "There is more than one Origin header."
        if origins:
            text = origins[0].decode("latin-1")
            scheme, separator, netloc = text.partition("://")
            same = bool(separator) and scheme in ("http", "https") and netloc.lower().encode("latin-1") == host.lower()
            if not (same and host) and text not in self._origins:
                return "Pages of another origin may not use this server; TEXT2SQL_CORS_ORIGINS can allow one."
        return None

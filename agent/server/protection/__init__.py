"""What stands in front of every route: who may ask, from where, how much, and what every answer carries.

In: the app and the settings. Out: the app behind plain ASGI layers, none of which holds a stream back. From the outside
in: `answering` (request id, security headers, failures), `observing` (log line, metrics), `origins` (Host and Origin),
CORS, `tokens` (who is asking), `rates` (how often, how much at once), `bodies` (size and pace). A request that one of
them refuses reaches nothing further in; WebSockets reach nothing at all.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent.server.protection.addresses import is_loopback, listed
from agent.server.protection.tokens import Tokens, TokensInvalid

if TYPE_CHECKING:
    from fastapi import FastAPI

    from agent.config import Settings

__all__ = ["TokensInvalid", "host_problem", "protect", "uvicorn_options"]

MAX_HEAD = 32 * 1024
"""Bytes of a request line and its headers."""

_CORS_REQUEST = [
    "Authorization",
    "Content-Type",
    "Last-Event-ID",
    "X-Request-ID",
    "A2A-Version",
    "Mcp-Protocol-Version",
    "Mcp-Session-Id",
]
_CORS_EXPOSED = [
    "Content-Disposition",
    "Mcp-Session-Id",
    "Retry-After",
    "WWW-Authenticate",
    "X-Request-ID",
    "X-Run-ID",
    "X-Thread-ID",
]


def protect(app: FastAPI, settings: Settings, *, max_upload: int | None = None) -> None:
    """Put the layers in front of `app`; call once, before it serves. `max_upload`: bytes of a `POST /databases/upload`,
    default the limit of every body. Raises TokensInvalid, or ValueError for an origin that is none."""
    from starlette.middleware.cors import CORSMiddleware

    from agent.server.observing.requests import ObserveRequests
    from agent.server.protection.answering import Answering
    from agent.server.protection.bodies import Bodies
    from agent.server.protection.origins import Origins
    from agent.server.protection.rates import Rates
    from agent.server.protection.tokens import WhoIsAsking

    tokens = Tokens.of(settings)
    origins = _cors_origins(settings)
    # The layer added last is the outermost.
    app.add_middleware(
        Bodies, limit=settings.max_body, upload_limit=max_upload or settings.max_body, seconds=settings.body_seconds
    )
    app.add_middleware(Rates, per_minute=settings.rate_per_minute, at_once=settings.requests_at_once)
    app.add_middleware(WhoIsAsking, tokens=tokens)
    if origins:
        app.add_middleware(
            CORSMiddleware,
            allow_origins=sorted(origins),
            allow_methods=["GET", "POST", "DELETE"],
            allow_headers=_CORS_REQUEST,
            expose_headers=_CORS_EXPOSED,
        )
    app.add_middleware(Origins, tokens=tokens, hosts=listed(settings.server_hosts), origins=origins)
    app.add_middleware(ObserveRequests)
    app.add_middleware(Answering, max_head=MAX_HEAD)


def host_problem(host: str, settings: Settings) -> str | None:
    """Why a server may not listen at this address, in a sentence; None when it may."""
    try:
        tokens = Tokens.of(settings)
    except TokensInvalid as error:
        return str(error)
    if settings.auth == "required" and not tokens:
        return "TEXT2SQL_AUTH is `required`, but there is no token: set TEXT2SQL_TOKENS=name=token."
    if tokens or settings.auth == "off" or is_loopback(host) or host.lower().rstrip(".") == "localhost":
        return None
    return (
        f"{host} is reachable from other machines, and nobody would be asked for a token: set "
        "TEXT2SQL_TOKENS=name=token, or listen at 127.0.0.1."
    )


def uvicorn_options() -> dict[str, object]:
    """Keyword arguments for `uvicorn.run` that bound what reaches the app: the size and pace of a head, no WebSockets.

    Proxy headers are not trusted: behind a proxy the peer stays the proxy, and everybody shows a token.
    """
    from agent.server.protection.heads import TimedHeads

    return {
        "http": TimedHeads,
        "ws": "none",
        "h11_max_incomplete_event_size": MAX_HEAD,
        "proxy_headers": False,
        "server_header": False,
        "access_log": False,
        "log_config": None,
    }


def _cors_origins(settings: Settings) -> frozenset[str]:
    from urllib.parse import urlsplit

    origins = frozenset(origin.rstrip("/") for origin in listed(settings.cors_origins))
    for origin in origins:
        parts = urlsplit(origin)
        if parts.scheme not in ("http", "https") or not parts.hostname or f"{parts.scheme}://{parts.netloc}" != origin:
            raise ValueError(f"TEXT2SQL_CORS_ORIGINS: {origin!r} is no origin; write it like https://host:port.")
    return origins

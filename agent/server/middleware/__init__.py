"""The layers in front of every route: authentication, origin checks, limits, and the headers of every response.

In: the app and the settings. Out: the app behind plain ASGI layers, none of which buffers a stream. From the outside
in: `responses` (request id, security headers, internal errors), `telemetry` (log line, metrics), `OriginCheck` (Host
and Origin), CORS, `tokens` (authentication), `request_limits` (requests per minute and at once, then size and time of
the body). A request that one layer refuses reaches no layer behind it. WebSockets are always refused.
"""

from __future__ import annotations

from urllib.parse import urlsplit

from fastapi import FastAPI
from starlette.middleware.cors import CORSMiddleware

from agent.config import DatabaseSettings, ServerSettings
from agent.server.middleware.addresses import Below, OriginCheck, is_loopback, listed
from agent.server.middleware.request_limits import BodyLimit, Limits, RateLimit
from agent.server.middleware.responses import ResponseHeaders
from agent.server.middleware.tokens import Authentication, Tokens, TokensInvalid

__all__ = ["TokensInvalid", "host_problem", "protect", "uvicorn_options"]

MAX_HEADER_BYTES = 32 * 1024
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


def protect(
    app: FastAPI,
    settings: ServerSettings,
    *,
    tokens: Tokens | None = None,
    max_upload: int | None = None,
    limits: Limits | None = None,
    below: str = "",
) -> None:
    """Put the layers in front of `app`; call it once, before the app serves. `max_upload`: limit for the body of
    `POST /databases/upload` in bytes, by default the limit of every body. `tokens`, `limits`: those of
    the clients, if others read them or count with them. `below`: a path that a proxy may leave in front of each
    address. Raises TokensInvalid, or ValueError for an invalid origin."""
    from agent.server.telemetry import RequestTelemetry

    tokens = tokens or Tokens.of(settings)
    origins = frozenset(origin.rstrip("/") for origin in listed(settings.cors_origins))
    for origin in origins:
        parts = urlsplit(origin)
        if parts.scheme not in ("http", "https") or not parts.hostname or f"{parts.scheme}://{parts.netloc}" != origin:
            raise ValueError(f"TEXT2SQL_CORS_ORIGINS: {origin!r} is no origin; write it like https://host:port.")
    # The layer added last is the outermost.
    app.add_middleware(
        BodyLimit, limit=settings.max_body, upload_limit=max_upload or settings.max_body, seconds=settings.body_seconds
    )
    limits = limits or Limits(settings)
    app.add_middleware(RateLimit, limits=limits)
    app.add_middleware(Authentication, tokens=tokens, limits=limits)
    if origins:
        app.add_middleware(
            CORSMiddleware,
            allow_origins=sorted(origins),
            allow_methods=["GET", "POST", "PUT", "PATCH", "DELETE"],
            allow_headers=_CORS_REQUEST,
            expose_headers=_CORS_EXPOSED,
        )
    app.add_middleware(OriginCheck, needed=tokens.needed, hosts=listed(settings.hosts), origins=origins)
    app.add_middleware(RequestTelemetry)
    app.add_middleware(ResponseHeaders, max_header_bytes=MAX_HEADER_BYTES)
    if below:
        app.add_middleware(Below, path=below)


def host_problem(host: str, settings: ServerSettings, database: DatabaseSettings | None = None) -> str | None:
    """Why a server may not listen at this address, in a sentence; None when it may."""
    try:
        tokens = Tokens.of(settings, database)
    except TokensInvalid as error:
        return str(error)
    if settings.auth == "required" and not tokens:
        return "TEXT2SQL_AUTH is `required`, but there is no token: set TEXT2SQL_TOKENS=name=token."
    if tokens or settings.auth == "off" or is_loopback(host) or host.lower().rstrip(".") == "localhost":
        return None
    return (
        f"{host} is reachable from other machines, and no token would be required: set "
        "TEXT2SQL_TOKENS=name=token, or listen at 127.0.0.1."
    )


def uvicorn_options() -> dict[str, object]:
    """Keyword arguments for `uvicorn.run` that limit what reaches the app: size and time of the headers, no WebSockets.

    Proxy headers are not trusted: behind a proxy, the peer is the proxy, and every client needs a token.
    """
    from agent.server.middleware.header_timeout import HeaderTimeoutProtocol

    return {
        "http": HeaderTimeoutProtocol,
        "ws": "none",
        "h11_max_incomplete_event_size": MAX_HEADER_BYTES,
        "proxy_headers": False,
        "server_header": False,
        "access_log": False,
        "log_config": None,
    }

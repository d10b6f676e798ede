"""The layers in front of every route: authentication, origin checks, limits, and the headers of every response.

In: the app and the settings. Out: the app behind plain ASGI layers, none of which buffers a stream. From the outside
in: `ResponseHeaders` (request id, security headers, internal errors), `telemetry` (log line, metrics), `OriginCheck`
(Host and Origin), CORS, `tokens` (authentication), `request_limits` (requests per minute and at once, then size and
time of the body). A request that one layer refuses reaches no layer behind it. WebSockets are always refused.
"""

from __future__ import annotations

import logging
import re
import uuid
from urllib.parse import urlsplit

import structlog
from fastapi import FastAPI
from starlette.middleware.cors import CORSMiddleware
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from agent.config import DatabaseSettings, ServerSettings
from agent.server.errors import refuse
from agent.server.middleware.addresses import Below, OriginCheck, header_values, is_loopback, is_open, listed
from agent.server.middleware.request_limits import BodyLimit, Limits, RateLimit
from agent.server.middleware.tokens import Authentication, Tokens, TokensInvalid

__all__ = ["TokensInvalid", "host_problem", "protect", "uvicorn_options"]

log = logging.getLogger(__name__)

MAX_HEADER_BYTES = 32 * 1024
"""Bytes of a request line and its headers."""
MAX_URL = 8 * 1024
"""Bytes of a path and query."""
MAX_HEADERS = 100

_VALID_ID = re.compile(rb"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")

CONTENT_SECURITY_POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self' 'unsafe-inline'",  # CodeMirror writes <style> elements
        "img-src 'self' data: blob:",
        "font-src 'self' data:",
        "connect-src 'self'",
        "worker-src 'self' blob:",
        "manifest-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
    )
)

_HEADERS: list[tuple[bytes, bytes]] = [
    (b"content-security-policy", CONTENT_SECURITY_POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
    (b"permissions-policy", b"camera=(), geolocation=(), microphone=(), payment=(), usb=()"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
]
_HTTPS_ONLY = (b"strict-transport-security", b"max-age=31536000")
_NO_STORE = (b"cache-control", b"no-store")

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


class ResponseHeaders:
    """The outermost layer: a request id and security headers for every response, and one form for internal errors. A
    request's own `X-Request-ID` is kept where it is valid. The traceback is logged without the exception's message,
    which may quote data."""

    def __init__(self, app: ASGIApp, *, max_header_bytes: int) -> None:
        self._app = app
        self._max_header_bytes = max_header_bytes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":  # nothing here speaks WebSocket
            await receive()
            await send({"type": "websocket.close", "code": 1008})
            return
        given_ids = header_values(scope, b"x-request-id")
        valid = len(given_ids) == 1 and _VALID_ID.fullmatch(given_ids[0])
        own_id = given_ids[0].decode("ascii") if valid else uuid.uuid4().hex
        scope.setdefault("state", {})["request_id"] = own_id
        added = [(b"x-request-id", own_id.encode()), *_HEADERS]
        if scope.get("scheme") == "https":
            added.append(_HTTPS_ONLY)
        private = not is_open(scope)
        started = False

        async def answer(message: Message) -> None:
            nonlocal started
            if message["type"] == "http.response.start":
                started = True
                given = {name.lower() for name, _ in message.get("headers", ())}
                ours = [header for header in added if header[0] not in given]
                if private and _NO_STORE[0] not in given:
                    ours.append(_NO_STORE)
                message["headers"] = [*message.get("headers", ()), *ours]
            await send(message)

        tokens = structlog.contextvars.bind_contextvars(request_id=own_id)
        try:
            if problem := self._header_problem(scope):
                await refuse(scope, receive, answer, *problem, kind="bad_request" if problem[0] == 400 else "too_large")
            else:
                await self._app(scope, receive, answer)
        except Exception:
            log.exception("A request failed inside")
            if started:
                raise  # uvicorn then closes the connection, so that the client sees the response as incomplete
            await refuse(scope, receive, answer, 500, "Something went wrong inside.")
        finally:
            structlog.contextvars.reset_contextvars(**tokens)

    def _header_problem(self, scope: Scope) -> tuple[int, str] | None:
        url = len(scope.get("raw_path") or scope["path"]) + len(scope.get("query_string", b""))
        if url > MAX_URL:
            return 414, f"The address has {url:,} bytes; at most {MAX_URL:,} are read."
        headers = scope["headers"]
        size = sum(len(name) + len(value) + 4 for name, value in headers)
        if len(headers) > MAX_HEADERS or size > self._max_header_bytes:
            most = f"at most {MAX_HEADERS} of {self._max_header_bytes:,} bytes"
            return 431, f"The headers are too many or too long; {most}."
        if header_values(scope, b"transfer-encoding") and header_values(scope, b"content-length"):
            # a proxy could read the two differently
            return 400, "A body has either a Content-Length or a Transfer-Encoding."
        return None

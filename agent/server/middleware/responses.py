"""The outermost layer: a request id and security headers for every response, and one form for internal errors.

In: a request with or without an `X-Request-ID`. Out: `scope["state"]["request_id"]`, the same id in the response, and a
500 in the common error form when something raised. The traceback is logged without the exception's message, which may
quote data.
"""

from __future__ import annotations

import logging
import re
import uuid

import structlog
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from agent.server.errors import refuse
from agent.server.middleware.addresses import header_values, is_open

log = logging.getLogger(__name__)

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


class ResponseHeaders:
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

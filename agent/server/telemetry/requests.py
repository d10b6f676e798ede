"""One log line and a few metrics for each answered request.

In: a request on its way through, and the answer's messages. Out: the same, unchanged. The line has the method, the path
without its query (filters hold values), the client's name, the status and the milliseconds.
"""

from __future__ import annotations

import logging
import time

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from agent.server.access import client_in
from agent.server.telemetry import metrics
from agent.server.telemetry.tracing import request_answered, request_span

log = logging.getLogger("agent.server.requests")

QUIET = frozenset({"/health", "/ready", "/metrics"})
"""Paths that machines request every few seconds; logged at debug level."""
METHODS = frozenset({"GET", "HEAD", "POST", "DELETE", "OPTIONS", "PUT", "PATCH"})
_PATH = 200


class RequestTelemetry:
    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        started = time.perf_counter()
        status = 0
        streams = waiting = False

        async def answer(message: Message) -> None:
            nonlocal status, streams, waiting
            if message["type"] == "http.response.start":
                status = message["status"]
                streams = waiting = any(
                    name.lower() == b"content-type" and value.startswith(b"text/event-stream")
                    for name, value in message.get("headers", ())
                )
            elif waiting and message.get("body"):
                waiting = False
                metrics.first_event_seconds.observe(time.perf_counter() - started)
            await send(message)

        with request_span(scope) as span:
            try:
                await self._app(scope, receive, answer)
            except BaseException:
                status = status or 500
                raise
            finally:
                request_answered(span, _template(scope), status)
                seconds = time.perf_counter() - started
                route = _template(scope)
                method = scope["method"] if scope["method"] in METHODS else "OTHER"
                metrics.requests.labels(method, route, str(status)).inc()
                metrics.request_seconds.labels(route).observe(seconds)
                client = client_in(scope)
                say = log.debug if route in QUIET and status < 500 else log.info
                fields = {
                    "method": method,
                    "path": scope["path"][:_PATH],
                    "status": status,
                    "ms": round(seconds * 1000, 1),
                    "client": client.name if client else None,
                    "stream": streams,
                }
                say("request", extra=fields)


def _template(scope: Scope) -> str:
    """The route's path with its placeholders; all paths without a route count as one."""
    path = getattr(scope.get("route"), "path", None)
    return path if isinstance(path, str) and path else "unmatched"

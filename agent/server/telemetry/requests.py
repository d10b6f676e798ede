"""One log line and a few metrics for each answered request.

In: a request on its way through, and the answer's messages. Out: the same, unchanged. The line has the method, the path
without its query (filters hold values), the client's name, the status and the milliseconds.
"""

from __future__ import annotations

import logging
import time
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from agent.runtime.tracing import tracer
from agent.server.access import client_in
from agent.server.telemetry import metrics

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

        with _span(scope) as span:
            try:
                await self._app(scope, receive, answer)
            except BaseException:
                status = status or 500
                raise
            finally:
                seconds = time.perf_counter() - started
                path = getattr(scope.get("route"), "path", None)  # with its placeholders
                route = path if isinstance(path, str) and path else "unmatched"
                method = scope["method"] if scope["method"] in METHODS else "OTHER"
                if span is not None:
                    span.update_name(f"{span.attributes['http.request.method']} {route}")
                    span.set_attributes({"http.route": route, "http.response.status_code": status})
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


def _span(scope: Scope) -> AbstractContextManager[Any]:
    """A span around an HTTP request; continues the caller's trace (`traceparent`)."""
    tracing = tracer()
    if tracing is None:
        return nullcontext()
    from opentelemetry.propagate import extract
    from opentelemetry.trace import SpanKind

    carrier = {
        name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"] if name[:5] == b"trace"
    }
    return tracing.start_as_current_span(
        str(scope["method"]),
        context=extract(carrier),
        kind=SpanKind.SERVER,
        attributes={"http.request.method": str(scope["method"])},
        record_exception=False,
    )

"""Log lines, Prometheus metrics and OpenTelemetry traces, none of which shows user data.

In: finished requests (`RequestTelemetry`), the events of runs (`RunTelemetry`), log records of every library (`logs`).
Out: JSON lines on standard error, `/metrics`, and spans where OpenTelemetry is configured. None of the three holds row
values, tokens or keys; SQL is in them only with TEXT2SQL_LOG_SQL.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncIterator
from contextlib import AbstractContextManager, asynccontextmanager, nullcontext
from typing import Any, ClassVar

import structlog
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from agent.events import AnswerEvent, Event, NodeEvent, RetryEvent
from agent.models.calls import current_run
from agent.runtime.answer import Tokens
from agent.runtime.tracing import start_tracing, stop_tracing, tracer
from agent.server.access import client_in
from agent.server.telemetry import metrics
from agent.server.telemetry.logs import configure_logging

__all__ = ["RequestTelemetry", "RunTelemetry", "configure_logging", "observed"]

QUIET = frozenset({"/health", "/ready", "/metrics"})
"""Paths that machines request every few seconds; logged at debug level."""
METHODS = frozenset({"GET", "HEAD", "POST", "DELETE", "OPTIONS", "PUT", "PATCH"})
_PATH = 200

_runs = logging.getLogger("agent.server.runs")
_requests = logging.getLogger("agent.server.requests")


@asynccontextmanager
async def observed(*, show_sql: bool) -> AsyncIterator[None]:
    """Trace for the lifetime of the app, if tracing is configured."""
    RunTelemetry.show_sql = show_sql
    start_tracing(show_sql=show_sql)
    try:
        yield
    finally:
        await asyncio.to_thread(stop_tracing)


class RunTelemetry:
    """Created when a run starts; `current` brackets its work, `observe` receives its events, `ended` its status."""

    show_sql: ClassVar[bool] = False
    """Whether the log line at a run's end has its SQL."""

    def __init__(self, run_id: str, client: str, *, kind: str = "question") -> None:
        self._run_id = run_id
        self._client = client
        self._kind = kind
        self._sql = ""
        self._started = time.perf_counter()
        self._tokens = Tokens()
        self._retries = 0
        metrics.running.inc()

    def current(self) -> AbstractContextManager[object]:
        """Work inside this context is traced as part of the run, and its log lines carry the run's id."""
        current_run.set(self._run_id)
        return structlog.contextvars.bound_contextvars(run_id=self._run_id)

    def observe(self, event: Event) -> None:
        if isinstance(event, NodeEvent):
            if event.status == "done" and event.elapsed_ms is not None:
                metrics.node_seconds.labels(event.node).observe(event.elapsed_ms / 1000)
        elif isinstance(event, RetryEvent):
            self._retries += 1
            metrics.retries.labels(event.data.category).inc()
        elif isinstance(event, AnswerEvent):
            self._sql = event.data.sql
            self._tokens = event.data.tokens

    def ended(self, status: str) -> None:
        seconds = time.perf_counter() - self._started
        metrics.running.dec()
        metrics.runs.labels(status).inc()
        metrics.run_seconds.observe(seconds)
        metrics.tokens.labels("input").inc(self._tokens.input)
        metrics.tokens.labels("output").inc(self._tokens.output)
        metrics.model_calls.inc(self._tokens.calls)
        fields: dict[str, object] = {
            "run_id": self._run_id,
            "client": self._client,
            "kind": self._kind,
            "status": status,
            "ms": round(seconds * 1000, 1),
            "retries": self._retries,
            "tokens": self._tokens.model_dump(include={"input", "output", "calls"}),
        }
        if self.show_sql:
            fields["sql"] = self._sql
        _runs.info("run", extra=fields)


class RequestTelemetry:
    """A layer that leaves requests and answers as they are. Its log line has the method, the path without its query
    (filters hold values), the client's name, the status and the milliseconds."""

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
                say = _requests.debug if route in QUIET and status < 500 else _requests.info
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

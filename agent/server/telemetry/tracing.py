"""Spans of HTTP requests; what a run does inside is traced by `agent.runtime.tracing`."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import Any

from starlette.types import Scope

from agent.runtime.tracing import tracer


def request_span(scope: Scope) -> AbstractContextManager[Any]:
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


def request_answered(span: Any, route: str, status: int) -> None:
    """Name the span of a request when its route and status are known."""
    if span is not None:
        span.update_name(f"{span.attributes['http.request.method']} {route}")
        span.set_attributes({"http.route": route, "http.response.status_code": status})

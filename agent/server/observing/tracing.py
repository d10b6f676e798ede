"""OpenTelemetry: spans of requests, runs, nodes, model calls and statements. Off, and not imported, unless configured.

Configured by the standard variables: OTEL_EXPORTER_OTLP_ENDPOINT (or OTEL_EXPORTER_OTLP_TRACES_ENDPOINT) turns it on,
OTEL_SDK_DISABLED=true or OTEL_TRACES_EXPORTER=none off again; service name, headers and sampling follow theirs.
Needs the extra `otel`. Spans hold names, counts and times: no question and no row, and SQL only where TEXT2SQL_LOG_SQL
says so.
"""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any

from agent.events import AnswerEvent, Event, NodeEvent, QueryResultEvent, RetryEvent
from agent.models.calls import trace_calls

if TYPE_CHECKING:
    from opentelemetry.sdk.trace.export import SpanExporter
    from opentelemetry.trace import Span, Tracer
    from starlette.types import Scope

log = logging.getLogger(__name__)


class _Tracing:
    """What is switched on in this process."""

    tracer: Tracer | None = None
    show_sql = False
    stop: Callable[[], None] | None = None


def wanted() -> bool:
    """Whether the environment asks for traces."""
    if os.environ.get("OTEL_SDK_DISABLED", "").lower() == "true" or os.environ.get("OTEL_TRACES_EXPORTER") == "none":
        return False
    return any(os.environ.get(f"OTEL_EXPORTER_OTLP_{part}ENDPOINT") for part in ("", "TRACES_"))


def start_tracing(*, show_sql: bool = False, exporter: SpanExporter | None = None) -> bool:
    """Begin to trace if the environment asks for it, or if an exporter is given. Says whether it did."""
    if exporter is None and not wanted():
        return False
    try:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.resources import SERVICE_NAME, Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor, SimpleSpanProcessor
    except ModuleNotFoundError:
        log.error("OpenTelemetry is configured but not installed: pip install 'text2sql[otel]'.")
        return False
    named = {} if os.environ.get("OTEL_SERVICE_NAME") else {SERVICE_NAME: "text2sql"}
    provider = TracerProvider(resource=Resource.create(named), shutdown_on_exit=False)
    processor = SimpleSpanProcessor(exporter) if exporter else BatchSpanProcessor(OTLPSpanExporter())
    provider.add_span_processor(processor)
    _Tracing.tracer = provider.get_tracer("text2sql")
    _Tracing.show_sql = show_sql
    _Tracing.stop = provider.shutdown
    trace_calls(_call_span)
    return True


def stop_tracing() -> None:
    """Send what has been gathered and end. Waits for the receiver as long as OTEL's time-outs say."""
    stop, _Tracing.stop, _Tracing.tracer = _Tracing.stop, None, None
    trace_calls(None)
    if stop is not None:
        stop()


def request_span(scope: Scope) -> AbstractContextManager[Any]:
    """A span around an HTTP request; continues the caller's trace (`traceparent`)."""
    if _Tracing.tracer is None:
        return nullcontext()
    from opentelemetry.propagate import extract
    from opentelemetry.trace import SpanKind

    carrier = {
        name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"] if name[:5] == b"trace"
    }
    return _Tracing.tracer.start_as_current_span(
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


def _call_span(call: str, model: str) -> AbstractContextManager[Any]:
    tracer = _Tracing.tracer
    if tracer is None:
        return nullcontext()
    attributes = {"gen_ai.operation.name": "chat", "gen_ai.request.model": model, "text2sql.call": call}
    return tracer.start_as_current_span(f"model {call}", attributes=attributes, record_exception=False)


class RunTrace:
    """The spans of one run, made from its events."""

    def __init__(self, tracer: Tracer, run_id: str) -> None:
        self._tracer = tracer
        self._span = tracer.start_span("run", attributes={"text2sql.run_id": run_id})
        self._nodes: dict[str, Span] = {}
        self._began: dict[str, int] = {}

    def current(self) -> AbstractContextManager[Any]:
        """Makes the run the parent of what is called inside."""
        from opentelemetry.trace import use_span

        return use_span(self._span, record_exception=False, set_status_on_exception=False)

    def heard(self, event: Event) -> None:
        if isinstance(event, NodeEvent):
            self._node(event)
        elif isinstance(event, QueryResultEvent):
            self._statement(event.data)
        elif isinstance(event, RetryEvent):
            self._span.add_event("retry", {"category": event.data.category, "attempt": event.data.attempt})
        elif isinstance(event, AnswerEvent):
            known = {"text2sql.score": event.data.get("score"), "gen_ai.request.model": event.data.get("model")}
            self._span.set_attributes({key: value for key, value in known.items() if value is not None})

    def ended(self, status: str) -> None:
        for span in self._nodes.values():  # of a run that was stopped inside a node
            span.end()
        self._nodes.clear()
        self._span.set_attribute("text2sql.status", status)
        self._span.end()

    def _node(self, event: NodeEvent) -> None:
        if event.status == "running":
            self._began[event.node] = time.time_ns()
            self._nodes[event.node] = self._child(event.node, self._began[event.node])
        elif (span := self._nodes.pop(event.node, None)) is not None:
            span.end()

    def _statement(self, data: dict[str, Any]) -> None:
        """The statement is the first long thing that `executor_eval` does, and is reported with the time it took."""
        took = float(data.get("execution_time_ms") or 0.0)
        if not took:
            return
        began = self._began.get("executor_eval", time.time_ns())
        span = self._child("statement", began)
        span.set_attributes(
            {"db.response.returned_rows": int(data.get("rows_returned") or 0), "text2sql.status": data["status"]}
        )
        if _Tracing.show_sql:
            span.set_attribute("db.query.text", str(data.get("sql") or ""))
        span.end(began + int(took * 1e6))

    def _child(self, name: str, began: int) -> Span:
        from opentelemetry.trace import set_span_in_context

        return self._tracer.start_span(name, context=set_span_in_context(self._span), start_time=began)


def run_trace(run_id: str) -> RunTrace | None:
    return RunTrace(_Tracing.tracer, run_id) if _Tracing.tracer is not None else None

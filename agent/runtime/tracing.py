"""OpenTelemetry: spans of runs, nodes, model calls, tools and statements. Off, and not imported, unless configured.

Configured by the standard variables: OTEL_EXPORTER_OTLP_ENDPOINT (or OTEL_EXPORTER_OTLP_TRACES_ENDPOINT) turns it on,
OTEL_SDK_DISABLED=true or OTEL_TRACES_EXPORTER=none off again; service name, headers and sampling follow theirs. The
first run of a process starts it, whatever the interface. Names and attributes are those of OpenTelemetry's semantic
conventions for generative AI. Needs the extra `otel`. Spans hold names, counts and times, but no question, no row and
no text from a provider, and SQL only if TEXT2SQL_LOG_SQL is set.
"""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from multiprocessing.util import Finalize
from typing import TYPE_CHECKING, Any

from agent.events import AnswerEvent, Event, NodeEvent, QueryResultEvent, RetryEvent, StepEvent
from agent.models.calls import Call, Reported, trace_calls
from agent.state import QueryResult

if TYPE_CHECKING:
    from opentelemetry.sdk.trace.export import SpanExporter
    from opentelemetry.trace import Span, SpanKind, Tracer

log = logging.getLogger(__name__)


class _Tracing:
    """The active tracing of this process."""

    looked = False
    tracer: Tracer | None = None
    show_sql = False
    stop: Callable[[], None] | None = None


_current: ContextVar[RunTrace | None] = ContextVar("current_trace", default=None)


def start_tracing(*, show_sql: bool = False, exporter: SpanExporter | None = None) -> bool:
    """Start tracing if the environment asks for it or an exporter is given. Returns whether it started."""
    _Tracing.looked = True
    off = os.environ.get("OTEL_SDK_DISABLED", "").lower() == "true" or os.environ.get("OTEL_TRACES_EXPORTER") == "none"
    addressed = any(os.environ.get(f"OTEL_EXPORTER_OTLP_{part}ENDPOINT") for part in ("", "TRACES_"))
    if exporter is None and (off or not addressed):
        return False
    try:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.resources import SERVICE_NAME, Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor, SimpleSpanProcessor
    except ModuleNotFoundError:
        log.error("OpenTelemetry is configured but not installed: pip install 'askwell[otel]'.")
        return False
    named = {} if os.environ.get("OTEL_SERVICE_NAME") else {SERVICE_NAME: "text2sql"}
    provider = TracerProvider(resource=Resource.create(named), shutdown_on_exit=False)
    processor = SimpleSpanProcessor(exporter) if exporter else BatchSpanProcessor(OTLPSpanExporter())
    provider.add_span_processor(processor)
    _Tracing.tracer = provider.get_tracer("text2sql")
    _Tracing.show_sql = show_sql
    _Tracing.stop = provider.shutdown
    Finalize(None, stop_tracing, exitpriority=10)  # unlike atexit, it also runs in batch worker processes
    trace_calls(_call_span)
    return True


def stop_tracing() -> None:
    """Flush all spans and stop. Waits for the receiver as long as OTEL's timeouts allow."""
    stop, _Tracing.stop, _Tracing.tracer, _Tracing.looked = _Tracing.stop, None, None, False
    trace_calls(None)
    if stop is not None:
        stop()


def tracer() -> Tracer | None:
    """The tracer of this process, if tracing is on."""
    return _Tracing.tracer


class RunTrace:
    """The spans of one run, made from its events."""

    def __init__(self, tracer: Tracer, run_id: str) -> None:
        from opentelemetry.trace import SpanKind

        self._tracer = tracer
        attributes = {
            "gen_ai.operation.name": "invoke_agent",
            "gen_ai.agent.name": "text2sql",
            "text2sql.run_id": run_id,
        }
        self._span = tracer.start_span("invoke_agent text2sql", kind=SpanKind.INTERNAL, attributes=attributes)
        self._nodes: dict[str, Span] = {}
        self._began: dict[str, int] = {}

    @property
    def innermost(self) -> Span:
        """The span of the active node, or of the run between two nodes."""
        return next(reversed(self._nodes.values()), self._span)

    @contextmanager
    def current(self) -> Iterator[None]:
        """Makes the run the parent of spans opened inside; leaving the context ends the run's span."""
        from opentelemetry.trace import use_span

        token = _current.set(self)
        try:
            with use_span(self._span, record_exception=False, set_status_on_exception=False):
                yield
        except BaseException as error:
            _failed(self._span, type(error).__name__)
            raise
        finally:
            _current.reset(token)
            for span in self._nodes.values():  # of a run that was stopped inside a node
                span.end()
            self._span.end()

    def heard(self, event: Event) -> None:
        if isinstance(event, NodeEvent):
            if event.status == "running":
                self._began[event.node] = time.time_ns()
                self._nodes[event.node] = self._child(event.node, self._began[event.node])
            elif (span := self._nodes.pop(event.node, None)) is not None:
                span.end()
        elif isinstance(event, QueryResultEvent):
            self._statement(event.data)
        elif isinstance(event, StepEvent):
            name, took = event.data.tool, event.data.elapsed_ms
            attributes = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": name}
            self._past(f"execute_tool {name}", time.time_ns() - int(took * 1e6), took, attributes)
        elif isinstance(event, RetryEvent):
            self._span.add_event("retry", {"category": event.data.category, "attempt": event.data.attempt})
        elif isinstance(event, AnswerEvent):
            answer = event.data
            self._span.set_attributes(
                {
                    "text2sql.status": answer.status,
                    "text2sql.score": answer.score,
                    "gen_ai.request.model": answer.model,
                    "gen_ai.usage.input_tokens": answer.tokens.input,
                    "gen_ai.usage.output_tokens": answer.tokens.output,
                }
            )
            if answer.status == "error":
                _failed(self._span, answer.error_kind or "internal")

    def _statement(self, result: QueryResult) -> None:
        """The statement is the first long thing that `executor_eval` does, and is reported with the time it took."""
        if not result.execution_time_ms:
            return
        from opentelemetry.trace import SpanKind

        attributes: dict[str, Any] = {"db.response.returned_rows": result.rows_returned}
        if _Tracing.show_sql:
            attributes["db.query.text"] = result.sql
        if result.status != "success":
            attributes["error.type"] = result.status
        began = self._began.get("executor_eval", time.time_ns())
        self._past("statement", began, result.execution_time_ms, attributes, SpanKind.CLIENT)

    def _past(
        self, name: str, began: int, took_ms: float, attributes: dict[str, Any], kind: SpanKind | None = None
    ) -> None:
        """Record a span for something that has already ended."""
        span = self._child(name, began, self.innermost, kind)
        span.set_attributes(attributes)
        span.end(began + int(took_ms * 1e6))

    def _child(self, name: str, began: int, parent: Span | None = None, kind: SpanKind | None = None) -> Span:
        from opentelemetry.trace import SpanKind, set_span_in_context

        context = set_span_in_context(parent or self._span)
        return self._tracer.start_span(name, context=context, kind=kind or SpanKind.INTERNAL, start_time=began)


def run_trace(run_id: str, *, show_sql: bool = False) -> RunTrace | None:
    """The trace of a run that starts now; None if tracing is off. The first call in a process starts tracing."""
    if not _Tracing.looked:
        start_tracing(show_sql=show_sql)
    return RunTrace(_Tracing.tracer, run_id) if _Tracing.tracer is not None else None


@contextmanager
def _call_span(call: Call) -> Iterator[Reported]:
    """A span for one model request, as a child of the node that makes it."""
    from opentelemetry.trace import SpanKind, set_span_in_context

    assert _Tracing.tracer is not None
    trace = _current.get()
    span = _Tracing.tracer.start_span(
        f"chat {call.model}",
        context=set_span_in_context(trace.innermost) if trace else None,
        kind=SpanKind.CLIENT,
        attributes={
            "gen_ai.operation.name": "chat",
            "gen_ai.provider.name": call.provider,
            "gen_ai.request.model": call.model,
            "server.address": call.host,
            "text2sql.call": call.kind,
            **({"server.port": call.port} if call.port else {}),
        },
    )

    def reported(**attributes: str | int | None) -> None:
        known = {"gen_ai." + name.replace("__", "."): value for name, value in attributes.items()}
        span.set_attributes({name: value for name, value in known.items() if value is not None})

    try:
        yield reported
    except BaseException as error:
        _failed(span, str(getattr(error, "status_code", None) or type(error).__name__))
        raise
    finally:
        span.end()


def _failed(span: Span, kind: str) -> None:
    """Mark the span as failed, without a description, because providers and engines quote their input."""
    from opentelemetry.trace import StatusCode

    span.set_attribute("error.type", kind)
    span.set_status(StatusCode.ERROR)

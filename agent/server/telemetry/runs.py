"""Telemetry from the events of one run: metrics, and one log line at its end.

In: a run's id, its owner, and each of its events as it happens; at the end its status. Out: nothing but observations;
no event is changed, and nothing here raises.
"""

from __future__ import annotations

import logging
import time
from contextlib import AbstractContextManager
from typing import ClassVar

import structlog

from agent.events import AnswerEvent, Event, NodeEvent, RetryEvent
from agent.models.calls import current_run
from agent.runtime.answer import Tokens
from agent.server.telemetry import metrics

log = logging.getLogger("agent.server.runs")


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
        log.info("run", extra=fields)

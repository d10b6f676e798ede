"""Prometheus metrics. Every label has a bounded set of values: templates, never paths or names.

In: calls of the functions below. Out: `exposition`, the text that `GET /metrics` answers: the figures of this process,
or those of all workers together where PROMETHEUS_MULTIPROC_DIR names the folder that they share.
"""

from __future__ import annotations

import os

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4

CONTENT_TYPE = CONTENT_TYPE_PLAIN_0_0_4

registry = CollectorRegistry(auto_describe=False)

_SHORT = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
_LONG = (*_SHORT, 60.0, 120.0, 300.0)

requests = Counter("text2sql_http_requests", "Answered requests.", ["method", "route", "status"], registry=registry)
request_seconds = Histogram(
    "text2sql_http_request_seconds",
    "Time of a request, streams to their end.",
    ["route"],
    buckets=_LONG,
    registry=registry,
)
first_event_seconds = Histogram(
    "text2sql_first_event_seconds",
    "From a request to the first event of its stream.",
    buckets=(0.002, *_SHORT),
    registry=registry,
)
runs = Counter("text2sql_runs", "Ended runs.", ["status"], registry=registry)
running = Gauge("text2sql_runs_running", "Runs going on.", multiprocess_mode="livesum", registry=registry)
run_seconds = Histogram("text2sql_run_seconds", "Time of a run.", buckets=_LONG, registry=registry)
retries = Counter("text2sql_retries", "Attempts that were made again.", ["category"], registry=registry)
tokens = Counter("text2sql_model_tokens", "Tokens that models reported.", ["direction"], registry=registry)
model_calls = Counter("text2sql_model_calls", "Calls of models.", registry=registry)
node_seconds = Histogram("text2sql_node_seconds", "Time of a node.", ["node"], buckets=_SHORT, registry=registry)


def exposition() -> bytes:
    """All metrics in Prometheus' text format."""
    if "PROMETHEUS_MULTIPROC_DIR" not in os.environ:
        return generate_latest(registry)
    from prometheus_client.multiprocess import MultiProcessCollector

    together = CollectorRegistry(auto_describe=False)
    MultiProcessCollector(together)  # type: ignore[no-untyped-call]
    return generate_latest(together)

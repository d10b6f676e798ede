"""What a server tells of itself: log lines, figures, traces; and what it keeps to itself."""

from __future__ import annotations

import io
import json
import logging
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from agent.config import Settings
from agent.runtime.tracing import start_tracing, stop_tracing
from agent.server.telemetry import configure_logging
from tests.agent.server.running import model_at, running, scripted, settings_for
from tests.openai_server import OpenAIServer
from tests.receivers import Webhook, webhook
from tests.writing import sqlite_file

TOKEN = "marker-token-0123456789"
KEY = "sk-marker-key-0123456789"
PASSWORD = "marker-password"
ROW = "markerrow"


@pytest.fixture
def lines() -> io.StringIO:
    """The log, as it goes to standard error. Servers of other tests may have left uvicorn's loggers deaf."""
    for name in ("uvicorn", "uvicorn.error", "uvicorn.access"):
        logging.getLogger(name).setLevel(logging.NOTSET)
    stream = io.StringIO()
    config = Settings(_env_file=None, TEXT2SQL_TOKENS=f"ana={TOKEN}", OPENAI_API_KEY=KEY)
    configure_logging(config, stream, level=logging.DEBUG)
    return stream


def test_a_line_is_json_without_secrets(lines: io.StringIO) -> None:
    log = logging.getLogger("any.library")
    log.warning("key %s and %s", KEY, {"Authorization": f"Bearer {TOKEN}"})
    log.warning("postgresql://ana:%s@host/db", PASSWORD, extra={"api_key": "other", "url": f"mysql://u:{PASSWORD}@h/d"})
    log.warning("Bearer abc.def-ghi and sk-something-else\nsecond line")
    try:
        raise ValueError(f"could not convert {ROW}")
    except ValueError:
        log.exception("It failed")

    reply = [json.loads(line) for line in lines.getvalue().splitlines()]
    assert len(reply) == 4
    text = lines.getvalue()
    for secret in (KEY, TOKEN, PASSWORD, ROW, "abc.def-ghi", "something-else"):
        assert secret not in text
    assert reply[1]["api_key"] == "***"
    assert reply[1]["url"] == "mysql://***@h/d"
    assert reply[3]["error"] == "ValueError"
    assert re.search(r"test_telemetry\.py:\d+ test_a_line_is_json", reply[3]["at"][-1])
    assert all({"timestamp", "level", "logger", "event"} <= line.keys() for line in reply)


@contextmanager
def served(folder: Path) -> Iterator[Any]:
    """A server over a database that is full of markers, with a model that answers after one retry."""
    people = f"INSERT INTO people (name) VALUES ('{ROW}0'), ('{ROW}1'), ('{ROW}2')"
    path = folder / "people.sqlite"
    sqlite_file(path, f"CREATE TABLE people (id INTEGER PRIMARY KEY, name TEXT); {people}")
    with OpenAIServer() as endpoint:
        endpoint.otherwise = scripted(
            "SELECT nam FROM people", "SELECT name FROM people", answer=f"The names are {ROW}."
        )
        own = {"OPENAI_API_KEY": KEY, "TEXT2SQL_DB_PATH": str(path), "TEXT2SQL_TOKENS": f"ana={TOKEN}"}
        with running(settings_for(folder, **model_at(endpoint) | own)) as server:
            yield server


BEARER = {"Authorization": f"Bearer {TOKEN}"}


def ask(server: Any) -> None:
    reply = httpx.post(
        f"{server.url}/query", json={"question": "List the name of all people"}, headers=BEARER, timeout=30
    )
    assert '"event":"answer"' in reply.text
    assert ROW in reply.text


def figures(server: Any) -> dict[str, float]:
    text = httpx.get(f"{server.url}/metrics", headers=BEARER).text
    return {
        name: float(value) for name, _, value in (line.rpartition(" ") for line in text.splitlines()) if name[0] != "#"
    }


def test_a_run_leaves_lines_without_rows_secrets_or_sql(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    with served(tmp_path) as server:
        ask(server)
        httpx.get(f"{server.url}/runs?token={TOKEN}")
        httpx.get(f"{server.url}/runs", headers={"Authorization": "Bearer wrong-marker-0123456789"})
        httpx.get(f"{server.url}/schema/nothing", headers=BEARER)
    text = capfd.readouterr().err

    reply = [json.loads(line) for line in text.splitlines() if line.startswith("{")]
    for secret in (ROW, TOKEN, KEY, "wrong-marker", "SELECT", "List the name"):
        assert secret not in text
    run = next(line for line in reply if line["event"] == "run")
    assert (run["status"], run["retries"], run["client"]) == ("success", 1, "ana")
    assert run["tokens"] == {"input": 500, "output": 100, "calls": 5}
    asked = next(line for line in reply if line["event"] == "request" and line["path"] == "/query")
    assert (asked["method"], asked["status"], asked["client"], asked["stream"]) == ("POST", 200, "ana", True)
    assert run["request_id"] == asked["request_id"]
    statuses = sorted(line["status"] for line in reply if line["event"] == "request")
    assert statuses == [200, 400, 401, 404]  # a stream's line is written once its reader has gone


def test_the_figures_count_what_happened(tmp_path: Path) -> None:
    with served(tmp_path) as server:
        before = figures(server)
        ask(server)
        for path in ("/runs", "/nowhere/at-all", "/nowhere/else", "/schema/one", "/schema/two"):
            httpx.get(f"{server.url}{path}", headers=BEARER)
        after = figures(server)
        unsigned = httpx.get(f"{server.url}/metrics").status_code

    def grew(name: str) -> float:
        return after.get(name, 0.0) - before.get(name, 0.0)

    assert grew('text2sql_runs_total{status="success"}') == 1
    assert after["text2sql_runs_running"] == 0
    assert grew('text2sql_retries_total{category="hallucination"}') == 1
    assert grew('text2sql_model_tokens_total{direction="input"}') == 500
    assert grew('text2sql_model_tokens_total{direction="output"}') == 100
    assert grew('text2sql_node_seconds_count{node="query_generator"}') == 2
    assert grew("text2sql_first_event_seconds_count") == 1
    assert grew('text2sql_http_requests_total{method="POST",route="/query",status="200"}') == 1
    assert grew('text2sql_http_requests_total{method="GET",route="/schema/{preset_id}",status="404"}') == 2
    assert not any("nowhere" in name or "/schema/one" in name for name in after)
    assert unsigned == 401


@pytest.fixture
def receiver(monkeypatch: pytest.MonkeyPatch) -> Iterator[Webhook]:
    """Takes OTLP over HTTP and keeps what came."""
    pytest.importorskip("opentelemetry.exporter.otlp.proto.http")
    with webhook() as made:
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", f"http://127.0.0.1:{made.port}")
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_COMPRESSION", "none")
        yield made
        stop_tracing()


def spans_of(receiver: Webhook) -> list[Any]:
    from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

    return [
        span
        for post in receiver.posts
        for resource in ExportTraceServiceRequest.FromString(post.body).resource_spans
        for scope in resource.scope_spans
        for span in scope.spans
    ]


def test_a_question_is_traced_from_the_request_to_the_statement(tmp_path: Path, receiver: Webhook) -> None:
    with served(tmp_path) as server:
        trace = "0af7651916cd43dd8448eb211c80319c"
        body = {"question": "List the name of all people"}
        headers = {**BEARER, "traceparent": f"00-{trace}-b7ad6b7169203331-01"}
        assert httpx.post(f"{server.url}/query", json=body, headers=headers, timeout=30).is_success

    spans = spans_of(receiver)
    by_id = {span.span_id: span for span in spans}
    names = [span.name for span in spans]
    assert {"POST /query", "invoke_agent text2sql", "planner", "executor_eval", "statement"} <= set(names)
    calls = [span for span in spans if span.name.startswith("chat ")]
    assert {span.kind for span in calls} == {3}  # CLIENT
    assert {span.trace_id.hex() for span in spans} == {trace}
    parents = {span.name: by_id[span.parent_span_id].name for span in spans if span.parent_span_id in by_id}
    assert parents["invoke_agent text2sql"] == "POST /query"
    assert parents["planner"] == "invoke_agent text2sql"
    assert parents["statement"] == "executor_eval"
    assert {by_id[call.parent_span_id].name for call in calls} >= {"planner", "query_generator"}
    sent = b"".join(post.body for post in receiver.posts)
    for secret in (ROW, TOKEN, KEY, "SELECT", "List the name"):
        assert secret.encode() not in sent


def test_traces_are_off_unless_configured(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"):
        monkeypatch.delenv(name, raising=False)
    assert start_tracing() is False
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:1")
    monkeypatch.setenv("OTEL_SDK_DISABLED", "true")
    assert start_tracing() is False

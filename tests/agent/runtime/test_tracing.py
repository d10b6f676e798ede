"""Spans of a run: OpenTelemetry's conventions for generative AI, and nobody's data."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from agent.config import Settings
from agent.models.openai import OpenAIModel
from agent.runner import run
from agent.runtime.tracing import start_tracing, stop_tracing
from eval.databases.base import Database
from tests.openai_server import OpenAIServer, answering, error

exporters = pytest.importorskip("opentelemetry.sdk.trace.export.in_memory_span_exporter")
QUESTION = "What are the names of the customers?"


@pytest.fixture
def spans() -> Iterator[Any]:
    exporter = exporters.InMemorySpanExporter()
    start_tracing(exporter=exporter)
    yield exporter
    stop_tracing()


async def test_each_model_call_is_a_client_span_inside_its_node(
    spans: Any, endpoint: OpenAIServer, remote: OpenAIModel, shop: Database, config: Settings
) -> None:
    endpoint.otherwise = answering("SELECT name FROM customers")
    answer = await run(QUESTION, database=shop, model=remote, settings=config)
    assert len(answer.rows) == 4
    finished = spans.get_finished_spans()
    by_id = {span.context.span_id: span for span in finished}
    calls = {span.attributes["text2sql.call"]: span for span in finished if span.name == "chat m"}
    assert {call: by_id[span.parent.span_id].name for call, span in calls.items()} == {
        "plan": "planner",
        "write_sql": "query_generator",
        "judge": "executor_eval",
        "summarize": "executor_eval",  # it is written while the judge works
    }
    span = calls["plan"]
    assert span.kind.name == "CLIENT"
    assert dict(span.attributes) == {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "openai",
        "gen_ai.request.model": "m",
        "gen_ai.response.model": "m",
        "gen_ai.usage.input_tokens": 100,
        "gen_ai.usage.output_tokens": 20,
        "server.address": "127.0.0.1",
        "server.port": span.attributes["server.port"],
        "text2sql.call": "plan",
    }
    (root,) = (span for span in finished if span.parent is None)
    assert root.name == "invoke_agent text2sql"
    assert root.attributes["text2sql.status"] == "success"
    text = " ".join(f"{span.name} {dict(span.attributes)}" for span in finished)
    for secret in ("SELECT", "Ana", QUESTION):
        assert secret not in text


async def test_a_failed_call_has_its_type_and_none_of_the_provider_s_words(
    spans: Any, endpoint: OpenAIServer, remote: OpenAIModel, shop: Database, config: Settings
) -> None:
    endpoint.otherwise = error(401, "the key of Ana is wrong")
    await run(QUESTION, database=shop, model=remote, settings=config)
    (call,) = (span for span in spans.get_finished_spans() if span.name == "chat m")
    assert call.attributes["error.type"] == "401"
    assert (call.status.status_code.name, call.status.description) == ("ERROR", None)
    assert not call.events
    (root,) = (span for span in spans.get_finished_spans() if span.parent is None)
    assert root.attributes["error.type"] == "model_auth"

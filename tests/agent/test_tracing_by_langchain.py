"""What LangChain's handlers and LangSmith hear of a run: nothing that the privacy mode keeps back."""

from __future__ import annotations

import http.server
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from agent.config import Settings
from agent.graph import build_graph
from agent.models.openai import OpenAIModel
from agent.runner import run
from agent.runtime.context import RunContext
from eval.databases.base import Database
from tests.openai_server import OpenAIServer, answering
from tests.settings import overridden

QUESTION = "What are the names of the customers?"


class Collector:
    """LangSmith's address on loopback; keeps what it is sent."""

    def __init__(self) -> None:
        self.received = b""
        received = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                received.received += self.rfile.read(int(self.headers.get("content-length") or 0))
                self._ok()

            def do_GET(self) -> None:
                self._ok()

            do_PATCH = do_POST

            def _ok(self) -> None:
                self.send_response(200)
                self.send_header("content-length", "2")
                self.end_headers()
                self.wfile.write(b"{}")

            def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
                pass

        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


@pytest.fixture
def langsmith(monkeypatch: pytest.MonkeyPatch) -> Iterator[Collector]:
    from langsmith import run_trees, utils

    collector = Collector()
    monkeypatch.setattr(run_trees, "_CLIENT", None)  # it is one for the process
    for name, value in (
        ("LANGSMITH_TRACING", "true"),
        ("LANGSMITH_ENDPOINT", collector.url),
        ("LANGSMITH_API_KEY", "ls-test"),
    ):
        monkeypatch.setenv(name, value)
    utils.get_env_var.cache_clear()
    yield collector
    utils.get_env_var.cache_clear()
    collector.close()


def sent() -> None:
    """Let what was traced leave."""
    from langsmith.run_trees import get_cached_client

    get_cached_client().flush()


@pytest.mark.parametrize("privacy", ["full", "masked", "schema"])
async def test_by_langsmiths_variable_a_run_is_traced_if_rows_may_leave(
    langsmith: Collector, shop: Database, config: Settings, monkeypatch: pytest.MonkeyPatch, privacy: str
) -> None:
    monkeypatch.setenv("LANGSMITH_DISABLE_RUN_COMPRESSION", "true")
    answer = await run(QUESTION, database=shop, model="offline", settings=overridden(config, privacy=privacy))
    assert len(answer.rows) == 4
    sent()
    assert (b"executor_eval" in langsmith.received, b"Ana" in langsmith.received) == (privacy == "full",) * 2
    assert bool(langsmith.received) == (privacy == "full")


@pytest.fixture
def context(endpoint: OpenAIServer, remote: OpenAIModel, shop: Database, config: Settings) -> RunContext:
    """A run whose endpoint answers every call of a question."""
    endpoint.otherwise = answering("SELECT name FROM customers", summary="Four customers.")
    return RunContext(shop, remote, config.judging, config.limits, config.privacy)


async def test_model_calls_are_among_the_events_of_the_graph(context: RunContext) -> None:
    events = [e async for e in build_graph().astream_events({"question": QUESTION}, version="v2", context=context)]
    started = [e for e in events if e["event"] == "on_chat_model_start"]
    ended = [e for e in events if e["event"] == "on_chat_model_end"]
    assert [e["name"] for e in started] == ["chat m"] * 4
    assert {e["metadata"]["langgraph_node"] for e in started} >= {"planner", "query_generator", "executor_eval"}
    assert [e["data"]["output"].usage_metadata["input_tokens"] for e in ended] == [100] * 4

"""What LangChain's handlers and LangSmith hear of a run: nothing that the privacy mode keeps back."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from agent.config import Settings
from agent.graph import build_graph
from agent.models.openai import OpenAIModel
from agent.runner import run
from agent.runtime.context import RunContext
from eval.databases.base import Database
from tests.openai_server import OpenAIServer, answering
from tests.receivers import Webhook, webhook
from tests.settings import overridden

QUESTION = "What are the names of the customers?"


@pytest.fixture
def langsmith(monkeypatch: pytest.MonkeyPatch) -> Iterator[Webhook]:
    """LangSmith's address on loopback; keeps what it is sent."""
    from langsmith import run_trees, utils

    monkeypatch.setattr(run_trees, "_CLIENT", None)  # it is one for the process
    with webhook() as made:
        for name, value in (("TRACING", "true"), ("ENDPOINT", f"http://127.0.0.1:{made.port}"), ("API_KEY", "ls-test")):
            monkeypatch.setenv(f"LANGSMITH_{name}", value)
        utils.get_env_var.cache_clear()
        yield made
        utils.get_env_var.cache_clear()


def sent() -> None:
    """Let what was traced leave."""
    from langsmith.run_trees import get_cached_client

    get_cached_client().flush()


@pytest.mark.parametrize("privacy", ["full", "masked", "schema"])
async def test_by_langsmiths_variable_a_run_is_traced_if_rows_may_leave(
    langsmith: Webhook, shop: Database, config: Settings, monkeypatch: pytest.MonkeyPatch, privacy: str
) -> None:
    monkeypatch.setenv("LANGSMITH_DISABLE_RUN_COMPRESSION", "true")
    answer = await run(QUESTION, database=shop, model="offline", settings=overridden(config, privacy=privacy))
    assert len(answer.rows) == 4
    sent()
    received = str([post.body for post in langsmith.posts])
    assert ("executor_eval" in received, "Ana" in received) == (privacy == "full",) * 2
    assert bool(langsmith.posts) == (privacy == "full")


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

"""Model servers on this machine are found by what they say, and a model that nobody named is the first they list."""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Iterator
from typing import Any

import httpx2
import pytest

from agent.config import ModelSettings, Settings
from agent.models import make_model, shared_model
from agent.models.discovery import context_tokens, named, server_at, servers_here, small
from agent.models.openai import OpenAIModel
from agent.models.protocol import ModelRefused, SqlRequest
from agent.runtime.preparation import run_context
from agent.state import QueryTask
from eval.databases.base import Database
from eval.schema import Schema
from tests.openai_server import OpenAIServer, Reply, error, raw
from tests.pairs import rows


@pytest.fixture
def other() -> Iterator[OpenAIServer]:
    with OpenAIServer() as server:
        yield server


def entry(name: str, owner: str, **more: Any) -> dict[str, Any]:
    return {"id": name, "object": "model", "owned_by": owner, **more}


def port_of(server: OpenAIServer) -> int:
    return int(server.url.rpartition(":")[2].removesuffix("/v1"))


async def test_servers_are_found_side_by_side_and_told_apart(endpoint: OpenAIServer, other: OpenAIServer) -> None:
    endpoint.models = (entry("nomic-embed-text", "library"), entry("qwen2.5-coder:7b", "library"))
    other.models = (entry("gemma", "llamacpp"),)
    with socket.socket() as silent, socket.socket() as closed:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        closed.bind(("127.0.0.1", 0))
        ports = [port_of(endpoint), silent.getsockname()[1], closed.getsockname()[1], port_of(other)]
        began = time.monotonic()
        found = await servers_here(ports)
    assert [(s.kind, s.models) for s in found] == [
        ("Ollama", ("qwen2.5-coder:7b", "nomic-embed-text")),
        ("llama.cpp", ("gemma",)),
    ]
    assert time.monotonic() - began < 4.0


@pytest.mark.parametrize(
    "reply",
    [
        raw("<html>a page</html>", content_type="text/html"),
        raw(json.dumps({"data": [{"id": 7}, "x", None]})),
        raw(json.dumps({"data": [{"id": "m", "x": "x" * 9_000_000}]})),
        error(404),
        Reply(307, headers={"Location": "http://127.0.0.1:9/v1/models"}),
    ],
)
async def test_what_lists_no_models_is_no_model_server(endpoint: OpenAIServer, reply: Reply) -> None:
    endpoint.models = ()
    endpoint.otherwise = reply
    assert await servers_here([port_of(endpoint)]) == ()


@pytest.mark.parametrize(("listed", "paths", "tokens"), rows("replies/contexts.jsonl"))
async def test_the_servers_context(
    endpoint: OpenAIServer, listed: dict[str, Any], paths: dict[str, Any], tokens: int | None
) -> None:
    endpoint.models = (listed,)
    endpoint.otherwise = lambda request: raw(json.dumps(paths[request.path])) if request.path in paths else error(404)
    async with httpx2.AsyncClient() as client:
        assert await context_tokens(client, await server_at(client, endpoint.url), "m") == tokens


def unnamed(url: str) -> ModelSettings:
    return ModelSettings(_env_file=None, OPENAI_BASE_URL=url, OPENAI_API_KEY="sk-x")


def test_with_an_endpoint_alone_its_first_model_answers_and_is_told(endpoint: OpenAIServer, alone: None) -> None:
    endpoint.models = ("first-model", "second-model")
    settings = unnamed(endpoint.url)
    found, note = named(settings)
    assert found.name == "first-model"
    assert "first-model answers, the first of 2" in note
    model = shared_model(settings)
    assert getattr(model, "name", model) == "first-model"
    assert len(endpoint.listed) == 1
    assert endpoint.listed[0].headers["authorization"] == "Bearer sk-x"
    assert getattr(shared_model(settings, "second-model"), "name", "") == "second-model"


async def test_an_endpoint_that_lists_none_is_asked_for_no_other_maker(endpoint: OpenAIServer, alone: None) -> None:
    endpoint.models = ()
    settings = unnamed(endpoint.url)
    model = shared_model(settings)
    assert not isinstance(model, str)
    task = QueryTask(id="t", description="How many?")
    with pytest.raises(ModelRefused, match="TEXT2SQL_MODEL"):
        await model.write_sql(SqlRequest("How many?", task, "sqlite", "", Schema("sqlite", ())))
    assert all(request.method == "GET" for request in endpoint.requests)


# --- which models are small, and so work as a cascade where no strategy is set ---


def settings(name: str, url: str | None = None) -> ModelSettings:
    return ModelSettings(_env_file=None, OPENAI_BASE_URL=url, TEXT2SQL_MODEL=name)


@pytest.mark.parametrize(("name", "expected"), rows("replies/small_models.jsonl"))
async def test_a_name_tells_how_many_weights_a_model_has(name: str, expected: bool) -> None:
    assert await small(settings(name, "https://models.example.org/v1")) is expected


@pytest.mark.parametrize(("weights", "expected"), [(1_777_088_000, True), (32_000_000_000, False), (None, False)])
async def test_a_server_here_is_asked_once(endpoint: OpenAIServer, weights: int | None, expected: bool) -> None:
    endpoint.models = ({"id": "m", "object": "model", "meta": {"n_params": weights} if weights else {}},)
    asked = settings("any", endpoint.url)
    assert await small(asked) is expected
    endpoint.models = ()
    assert await small(asked) is expected


@pytest.mark.parametrize(("given", "strategy"), [({}, "cascade"), ({"TEXT2SQL_STRATEGY": "standard"}, "standard")])
async def test_a_small_model_works_as_a_cascade_unless_a_strategy_is_set(
    endpoint: OpenAIServer, shop: Database, given: dict[str, str], strategy: str
) -> None:
    endpoint.models = ({"id": "m", "object": "model", "meta": {"n_params": 494_000_000}},)
    config = Settings(_env_file=None, OPENAI_BASE_URL=endpoint.url, TEXT2SQL_MODEL="m", **given)
    context = await run_context(shop, None, config)
    try:
        assert context.strategy.name == strategy
    finally:
        await context.close()


def test_a_name_wins(shop: Database, alone: None) -> None:
    settings = ModelSettings(_env_file=None, OPENAI_API_KEY="sk-x", TEXT2SQL_PRICE_INPUT="1.5")
    assert not make_model(settings, shop, "Offline").capabilities.remote
    named = make_model(settings, shop, "llama3")
    assert named.name == "llama3"
    assert isinstance(named, OpenAIModel)
    assert named._settings.price_input == 1.5

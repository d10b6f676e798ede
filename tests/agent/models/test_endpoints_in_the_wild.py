"""What endpoints other than OpenAI's, and OpenAI's own on a bad day, were seen to do."""

from __future__ import annotations

import pytest

from agent.config import Settings
from agent.models.endpoint import truncation
from agent.runner import run
from eval.databases.base import Database
from tests.agent.conftest import config, shop, shop_file
from tests.agent.models.conftest import KEY, ModelServer, sql_request
from tests.openai_server import Reply, Request, completion, error

__all__ = ["config", "shop", "shop_file"]

GOOD = completion({"reasoning": "r", "sql": "SELECT 1"})


@pytest.mark.parametrize(
    "words", ["System role not supported", "Developer instruction is not enabled for models/gemma-3-27b-it"]
)
async def test_a_model_that_refuses_the_system_role_gets_the_instructions_from_the_user(
    server: ModelServer, words: str
) -> None:
    def answer(request: Request) -> Reply:
        refused = any(message["role"] != "user" for message in request.body["messages"])
        return error(400, words) if refused else GOOD

    server.otherwise = answer
    model = server.model()
    assert (await model.write_sql(sql_request())).sql == "SELECT 1"
    (message,) = server.requests[-1].body["messages"]
    assert "Write one read-only SQLite query" in message["content"]
    assert "How many customers are there?" in message["content"]
    asked = len(server.requests)
    await model.write_sql(sql_request())
    assert len(server.requests) == asked + 1


async def test_effort_further_fields_and_headers_are_sent(server: ModelServer) -> None:
    server.otherwise = GOOD
    model = server.model(reasoning_effort="low", extra_body={"top_k": 20}, extra_headers={"X-Title": "reports"})
    await model.write_sql(sql_request())
    (request,) = server.requests
    assert (request.body["reasoning_effort"], request.body["top_k"]) == ("low", 20)
    assert request.headers["x-title"] == "reports"


async def test_a_classic_azure_address_keeps_its_version_and_gets_its_key(server: ModelServer) -> None:
    server.otherwise = GOOD
    address = server.url.replace("/v1", "/openai/deployments/d?api-version=2024-10-21")
    await server.model(base_url=address).write_sql(sql_request())
    (request,) = server.requests
    assert request.path == "/openai/deployments/d/chat/completions?api-version=2024-10-21"
    assert request.headers["api-key"] == KEY


async def test_a_prompt_that_the_server_cut_off_is_said(server: ModelServer) -> None:
    server.otherwise = completion(
        {"reasoning": "r", "sql": "SELECT 1"},
        usage={"prompt_tokens": 4096, "completion_tokens": 5, "total_tokens": 4101},
    )
    reply = await server.model().write_sql(sql_request(schema_context="Table: t\n" + "  a_column (INTEGER)\n" * 4_000))
    (warning,) = reply.usage.warnings
    assert "read only 4,096 tokens" in warning
    assert "num_ctx" in warning


@pytest.mark.parametrize(("characters", "read", "cached"), [(8_000, 1_600, 0), (80_000, 100, 9_900), (80_000, 0, 0)])
def test_a_prompt_that_was_read_or_cached_is_not_called_cut_off(characters: int, read: int, cached: int) -> None:
    assert truncation([("user", "x" * characters)], read, cached) == ""


@pytest.mark.parametrize("status", [401, 404])
async def test_after_a_plan_that_no_call_can_make_no_second_call_is_made(
    server: ModelServer, shop: Database, config: Settings, status: int
) -> None:
    server.otherwise = error(status, "no such model")
    answer = await run("How many customers are there?", database=shop, model=server.model(), settings=config)
    assert (answer.status, len(server.requests)) == ("error", 1)
    assert "no such model" in answer.answer
    assert answer.error_kind == ("model_auth" if status == 401 else "model")

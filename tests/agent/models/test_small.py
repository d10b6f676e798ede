"""Which models are small, and so work as a cascade where no strategy is set."""

from __future__ import annotations

import pytest

from agent.config import ModelSettings, Settings
from agent.models.discovery import is_small, known_small
from agent.runtime.preparation import run_context
from eval.databases.base import Database
from tests.openai_server import OpenAIServer


def settings(name: str, url: str | None = None) -> ModelSettings:
    return ModelSettings(_env_file=None, OPENAI_BASE_URL=url, TEXT2SQL_MODEL=name)


@pytest.mark.parametrize(
    ("name", "small"),
    [
        ("qwen2.5-coder:7b", True),
        ("Qwen/Qwen2.5-Coder-1.5B-Instruct", True),
        ("llama-3.1-70b", False),
        ("gpt-oss-20b", False),
        ("mixtral-8x7b", False),
        ("gpt-5", False),
    ],
)
def test_a_name_tells_how_many_weights_a_model_has(name: str, small: bool) -> None:
    assert known_small(settings(name, "https://models.example.org/v1")) is small


@pytest.mark.parametrize(("weights", "small"), [(1_777_088_000, True), (32_000_000_000, False), (None, False)])
def test_a_server_on_this_machine_is_asked_once(endpoint: OpenAIServer, weights: int | None, small: bool) -> None:
    endpoint.models = ({"id": "m", "object": "model", "meta": {"n_params": weights} if weights else {}},)
    asked = settings("any", endpoint.url)
    assert known_small(asked) is None
    assert is_small(asked) is small
    assert known_small(asked) is small


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

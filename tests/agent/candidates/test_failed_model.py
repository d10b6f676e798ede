"""A model that fails or declines: what the answer offers in its place."""

from __future__ import annotations

from agent.models.openai import OpenAIModel
from agent.models.protocol import Endpoint, SqlReply
from tests.agent.conftest import Run
from tests.openai_server import OpenAIServer, error
from text2sql.testing import ScriptedModel

HOW_MANY = "How many customers are there?"


def at(endpoint: OpenAIServer) -> OpenAIModel:
    return OpenAIModel(Endpoint("m", base_url=endpoint.url, seconds=20.0, structured_output="json_schema"))


async def test_a_failed_model_offers_what_the_engine_would_run(ask: Run, endpoint: OpenAIServer) -> None:
    endpoint.otherwise = error(401, "Incorrect API key provided.")
    _, answer = await ask(HOW_MANY, at(endpoint))
    assert (answer.status, answer.error_kind, answer.rows) == ("error", "model_auth", [])
    assert "COUNT(*)" in answer.attempts[-1].guess
    assert "Without the model, the built-in engine would run this." in answer.answer


async def test_a_query_that_the_model_declined_is_no_failure_of_the_model(ask: Run) -> None:
    declined = SqlReply("", "There is no such table.", abstained=True)
    _, answer = await ask(HOW_MANY, ScriptedModel(declined))
    assert answer.abstained
    assert "Without the model" not in answer.answer

"""The strategy for small models: one short call, with the built-in engine's reading as hint and rival."""

from __future__ import annotations

import json

import pytest

from agent.events import ProgressEvent, QueryResultEvent
from agent.models.openai import OpenAIModel
from agent.models.protocol import Endpoint, ModelAuthError, ModelUnavailable, SqlReply
from agent.strategies import strategy
from tests.agent.conftest import Run
from tests.gbnf import Grammar
from tests.openai_server import OpenAIServer, Reply, Request, chunks, completion, error
from text2sql.testing import ScriptedModel

HOW_MANY = "How many customers are there?"
IN_LYON = "Which customers live in Lyon?"
LYON = "SELECT c.name FROM customers AS c JOIN cities AS t ON t.id = c.city_id WHERE t.name = 'Lyon'"


def at(endpoint: OpenAIServer) -> OpenAIModel:
    return OpenAIModel(Endpoint("m", base_url=endpoint.url, seconds=20.0, structured_output="json_schema"))


async def test_a_wrong_query_loses_to_the_engines_reading_and_this_is_told(ask: Run) -> None:
    model = ScriptedModel("SELECT name FROM cities")
    events, answer = await ask(HOW_MANY, model, strategy="small")
    assert (answer.rows, answer.status) == ([[4]], "success")
    assert answer.reason.startswith("Read without the model: ")
    assert (len(model.plan_requests), len(model.sql_requests), len(model.judge_requests)) == (0, 1, 0)
    assert model.summary_requests == []
    rival, chosen = [e.data for e in events if isinstance(e, QueryResultEvent)]
    assert (rival.sql, chosen.replaces, chosen.agreeing) == ("SELECT name FROM cities", [1], None)


async def test_a_right_query_stays_where_the_engine_reads_nothing_better(ask: Run) -> None:
    question = "Who among the customers has ordered at least twice?"
    right = "SELECT c.name FROM customers c JOIN orders o ON o.customer_id = c.id GROUP BY c.id HAVING COUNT(*) >= 2"
    _, answer = await ask(question, ScriptedModel(right), strategy="small")
    assert answer.rows == [["Ana"]]


async def test_the_prompt_is_short_holds_the_reading_and_asks_for_sql_alone(ask: Run, endpoint: OpenAIServer) -> None:
    asked: list[Request] = []

    def reply(request: Request) -> Reply:
        asked.append(request)
        return completion({"sql": LYON})

    endpoint.otherwise = reply
    _, answer = await ask(IN_LYON, at(endpoint), strategy="small")
    assert sorted(answer.rows) == [["Bo"], ["Chloé"]]
    (request,) = [r for r in asked if "messages" in r.body]
    assert request.body["response_format"]["json_schema"]["schema"]["required"] == ["sql"]
    assert "<reading>" in request.prompt
    assert "= 'Lyon'" in request.prompt.partition("<reading>")[2]
    assert len(request.prompt) < 2_500


async def test_with_the_part_grammar_a_local_server_may_write_only_names_that_the_prompt_shows(
    ask: Run, endpoint: OpenAIServer
) -> None:
    endpoint.models = ({"id": "m", "object": "model", "owned_by": "llamacpp"},)
    endpoint.otherwise = completion({"sql": LYON})
    model = OpenAIModel(Endpoint("m", base_url=endpoint.url, seconds=20.0))
    for name, privacy in (("small", "full"), ("small/grammar", "full"), ("small/grammar", "schema")):
        await ask(IN_LYON, model, strategy=name, privacy=privacy)
    assert ["grammar" in request.body for request in endpoint.requests] == [False, True, True]
    grammar = Grammar(endpoint.requests[2].body["grammar"])
    assert grammar.accepts(json.dumps({"sql": LYON}))
    assert not grammar.accepts(json.dumps({"sql": LYON.replace("cities", "towns")}))


async def test_a_query_that_the_grammar_let_through_is_guarded_like_any_other(ask: Run, endpoint: OpenAIServer) -> None:
    """A server may be wrong about what it holds to."""
    endpoint.models = ({"id": "m", "object": "model", "owned_by": "llamacpp"},)
    endpoint.otherwise = completion('{"sql": "DROP TABLE customers"}')
    model = OpenAIModel(Endpoint("m", base_url=endpoint.url, seconds=20.0))
    _, answer = await ask("Who is the best of them?", model, strategy="small/grammar")
    assert endpoint.requests[0].body["grammar"]
    assert answer.status != "success"
    assert answer.rows == []


@pytest.mark.parametrize("privacy", ["masked", "schema"])
async def test_a_reading_with_stored_values_is_no_hint_where_a_model_may_see_none(
    ask: Run, endpoint: OpenAIServer, privacy: str
) -> None:
    endpoint.otherwise = completion({"sql": "SELECT 1"})
    await ask("Which customers live in lyon?", at(endpoint), strategy="small", privacy=privacy)
    assert endpoint.requests
    assert all("<reading>" not in r.prompt and "Lyon" not in r.prompt for r in endpoint.requests)


async def test_how_much_was_written_is_told_while_it_comes(
    ask: Run, endpoint: OpenAIServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("agent.runtime.context.PROGRESS_SECONDS", 0.0)
    endpoint.otherwise = chunks('{"sql"', ': "', LYON, '"}')
    events, _ = await ask(IN_LYON, at(endpoint), strategy="small")
    told = [e.data for e in events if isinstance(e, ProgressEvent)]
    assert [(one.node, one.tokens) for one in told] == [("query_generator", n) for n in (1, 2, 3, 4)]


async def test_quick_replies_are_not_counted_out_loud(ask: Run, endpoint: OpenAIServer) -> None:
    endpoint.otherwise = completion({"sql": LYON})
    events, _ = await ask(IN_LYON, at(endpoint), strategy="small")
    assert not [e for e in events if isinstance(e, ProgressEvent)]


async def test_without_the_model_the_engine_answers_and_says_so(ask: Run) -> None:
    quota = ModelUnavailable("You exceeded your current quota.")
    _, answer = await ask(HOW_MANY, ScriptedModel(quota), strategy="small")
    assert (answer.rows, answer.error_kind) == ([[4]], None)
    assert any("the built-in engine answers without it" in doubt and "quota" in doubt for doubt in answer.doubts)


async def test_a_model_that_is_too_slow_leaves_time_for_the_engine(ask: Run) -> None:
    model = ScriptedModel("SELECT 1", seconds=60.0)
    _, answer = await ask(HOW_MANY, model, strategy="small", run_seconds=1.5)
    assert (answer.rows, model.cancelled) == ([[4]], 1)
    assert any("took too long" in doubt for doubt in answer.doubts)


async def test_nothing_that_both_cannot_read_is_made_up(ask: Run) -> None:
    _, answer = await ask("Is the moon made of cheese?", ScriptedModel(ModelAuthError("No key.")), strategy="small")
    assert (answer.status, answer.error_kind, answer.rows) == ("error", "model_auth", [])


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


def test_small_is_a_strategy_whose_parts_can_be_switched() -> None:
    parts = strategy("standard/engine/brief")
    assert (parts.engine, parts.brief, parts.judge) == (True, True, True)
    assert not strategy("small/no-engine").engine

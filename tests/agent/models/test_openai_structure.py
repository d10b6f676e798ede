"""Asking for JSON of endpoints that take it, refuse it or ignore it, and what else endpoints were seen to do."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from agent.config import Settings
from agent.models.endpoint import truncation
from agent.models.protocol import Model, ModelReplyError, PromptTooLong
from agent.models.quirks import SQL_TOKENS
from agent.models.structured import JUDGE_SCHEMA, REVIEW_SCHEMA, SQL_SCHEMA, plan_schema
from agent.runner import run
from eval.databases.base import Database
from tests.agent.models.conftest import KEY, ModelServer, judge_request, plan_request, sql_request
from tests.openai_server import Behaviour, OpenAIServer, Reply, Request, completion, error, raw
from tests.pairs import rows, values

SQL = {"reasoning": "counts", "sql": "SELECT COUNT(*) FROM customers"}
GOOD = completion(SQL)


def formats(server: OpenAIServer) -> list[str | None]:
    return [(body.get("response_format") or {}).get("type") for body in server.bodies]


async def test_the_sql_comes_out_of_a_strict_reply(server: ModelServer) -> None:
    server.script(GOOD)
    model = server.model()
    reply = await model.write_sql(sql_request())
    assert isinstance(model, Model)
    assert (reply.sql, reply.reasoning, reply.abstained) == (SQL["sql"], "counts", False)
    sent = server.requests[0]
    assert sent.path == "/v1/chat/completions"
    assert sent.headers["authorization"] == "Bearer sk-test-1234567890abcdef"
    assert sent.body["response_format"]["json_schema"]["strict"] is True
    assert sent.body["response_format"]["json_schema"]["schema"] == SQL_SCHEMA
    assert sent.body["temperature"] == 0.0


@pytest.mark.parametrize(
    "schema",
    [
        *(plan_schema(with_sql=sql, in_conversation=thread) for sql in (False, True) for thread in (False, True)),
        SQL_SCHEMA,
        REVIEW_SCHEMA,
        JUDGE_SCHEMA,
    ],
)
def test_schemas_keep_to_the_rules_of_strict_mode(schema: dict[str, Any]) -> None:
    def check(part: dict[str, Any]) -> int:
        if part["type"] == "object":
            assert part["additionalProperties"] is False
            assert part["required"] == list(part["properties"])
            return 1 + sum(check(inner) for inner in part["properties"].values())
        if part["type"] == "array":
            return check(part["items"])
        assert not {"minimum", "maximum", "pattern", "format", "default"} & set(part)
        return 0

    assert check(schema) >= 1


async def test_a_plan_is_read_and_a_score_out_of_range_sent_back(server: ModelServer) -> None:
    tasks = [{"id": "a", "description": "first", "depends_on": []}, {"id": 2, "description": "then", "depends_on": "a"}]
    server.script(completion({"plan_type": "multi", "confidence": "80%", "tasks": tasks}))
    plan = (await server.model().plan(plan_request())).plan
    assert plan.plan_type == "multi-sequential"
    assert plan.confidence == 0.8
    assert [(t.id, t.description, t.depends_on) for t in plan.tasks] == [("a", "first", []), ("2", "then", ["a"])]
    server.script(completion({"reasoning": "", "score": 85}), completion({"reasoning": "", "score": 0.85}))
    assert (await server.model().judge(judge_request())).score == 0.85
    assert "`score` must be a number from 0 to 1, not '85'" in server.requests[1].prompt


def without(field: str, words: str, status: int = 400, reply: Reply = GOOD) -> Behaviour:
    """A server that answers, but for requests with this field."""
    return lambda request: error(status, words) if field in request.body else reply


PROSE = completion("The customers are counted, I would say.")
BLANKS = completion('{"reasoning":' + "\n" * 4000)
OOPS = error(500, "oops")
STRICT, LOOSE = "json_schema", "json_object"


@pytest.mark.parametrize(
    ("replies", "sent"),
    [
        ([error(400, "'response_format' of type 'json_schema' is not supported with this model.")], [STRICT, LOOSE]),
        ([error(422, "json_schema: extra inputs are not permitted")], [STRICT, LOOSE]),
        ([error(500, "failed to parse grammar")], [STRICT, LOOSE]),
        ([without("response_format", "unknown field response_format")] * 2, [STRICT, LOOSE, None]),
        ([OOPS, OOPS], [STRICT, STRICT, LOOSE]),
        ([PROSE, PROSE], [STRICT, LOOSE, None]),
        ([BLANKS], [STRICT, LOOSE]),
    ],
    ids=["400", "422", "grammar", "every form", "500 twice", "ignored", "endless blanks"],
)
async def test_a_form_that_an_endpoint_cannot_keep_to_is_given_up_once_and_for_all(
    server: ModelServer, replies: list[Behaviour], sent: list[str | None]
) -> None:
    server.script(*replies, GOOD, GOOD, GOOD)
    model = server.model()
    assert [(await model.write_sql(sql_request())).sql for _ in range(2)] == [SQL["sql"]] * 2
    assert await server.sql() == SQL["sql"]
    assert formats(server) == [*sent, sent[-1], sent[-1]]


async def test_a_schema_that_worked_before_is_not_given_up_for_a_500(server: ModelServer) -> None:
    server.script(GOOD, OOPS, OOPS, GOOD)
    model = server.model()
    await model.write_sql(sql_request())
    await model.write_sql(sql_request())
    assert formats(server) == [STRICT] * 4


@pytest.mark.parametrize(("field", "words", "mode"), rows("replies/refused_fields.jsonl"))
async def test_a_refused_field_is_left_out_from_then_on(server: ModelServer, field: str, words: str, mode: str) -> None:
    server.otherwise = without(field, words)
    model = server.model(structured_output=mode, reasoning_effort="low")
    assert [(await model.write_sql(sql_request())).sql for _ in range(2)] == [SQL["sql"]] * 2
    assert [field in body for body in server.bodies] == [True, False, False]
    assert formats(server) == [{"auto": STRICT, "prompt": None}.get(mode, mode)] * 3


async def test_an_unusable_reply_is_sent_back_once_with_what_was_wrong_and_then_an_error(server: ModelServer) -> None:
    server.script(completion({"answer": 42}), GOOD)
    assert await server.sql() == SQL["sql"]
    roles = [m["role"] for m in server.bodies[1]["messages"]]
    assert roles == ["system", "user", "assistant", "user"]
    assert "`sql` must be a string" in server.bodies[1]["messages"][3]["content"]
    assert json.dumps(SQL_SCHEMA) in server.bodies[1]["messages"][3]["content"]
    server.script(completion({"answer": 42}), completion({"answer": 43}))
    with pytest.raises(ModelReplyError, match="`sql` must be a string") as raised:
        await server.sql()
    assert len(server.requests) == 2
    assert raised.value.usage.input_tokens == 200


@pytest.mark.parametrize("content", [None, "", "   \n", "<think>I wonder"])
async def test_an_empty_reply_is_asked_again_and_then_an_error(server: ModelServer, content: str | None) -> None:
    server.script(completion(content), GOOD)
    assert await server.sql() == SQL["sql"]
    server.script()
    server.otherwise = completion(content)
    with pytest.raises(ModelReplyError, match=r"the reply (is empty|contains no JSON object)"):
        await server.sql(model="m2")
    assert len(server.requests) == 4


MESSAGE = {"role": "assistant", "content": json.dumps(SQL)}
LABELLED = raw(json.dumps({"choices": [{"message": MESSAGE}]}), content_type="text/plain")  # though it is JSON
SORTED_AWAY = completion("", reasoning_content=json.dumps(SQL))


@pytest.mark.parametrize("content", [*values("replies/untidy.jsonl"), LABELLED, SORTED_AWAY])
async def test_sql_is_found_in_untidy_replies_at_once(server: ModelServer, content: str | Reply) -> None:
    server.script(completion(content) if isinstance(content, str) else content)
    assert await server.sql() == SQL["sql"]
    assert len(server.requests) == 1


async def test_a_refusal_is_an_abstention_for_sql_and_an_error_elsewhere(server: ModelServer) -> None:
    server.script(
        completion(None, refusal="I can't help with that."),
        completion(None, refusal="No."),
        completion({"reasoning": "There is no table of wages.", "sql": ""}),
        completion("SEL", finish_reason="content_filter"),
    )
    model = server.model()
    reply = await model.write_sql(sql_request())
    assert (reply.abstained, reply.reasoning, reply.usage.calls) == (True, "I can't help with that.", 1)
    with pytest.raises(ModelReplyError, match=r"declined.*No\."):
        await model.plan(plan_request())
    reply = await model.write_sql(sql_request())
    assert (reply.sql, reply.abstained, reply.reasoning) == ("", True, "There is no table of wages.")
    with pytest.raises(ModelReplyError, match="content filter"):
        await model.write_sql(sql_request())


async def test_a_reply_cut_off_at_the_limit_is_never_taken_for_whole(server: ModelServer) -> None:
    whole = completion({"reasoning": "", "sql": "SELECT COUNT(*) FROM customers WHERE id > 1"})
    server.script(completion("SELECT COUNT(*) FROM customers", finish_reason="length"), whole)
    reply = await server.model().write_sql(sql_request())
    assert reply.sql.endswith("WHERE id > 1")
    assert [body["max_completion_tokens"] for body in server.bodies] == [SQL_TOKENS, 2 * SQL_TOKENS]


@pytest.mark.parametrize("refused", ["logprobs is not supported", "bad request"])
async def test_log_probabilities_are_read_and_given_up_when_refused(server: ModelServer, refused: str) -> None:
    def stingy(request: Request) -> Reply:
        return error(400, refused) if request.body.get("logprobs") else completion("```sql\nSELECT 1\n```")

    asked = replace(sql_request(), short=True)
    server.script(completion("```sql\nSELECT 1\n```"), stingy, stingy, stingy, GOOD)
    model = server.model()
    told = (await model.write_sql(asked)).logprobs
    assert set(told) == {-0.5}
    assert [(await model.write_sql(asked)).logprobs for _ in range(2)] == [(), ()]
    assert ["logprobs" in body for body in server.bodies] == [True, True, False, False]
    assert (await model.write_sql(sql_request())).logprobs == ()  # nobody weighs them elsewhere


async def test_known_reasoning_models_are_not_sent_a_temperature_at_all(server: ModelServer) -> None:
    server.script(GOOD, GOOD)
    await server.model(model="gpt-5").write_sql(sql_request())
    await server.model(model="openai/o3-mini").write_sql(sql_request())
    assert [body.get("temperature") for body in server.bodies] == [None, None]


async def test_the_output_cap_goes_by_the_name_that_the_server_knows(server: ModelServer) -> None:
    server.script(
        error(400, "Unrecognized request argument supplied: max_completion_tokens"),
        GOOD,
        error(400, "max_tokens is too large: 16384. This model supports at most 4096 completion tokens"),
        GOOD,
    )
    model = server.model()
    await model.write_sql(sql_request())
    await model.write_sql(sql_request())
    caps = [sorted(k for k in body if k.startswith("max_")) for body in server.bodies]
    assert caps == [["max_completion_tokens"], ["max_tokens"], ["max_tokens"], []]


async def test_a_context_too_small_for_the_cap_is_asked_without_it(server: ModelServer) -> None:
    words = "This model's maximum context length is 8192 tokens, however you requested 9000 tokens"
    server.script(error(400, words, code="context_length_exceeded"), GOOD)
    assert await server.sql() == SQL["sql"]
    assert "max_completion_tokens" not in server.bodies[1]
    server.script(error(400, words, code="context_length_exceeded"))
    with pytest.raises(PromptTooLong, match="prompt is too long"):
        await server.model().write_sql(sql_request())
    assert len(server.requests) == 1


async def test_a_server_whose_streams_are_empty_is_asked_for_whole_replies_from_then_on(server: ModelServer) -> None:
    empty = Reply(body=b'data: {"choices": []}\n\ndata: [DONE]\n\n', content_type="text/event-stream")
    server.script(empty, GOOD, GOOD)
    model = server.model()
    assert [(await model.write_sql(sql_request())).sql for _ in range(2)] == [SQL["sql"]] * 2
    assert [body["stream"] for body in server.bodies] == [True, False, False]


@pytest.mark.parametrize(
    "words", ["System role not supported", "Developer instruction is not enabled for models/gemma-3-27b-it"]
)
async def test_a_model_that_refuses_the_system_role_is_told_by_the_user(server: ModelServer, words: str) -> None:
    def answer(request: Request) -> Reply:
        refused = any(message["role"] != "user" for message in request.body["messages"])
        return error(400, words) if refused else GOOD

    server.otherwise = answer
    model = server.model()
    assert (await model.write_sql(sql_request())).sql == SQL["sql"]
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
    usage = {"prompt_tokens": 4096, "completion_tokens": 5, "total_tokens": 4101}
    server.otherwise = completion(SQL, usage=usage)
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

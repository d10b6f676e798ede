"""What goes wrong between us and an endpoint: the error that the user sees, what is tried again, and how long."""

from __future__ import annotations

import asyncio
import time
from email.utils import formatdate

import pytest

from agent.models.failures import Failure, retry_after
from agent.models.protocol import (
    ModelAuthError,
    ModelError,
    ModelRateLimited,
    ModelRefused,
    ModelReplyError,
    ModelUnavailable,
    PromptTooLong,
)
from agent.models.retry_policy import RetryPolicy
from tests.agent.models.conftest import KEY, MakeModel, sql_request, timed_out
from tests.openai_server import OpenAIServer, Reply, completion, error, raw

GOOD = completion({"reasoning": "", "sql": "SELECT 1"})


async def fails(model_at: MakeModel, kind: type[ModelError], **settings: object) -> str:
    with pytest.raises(ModelError) as raised:
        await model_at(**settings).write_sql(sql_request())
    assert type(raised.value) is kind
    assert raised.value.usage is not None
    return str(raised.value)


@pytest.mark.parametrize("status", [401, 403])
async def test_a_bad_key_is_told_at_once_with_the_variable_to_set(
    server: OpenAIServer, model_at: MakeModel, status: int
) -> None:
    server.otherwise = error(status, f"Incorrect API key provided: {KEY}. Or sk-proj-****wxyz.", code="invalid_api_key")
    message = await fails(model_at, ModelAuthError)
    assert "OPENAI_API_KEY" in message
    assert "Incorrect API key provided: [key]" in message
    assert KEY not in message
    assert "wxyz" not in message
    assert len(server.requests) == 1


async def test_no_key_for_the_public_endpoint_is_told_without_calling_it(
    server: OpenAIServer, model_at: MakeModel
) -> None:
    message = await fails(model_at, ModelAuthError, base_url=None, api_key=None)
    assert "Set OPENAI_API_KEY" in message


@pytest.mark.parametrize("key", ["sk-“quoted”", "sk-a\nsk-b"])
async def test_a_key_that_was_pasted_wrong_is_told_without_sending_it(
    server: OpenAIServer, model_at: MakeModel, key: str
) -> None:
    assert "OPENAI_API_KEY" in await fails(model_at, ModelAuthError, api_key=key)
    assert server.requests == []


async def test_broken_text_in_a_question_can_be_sent(server: OpenAIServer, model_at: MakeModel) -> None:
    server.script(GOOD)
    assert (await model_at().write_sql(sql_request(question="Who is \ud83d?"))).sql == "SELECT 1"
    assert "Who is ??" in server.requests[0].prompt


async def test_a_local_server_needs_no_key(server: OpenAIServer, model_at: MakeModel) -> None:
    server.script(GOOD)
    assert (await model_at(api_key=None).write_sql(sql_request())).sql == "SELECT 1"


@pytest.mark.parametrize(
    "headers",
    [
        {"Retry-After": "0.3"},
        {"retry-after-ms": "300"},
        {"Retry-After": "Wed, 21 Oct 2015 07:28:01 GMT", "Date": "Wed, 21 Oct 2015 07:28:00 GMT"},
    ],
    ids=["seconds", "ms", "date"],
)
async def test_a_rate_limit_is_waited_for_as_the_server_asks(
    server: OpenAIServer, model_at: MakeModel, headers: dict[str, str]
) -> None:
    server.script(error(429, "slow down", headers=headers), GOOD)
    assert (await model_at().write_sql(sql_request())).sql == "SELECT 1"
    assert server.requests[1].at - server.requests[0].at >= 0.29


async def test_a_rate_limit_longer_than_the_time_allowed_is_told_at_once(
    server: OpenAIServer, model_at: MakeModel
) -> None:
    server.otherwise = error(429, "slow down", headers={"Retry-After": "120"})
    started = time.monotonic()
    message = await fails(model_at, ModelRateLimited)
    assert time.monotonic() - started < 60  # half of what the server asks for
    assert len(server.requests) == 1
    assert "slow down" in message


@pytest.mark.parametrize("code", [None, 429, 1113])
async def test_rate_limits_without_a_hint_are_waited_out_in_growing_steps_and_then_given_up(
    server: OpenAIServer, model_at: MakeModel, code: int | None
) -> None:
    """Some servers tell an empty account by a number of their own, so that it looks like an ordinary limit."""
    server.otherwise = error(429, "slow down", code=code)
    model = model_at(retry=RetryPolicy(first_wait=0.01, longest_wait=0.1))
    with pytest.raises(ModelRateLimited) as raised:
        await model.write_sql(sql_request())
    assert raised.value.final
    assert len(server.requests) == 8


def test_the_waits_at_a_rate_limit_last_over_a_minute() -> None:
    limited = Failure(ModelRateLimited, "slow down", retry=True, status=429)
    waits = [RetryPolicy().wait(limited, failures, 120.0) for failures in range(1, 9)]
    assert waits[-1] is None
    assert 45 < sum(wait or 0.0 for wait in waits) < 80


async def test_a_retry_that_hangs_is_told_by_what_it_retried(server: OpenAIServer, model_at: MakeModel) -> None:
    server.script(error(503, "overloaded"), completion("late", delay=30))
    assert "overloaded" in await fails(model_at, ModelUnavailable, seconds=0.8)


async def test_an_empty_account_is_not_waited_for(server: OpenAIServer, model_at: MakeModel) -> None:
    server.otherwise = error(429, "You exceeded your current quota", code="insufficient_quota")
    assert "no quota left" in await fails(model_at, ModelRateLimited)
    assert len(server.requests) == 1


@pytest.mark.parametrize("status", [500, 502, 503, 504, 529, 408, 409])
async def test_a_failing_server_is_tried_again(server: OpenAIServer, model_at: MakeModel, status: int) -> None:
    server.script(error(status, "try later"), GOOD)
    assert (await model_at().write_sql(sql_request())).sql == "SELECT 1"
    assert len(server.requests) == 2


@pytest.mark.parametrize(
    ("status", "said", "calls"),
    [(503, "Loading model", 9), (503, "Model m is currently loading", 9), (500, "starting up", 9), (503, "full", 5)],
)
async def test_a_model_that_is_loading_is_waited_for(
    server: OpenAIServer, model_at: MakeModel, status: int, said: str, calls: int
) -> None:
    server.script(*[error(status, said)] * 8, GOOD)
    model = model_at(retry=RetryPolicy(first_wait=0.001, longest_wait=0.002))
    if calls == 9:
        assert (await model.write_sql(sql_request())).sql == "SELECT 1"
    else:
        with pytest.raises(ModelUnavailable):
            await model.write_sql(sql_request())
    assert len(server.requests) == calls


@pytest.mark.parametrize("variable", ["HTTP_PROXY", "http_proxy", "ALL_PROXY"])
async def test_no_proxy_is_asked_for_this_machine(
    server: OpenAIServer, model_at: MakeModel, monkeypatch: pytest.MonkeyPatch, variable: str
) -> None:
    monkeypatch.setenv(variable, "http://127.0.0.1:9")
    server.script(GOOD)
    assert (await model_at().write_sql(sql_request())).sql == "SELECT 1"


async def test_a_server_that_stays_down_is_given_up_with_growing_waits(
    server: OpenAIServer, model_at: MakeModel
) -> None:
    server.otherwise = error(503, "overloaded")
    message = await fails(model_at, ModelUnavailable, retry=RetryPolicy(first_wait=0.04, longest_wait=1.0))
    assert "(503)" in message
    assert "overloaded" in message
    at = [r.at for r in server.requests]
    assert len(at) == 5
    assert at[4] - at[3] > 2 * (at[1] - at[0])


async def test_an_error_page_is_named_and_not_shown(server: OpenAIServer, model_at: MakeModel) -> None:
    page = "<html><head><title>502 Bad Gateway</title></head><body><script>x</script></body></html>"
    server.otherwise = raw(page, status=502, content_type="text/html")
    message = await fails(model_at, ModelUnavailable)
    assert "an HTML page titled '502 Bad Gateway'" in message
    assert "<" not in message


@pytest.mark.parametrize(
    "reply",
    [
        raw("<!doctype html><html><body>Welcome</body></html>", content_type="text/html"),
        raw("{not json"),
        raw("[]"),
        raw('"hello"'),
        raw("{}"),
        raw("", content_type="text/plain"),
        raw('{"id": "1", "object": "chat.completion", "created": 1, "model": "m", "choices": []}'),
        raw('{"id": "1", "object": "chat.completion", "created": 1, "model": "m", "choices": null}'),
        raw('{"choices": [{"index": 0}]}'),
        raw('{"choices": [{"index": 0, "message": "hello"}]}'),
        raw(b"\xff\xfe\x00\x01"),
    ],
    ids=["html", "broken json", "list", "string", "no fields", "nothing", "empty choices", "null choices",
         "no message", "message is text", "binary"],
)  # fmt: skip
async def test_a_body_that_is_no_completion_is_an_error_of_the_reply(
    server: OpenAIServer, model_at: MakeModel, reply: Reply
) -> None:
    server.otherwise = reply
    message = await fails(model_at, ModelReplyError)
    assert "OPENAI_BASE_URL" in message or "can't be used" in message


async def test_an_error_inside_a_successful_reply_counts_by_its_code(server: OpenAIServer, model_at: MakeModel) -> None:
    server.script(raw('{"error": {"message": "upstream is full", "code": 429}}'), GOOD)
    assert (await model_at().write_sql(sql_request())).sql == "SELECT 1"
    server.script(raw('{"error": {"message": "bad key", "code": 401}}'))
    assert "OPENAI_API_KEY" in await fails(model_at, ModelAuthError)


async def test_a_connection_reset_is_tried_again(server: OpenAIServer, model_at: MakeModel) -> None:
    server.script(Reply(cut="reset"), Reply(pieces=("SELECT 1",), cut="drop"), GOOD)
    assert (await model_at().write_sql(sql_request())).sql == "SELECT 1"
    server.otherwise = Reply(cut="reset")
    server.script()
    assert "broke off" in await fails(model_at, ModelUnavailable)
    assert len(server.requests) == 5


async def test_nobody_listening_is_told_with_the_address(server: OpenAIServer, model_at: MakeModel) -> None:
    with OpenAIServer() as served:
        url = served.url.replace("http://", "http://user:secret@")
    message = await fails(model_at, ModelUnavailable, base_url=url)
    assert served.url in message
    assert "secret" not in message
    assert "OPENAI_BASE_URL" in message


@pytest.mark.parametrize("url", ["localhost:11434/v1", "ftp://host/v1", "http://", "not a url"])
async def test_an_address_that_is_none_is_refused(server: OpenAIServer, model_at: MakeModel, url: str) -> None:
    assert "http://" in await fails(model_at, ModelRefused, base_url=url)


async def test_a_reply_that_takes_too_long_is_a_time_out(server: OpenAIServer, model_at: MakeModel) -> None:
    server.otherwise = completion("late", delay=120)
    await timed_out(server, model_at, lambda model: model.write_sql(sql_request()))


@pytest.mark.parametrize(
    ("reply", "words"),
    [
        (
            error(400, "This model's context window is 8192 tokens", code="context_length_exceeded"),
            "prompt is too long",
        ),
        (error(404, "The model `m` does not exist", code="model_not_found"), "TEXT2SQL_MODEL"),
        (raw("404 page not found", status=404, content_type="text/plain"), "/v1"),
        (error(413, "Request too large"), "Request too large"),
        (error(400, "bad " + "x" * 5000), "…"),
    ],
    ids=["too long", "no model", "no address", "413", "long message"],
)
async def test_a_refused_request_is_told_with_the_servers_words(
    server: OpenAIServer, model_at: MakeModel, reply: Reply, words: str
) -> None:
    server.otherwise = reply
    message = await fails(model_at, PromptTooLong if words == "prompt is too long" else ModelRefused)
    assert words in message
    assert len(message) < 600


async def test_cancelling_closes_the_connection(server: OpenAIServer, model_at: MakeModel) -> None:
    server.otherwise = completion("late", delay=30)
    asking = asyncio.create_task(model_at().write_sql(sql_request()))
    assert await asyncio.to_thread(server.arrived.wait, 5)
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking
    await asyncio.to_thread(server.disconnected.wait, 20)
    assert server.disconnected.is_set()


async def test_a_closed_model_can_be_used_again(server: OpenAIServer, model_at: MakeModel) -> None:
    server.script(GOOD, GOOD)
    model = model_at()
    await model.write_sql(sql_request())
    await model.close()
    await model.close()
    assert (await model.write_sql(sql_request())).sql == "SELECT 1"


def test_a_model_outlives_its_event_loop(server: OpenAIServer) -> None:
    from agent.models.openai import OpenAIModel
    from agent.models.protocol import Endpoint

    server.script(GOOD, GOOD)
    model = OpenAIModel(Endpoint("m", KEY, server.url))

    async def once() -> str:
        try:
            return (await model.write_sql(sql_request())).sql
        finally:
            await model.close()

    assert [asyncio.run(once()), asyncio.run(once())] == ["SELECT 1", "SELECT 1"]


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry-after": "7"}, 7.0),
        ({"retry-after": "-1"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "inf"}, None),
        ({"retry-after": "soon"}, None),
        ({"retry-after": formatdate(0, usegmt=True)}, 0.0),
        ({"retry-after": "9", "retry-after-ms": "250"}, 0.25),
    ],
)
def test_retry_after_is_read_in_each_of_its_forms(headers: dict[str, str], seconds: float | None) -> None:
    assert retry_after(headers) == seconds

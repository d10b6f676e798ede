"""What goes wrong between us and an endpoint: what the user sees, what is tried again, how connections are shared."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from dataclasses import replace
from typing import Any

import openai
import pytest

from agent.models import connections, protocol
from agent.models.connections import CALLS, Connections
from agent.models.failures import Failure, RetryPolicy, retry_after
from agent.models.protocol import ModelError, ModelRateLimited, ModelUnavailable
from tests.agent.models.conftest import KEY, ModelServer, sql_request
from tests.openai_server import OpenAIServer, Reply, completion, error, raw
from tests.pairs import rows, values

GOOD = completion({"reasoning": "", "sql": "SELECT 1"})


async def fails(server: ModelServer, kind: type[ModelError], **settings: Any) -> str:
    with pytest.raises(ModelError) as raised:
        await server.model(**settings).write_sql(sql_request())
    assert type(raised.value) is kind
    assert raised.value.usage is not None
    return str(raised.value)


@pytest.mark.parametrize(("kind", "words", "settings"), rows("replies/uncalled.jsonl"))
async def test_a_key_or_address_that_is_none_is_told_without_calling(
    server: ModelServer, kind: str, words: str, settings: dict[str, Any]
) -> None:
    assert words in await fails(server, getattr(protocol, kind), **settings)
    assert server.requests == []


GOOGLES = {
    "code": 429,
    "message": "You exceeded your current quota, please check your plan and billing details.",
    "status": "RESOURCE_EXHAUSTED",
    "details": [{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "0.3s"}],
}


@pytest.mark.parametrize(
    "limited",
    [error(429, "slow down", headers={"Retry-After": "0.3"}), raw(json.dumps([{"error": GOOGLES}]), status=429)],
    ids=["header", "Google's details"],
)
async def test_a_rate_limit_is_waited_for_as_the_server_asks(server: ModelServer, limited: Reply) -> None:
    server.script(limited, GOOD)
    assert await server.sql() == "SELECT 1"
    assert server.requests[1].at - server.requests[0].at >= 0.29


@pytest.mark.parametrize("code", [None, 1113])
async def test_rate_limits_without_a_hint_are_waited_out_and_given_up(server: ModelServer, code: int | None) -> None:
    """Some servers tell an empty account by a number of their own, so that it looks like an ordinary limit."""
    server.otherwise = error(429, "slow down", code=code)
    model = server.model(retry=RetryPolicy(first_wait=0.01, longest_wait=0.03))
    with pytest.raises(ModelRateLimited) as raised:
        await model.write_sql(sql_request())
    assert raised.value.final
    assert len(server.requests) == 8


def test_the_waits_grow_and_those_at_a_rate_limit_last_over_a_minute() -> None:
    limited = Failure(ModelRateLimited, "slow down", retry=True, status=429)
    waits = [RetryPolicy().wait(limited, failures, 120.0) for failures in range(1, 9)]
    assert waits[-1] is None
    assert 45 < sum(wait or 0.0 for wait in waits) < 80
    assert RetryPolicy().wait(replace(limited, wait=120.0), 1, 60.0) is None
    down = Failure(ModelUnavailable, "overloaded", retry=True, status=503)
    first, *_, last = (RetryPolicy().wait(down, failures, 120.0) or 0.0 for failures in range(1, 5))
    assert last > 2 * first > 0.0


async def test_a_retry_that_hangs_is_told_by_what_it_retried(server: ModelServer) -> None:
    server.script(error(503, "overloaded"), completion("late", delay=30))
    assert "overloaded" in await fails(server, ModelUnavailable, seconds=0.8)


def scripted(reply: dict[str, Any]) -> Reply:
    """A reply of the fixtures: an error as a server words it, a body that is no completion, a broken connection."""
    if "cut" in reply:
        return Reply(cut=reply["cut"], pieces=tuple(reply.get("pieces", ())))
    content_type = reply.get("type", "application/json")
    return raw(reply["body"].encode("latin-1"), status=reply["status"], content_type=content_type)


@pytest.mark.parametrize("failing", values("replies/tried_again.jsonl"))
async def test_a_failing_server_is_tried_again(server: ModelServer, failing: dict[str, Any]) -> None:
    server.script(scripted(failing), GOOD)
    assert await server.sql() == "SELECT 1"
    assert len(server.requests) == 2


@pytest.mark.parametrize(("status", "said"), [(503, "m is currently loading"), (500, "starting up")])
async def test_a_model_that_is_loading_is_waited_for(server: ModelServer, status: int, said: str) -> None:
    server.script(*[error(status, said)] * 8, GOOD)
    model = server.model(retry=RetryPolicy(first_wait=0.001, longest_wait=0.002))
    assert (await model.write_sql(sql_request())).sql == "SELECT 1"
    assert len(server.requests) == 9


async def test_no_proxy_is_asked_for_this_machine(server: ModelServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    server.script(GOOD)
    assert await server.sql() == "SELECT 1"


async def test_nobody_listening_is_told_with_the_address(server: ModelServer) -> None:
    with OpenAIServer() as served:
        url = served.url.replace("http://", "http://user:secret@")
    message = await fails(server, ModelUnavailable, base_url=url)
    assert served.url in message
    assert "secret" not in message
    assert "OPENAI_BASE_URL" in message


@pytest.mark.parametrize(("reply", "kind", "words", "calls"), rows("replies/failures.jsonl"))
async def test_an_error_is_told_in_words_of_ours_and_the_servers(
    server: ModelServer, reply: dict[str, Any], kind: str, words: str, calls: int | None
) -> None:
    server.otherwise = scripted(reply)
    message = await fails(server, getattr(protocol, kind))
    assert words in message
    assert kind != "ModelReplyError" or "OPENAI_BASE_URL" in message or "can't be used" in message
    assert len(message) < 600
    assert not [hidden for hidden in (KEY, "wxyz", "<") if hidden in message]
    assert len(server.requests) == calls or calls is None


async def test_a_closed_model_without_a_key_can_be_used_again_with_broken_text(server: ModelServer) -> None:
    server.script(GOOD, GOOD)
    model = server.model(api_key=None)
    assert (await model.write_sql(sql_request(question="Who is \ud83d?"))).sql == "SELECT 1"
    assert "Who is ??" in server.requests[0].prompt
    await model.close()
    await model.close()
    assert (await model.write_sql(sql_request())).sql == "SELECT 1"


@pytest.mark.parametrize(("headers", "seconds"), rows("replies/retry_after.jsonl"))
def test_retry_after_is_read_in_each_of_its_forms(headers: dict[str, str], seconds: float | None) -> None:
    assert retry_after(headers) == seconds


@pytest.fixture
async def opened() -> AsyncIterator[Connections]:
    made = Connections(openai.Timeout(5.0))
    made.open(openai.AsyncOpenAI(api_key="k", base_url="http://127.0.0.1:9/v1", http_client=made.first))
    yield made
    await made.close()


async def test_calls_that_follow_one_another_share_a_pool_until_it_is_closed(opened: Connections) -> None:
    async with opened.one() as first:
        pass
    async with opened.one() as second:
        assert second is first
    await opened.close()
    assert first.http.is_closed


async def test_a_rush_takes_pools_closed_after_it(opened: Connections, monkeypatch: pytest.MonkeyPatch) -> None:
    async with AsyncExitStack() as calls:
        used = [await calls.enter_async_context(opened.one()) for _ in range(3 * CALLS)]
        assert [used.count(pool) for pool in dict.fromkeys(used)] == [CALLS] * 3

    monkeypatch.setattr(connections, "IDLE_SECONDS", 0.0)
    for _ in range(3):
        async with opened.one() as pool:
            assert pool is used[0]
    assert [pool.http.is_closed for pool in dict.fromkeys(used)] == [False, True, True]

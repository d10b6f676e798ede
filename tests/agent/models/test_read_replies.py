"""What a reply holds is read from it, and each request to an endpoint is like the others."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from agent.models.chat import _EndpointChat
from agent.models.wire_format import Reply, Tokens
from tests.agent.models.conftest import MakeModel, sql_request
from tests.openai_server import OpenAIServer, completion, error

SQL = '{"sql": "SELECT 1"}'
MESSAGE = {"role": "assistant", "content": SQL}
USAGE = {"prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 10}


def whole(message: dict[str, Any], **more: Any) -> dict[str, Any]:
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    return {"id": "c", "object": "chat.completion", "model": "m", "choices": [choice], **more}


def piece(delta: dict[str, Any], reason: str | None = None, **more: Any) -> dict[str, Any]:
    return {"id": "c", "model": "m", "choices": [{"index": 0, "delta": delta, "finish_reason": reason}], **more}


@pytest.fixture(scope="module")
def library() -> _EndpointChat:
    return _EndpointChat(model="m", api_key="k", base_url="http://127.0.0.1:9/v1", use_responses_api=False)


@pytest.mark.parametrize(
    ("response", "reply"),
    [
        (whole(MESSAGE, usage=USAGE), Reply(SQL, tokens=Tokens(7, 3, 0))),
        (
            whole(MESSAGE, usage=USAGE | {"prompt_tokens_details": {"cached_tokens": 4}}),
            Reply(SQL, tokens=Tokens(7, 3, 4)),
        ),
        (whole(MESSAGE, usage=USAGE | {"prompt_tokens_details": None}), Reply(SQL, tokens=Tokens(7, 3, 0))),
        (whole(MESSAGE), Reply(SQL)),
        (
            whole({**MESSAGE, "content": None, "refusal": "No."}, usage=USAGE),
            Reply("", refusal="No.", tokens=Tokens(7, 3, 0)),
        ),
        (
            whole({**MESSAGE, "reasoning_content": "Hm."}, usage=USAGE),
            Reply(SQL, thoughts="Hm.", tokens=Tokens(7, 3, 0)),
        ),
        (whole({**MESSAGE, "content": ""}, usage=None), Reply("")),
    ],
)
def test_a_reply_is_read_with_what_servers_add(response: dict[str, Any], reply: Reply, library: _EndpointChat) -> None:
    assert library.reply(response) == replace(reply, finish_reason="stop", model="m")


@pytest.mark.parametrize(
    ("chunk", "reply"),
    [
        (piece({"role": "assistant", "content": ""}), Reply("")),
        (piece({"content": "The"}), Reply("The")),
        (piece({"reasoning_content": "Hm."}), Reply("", thoughts="Hm.")),
        (piece({"refusal": "No."}), Reply("", refusal="No.")),
        (piece({}, "stop"), Reply("", finish_reason="stop")),
        (piece({"content": None}, "length", usage=None), Reply("", finish_reason="length")),
        (piece({}), Reply("")),
    ],
)
def test_a_piece_is_read_with_what_servers_add(chunk: dict[str, Any], reply: Reply, library: _EndpointChat) -> None:
    assert library.piece(chunk) == replace(reply, model="m")


async def test_requests_after_the_first_are_like_it(server: OpenAIServer, model_at: MakeModel) -> None:
    server.keep_alive = True
    usual = completion({"reasoning": "", "sql": "SELECT 1"})
    server.script(usual, usual, error(429, "slow down", headers={"Retry-After": "0"}), usual, usual)
    model = model_at(extra_headers={"X-Team": "sales"})
    replies = [await model.write_sql(sql_request()) for _ in range(4)]
    await model.close()

    assert {reply.sql for reply in replies} == {"SELECT 1"}
    first, *others = server.requests
    assert first.headers["x-team"] == "sales"
    assert first.headers["authorization"].startswith("Bearer ")
    assert [one.headers for one in others] == [first.headers] * 4
    assert [(one.path, one.body) for one in others] == [(first.path, first.body)] * 4

"""What is left out of a model call to make it cheap changes nothing that an endpoint or a caller sees."""

from __future__ import annotations

from typing import Any

import pytest

from agent.models.chat import _EndpointChat
from agent.models.wire_format import Reply, plain_piece, plain_reply
from tests.agent.models.conftest import MakeModel, sql_request
from tests.openai_server import OpenAIServer, completion, error

MESSAGE = {"role": "assistant", "content": '{"sql": "SELECT 1"}'}
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
    "response",
    [
        whole(MESSAGE, usage=USAGE),
        whole(MESSAGE, usage=USAGE | {"prompt_tokens_details": {"cached_tokens": 4}}),
        whole(MESSAGE, usage=USAGE | {"prompt_tokens_details": None}),
        whole(MESSAGE),
        whole({**MESSAGE, "content": None, "refusal": "No."}, usage=USAGE),
        whole({**MESSAGE, "reasoning_content": "Hm."}, usage=USAGE),
        whole({**MESSAGE, "content": ""}, usage=None),
    ],
)
def test_a_plain_reply_is_read_as_the_library_reads_it(
    response: dict[str, Any], library: _EndpointChat, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = plain_reply(response)
    monkeypatch.setattr("agent.models.chat.plain_reply", lambda _: None)
    assert plain == library.reply(response)


@pytest.mark.parametrize(
    "chunk",
    [
        piece({"role": "assistant", "content": ""}),
        piece({"content": "The"}),
        piece({"reasoning_content": "Hm."}),
        piece({"refusal": "No."}),
        piece({}, "stop"),
        piece({"content": None}, "length", usage=None),
    ],
)
def test_a_plain_piece_is_read_as_the_library_reads_it(
    chunk: dict[str, Any], library: _EndpointChat, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = plain_piece(chunk)
    monkeypatch.setattr("agent.models.chat.plain_piece", lambda _: None)
    assert plain == library.piece(chunk)


@pytest.mark.parametrize(
    "response",
    [
        None,
        "text",
        {"error": {"message": "busy"}},
        {"choices": None},
        whole({"role": "assistant", "content": [{"type": "text", "text": "a"}]}),
        whole({**MESSAGE, "tool_calls": [{"id": "1"}]}),
        whole({"role": "tool", "content": "a"}),
        whole(MESSAGE, usage={"prompt_tokens": "7"}),
        whole(MESSAGE, usage=USAGE, service_tier="flex"),
    ],
)
def test_an_unusual_reply_is_left_to_the_library(response: object) -> None:
    assert plain_reply(response) is None


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


def test_a_reply_without_anything_is_empty() -> None:
    assert plain_piece(piece({})) == Reply("", model="m")

"""Summaries: streamed to whoever listens, whole in the end, whatever happens to the stream; and what calls cost."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from agent.models.protocol import ModelAuthError, ModelError, ModelReplyError, ModelUnavailable
from tests.agent.models.conftest import KEY, ModelServer, sql_request, summary_request, timed_out
from tests.openai_server import Reply, chunks, completion, error, raw
from tests.pairs import values

ANSWER = "There are **1,234** customers."
WHOLE = completion(ANSWER)
BAD_KEY = '{"error": {"message": "bad key", "code": 401}}'


async def streamed(server: ModelServer, **settings: Any) -> tuple[str, list[str]]:
    pieces: list[str] = []
    summary = await server.model(**settings).summarize(summary_request(), pieces.append)
    assert "".join(pieces) == summary.text
    return summary.text, pieces


async def test_the_answer_arrives_piece_by_piece(server: ModelServer) -> None:
    server.script(WHOLE)
    text, pieces = await streamed(server)
    assert text == ANSWER
    assert len(pieces) > 2
    assert server.bodies[0]["stream"] is True
    assert server.bodies[0]["stream_options"] == {"include_usage": True}


BROKEN = 'data: {"choices": [{"index": 0, "delta": {"content": "There "}}]}\n\ndata: {"choices": [{"ind\n\n'
RESTARTED = "There are **1,2\n\n*(The connection broke; the answer starts again.)*\n\nWe count 1,234."
CUT_OFF = "There are\n\n*(The answer was cut off at the model's length limit.)*"


def begun(cut: str) -> Reply:
    return chunks("There are ", "**1,2", cut=cut)


@pytest.mark.parametrize(
    ("replies", "text", "streams"),
    [
        *(([begun(cut), WHOLE], ANSWER, [True, False]) for cut in ("end", "drop", "reset")),
        ([begun("drop"), completion("We count 1,234.")], RESTARTED, [True, False]),
        ([Reply(cut="reset"), error(503, "busy"), WHOLE], ANSWER, [True, True, True]),
        ([raw("", content_type="text/event-stream"), WHOLE], ANSWER, [True, True]),
        ([raw(BROKEN, content_type="text/event-stream"), WHOLE], ANSWER, [True, False]),
        ([completion(ANSWER, reasoning_content="I count 77")], ANSWER, [True]),
        ([completion("There are", finish_reason="length")], CUT_OFF, [True]),
    ],
)
async def test_an_answer_is_whole_however_it_came(
    server: ModelServer, replies: list[Reply], text: str, streams: list[bool]
) -> None:
    server.script(*replies)
    assert (await streamed(server))[0] == text
    assert [bool(body.get("stream")) for body in server.bodies] == streams


@pytest.mark.parametrize(
    "first", ["retry: 3000\n\n", "event: ping\n\n", "event: ping\ndata: {}\n\n", "data:\n\n", ": hi\n\n"]
)
async def test_events_without_data_are_no_pieces(server: ModelServer, first: str) -> None:
    chunk = '{"choices": [{"index": 0, "delta": {"content": "Four."}, "finish_reason": "stop"}]}'
    server.script(raw(f"{first}data: {chunk}\n\n{first}data: [DONE]\n\n", content_type="text/event-stream"))
    assert (await streamed(server))[0] == "Four."
    assert len(server.requests) == 1


@pytest.mark.parametrize("aloud", values("replies/aloud.jsonl"))
async def test_thinking_aloud_is_not_shown(server: ModelServer, aloud: str) -> None:
    written = aloud.replace("ANSWER", ANSWER)
    server.script(completion(written), chunks(*written))
    assert (await streamed(server))[0] == ANSWER
    assert (await streamed(server))[0] == ANSWER


async def test_a_model_known_to_think_first_is_not_shown_thinking(server: ModelServer) -> None:
    server.script(completion('I count.</think>{"reasoning": "", "sql": "SELECT 1"}'))
    model = server.model()
    assert (await model.write_sql(sql_request())).sql == "SELECT 1"
    server.script(completion(f"I count 77.</think>{ANSWER}"), WHOLE, WHOLE)
    assert (await streamed(server))[0] == ANSWER
    assert len(server.requests) == 1
    assert (await streamed(server))[0] == ANSWER
    assert len(server.requests) == 3


@pytest.mark.parametrize(
    ("reply", "kind", "words", "calls"),
    [
        (Reply(pieces=("There are ",), cut="drop"), ModelUnavailable, "broke off", 6),
        (completion(None, refusal="I won't."), ModelReplyError, r"declined to answer: I won't\.", 1),
        (raw(f"data: {BAD_KEY}\n\n", content_type="text/event-stream"), ModelAuthError, "OPENAI_API_KEY", 1),
        (completion(""), ModelReplyError, "empty answer", None),
    ],
)
async def test_what_gives_no_answer_is_an_error(
    server: ModelServer, reply: Reply, kind: type[ModelError], words: str, calls: int | None
) -> None:
    server.otherwise = reply
    with pytest.raises(kind, match=words):
        await streamed(server)
    assert calls in (len(server.requests), None)


async def test_a_stream_that_stalls_is_a_time_out(server: ModelServer) -> None:
    server.otherwise = chunks("There ", "are ", pause=120)
    await timed_out(server, lambda model: model.summarize(summary_request(), lambda _: None))


async def test_cancelling_a_stream_closes_the_connection(server: ModelServer) -> None:
    server.script(chunks(*(["word "] * 1000), pause=0.05))
    begun = asyncio.Event()
    writing = asyncio.create_task(server.model().summarize(summary_request(), lambda _: begun.set()))
    await asyncio.wait_for(begun.wait(), 5)
    writing.cancel()
    with pytest.raises(asyncio.CancelledError):
        await writing
    await asyncio.to_thread(server.disconnected.wait, 20)
    assert server.disconnected.is_set()


# --- what calls cost ---

USAGE = {
    "prompt_tokens": 1_000_000,
    "completion_tokens": 100_000,
    "total_tokens": 1_100_000,
    "prompt_tokens_details": {"cached_tokens": 600},
}
SQL = {"reasoning": "", "sql": "SELECT 1"}


async def test_tokens_and_cost_are_kept(server: ModelServer) -> None:
    server.script(completion(SQL, usage=USAGE), completion(ANSWER, usage=USAGE))
    model = server.model(price_input=2.0, price_output=10.0)
    usage = (await model.write_sql(sql_request())).usage
    assert (usage.calls, usage.input_tokens, usage.output_tokens, usage.cached_tokens) == (1, 1_000_000, 100_000, 600)
    assert usage.cost_usd == pytest.approx(3.0)
    assert usage.seconds > 0
    summary = await model.summarize(summary_request(), lambda _: None)
    assert summary.usage.cost_usd == pytest.approx(3.0)


@pytest.mark.parametrize(
    ("prices", "reported", "cost"),
    [
        ({"price_input": 1.0}, USAGE, None),
        ({"price_input": 1.0, "price_output": 1.0}, None, None),
        ({"price_input": 0.0, "price_output": 0.0}, None, 0.0),
    ],
    ids=["one price", "no tokens reported", "free of charge"],
)
async def test_an_unknown_cost_stays_unknown(
    server: ModelServer, prices: dict[str, Any], reported: dict[str, object], cost: float | None
) -> None:
    server.script(completion(SQL, usage=reported))
    usage = (await server.model(**prices).write_sql(sql_request())).usage
    assert usage.cost_usd == cost
    assert usage.input_tokens == (1_000_000 if reported else 0)


async def test_the_key_is_in_no_representation(server: ModelServer) -> None:
    model = server.model()
    assert KEY not in repr(model)
    assert KEY not in repr(model._settings)

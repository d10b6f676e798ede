"""Summaries: streamed to whoever listens, whole in the end, whatever happens to the stream; and what calls cost."""

from __future__ import annotations

import asyncio

import pytest

from agent.models.protocol import ModelAuthError, ModelReplyError, ModelUnavailable
from tests.agent.models.conftest import KEY, MakeModel, sql_request, summary_request, timed_out
from tests.openai_server import OpenAIServer, Reply, Request, chunks, completion, error, raw

ANSWER = "There are **1,234** customers."


async def streamed(model_at: MakeModel, **settings: object) -> tuple[str, list[str]]:
    pieces: list[str] = []
    summary = await model_at(**settings).summarize(summary_request(), pieces.append)
    assert "".join(pieces) == summary.text
    return summary.text, pieces


async def test_the_answer_arrives_piece_by_piece(server: OpenAIServer, model_at: MakeModel) -> None:
    server.script(completion(ANSWER))
    text, pieces = await streamed(model_at)
    assert text == ANSWER
    assert len(pieces) > 2
    assert server.bodies[0]["stream"] is True
    assert server.bodies[0]["stream_options"] == {"include_usage": True}


async def test_without_a_listener_the_thinking_is_left_out_too(server: OpenAIServer, model_at: MakeModel) -> None:
    server.script(completion(f"<think>count</think>\n{ANSWER}"))
    assert (await model_at().summarize(summary_request("one doubt"))).text == ANSWER
    assert "- one doubt" in server.requests[0].prompt


@pytest.mark.parametrize("cut", ["end", "drop", "reset"])
async def test_a_stream_that_breaks_off_is_finished_by_a_second_call(
    server: OpenAIServer, model_at: MakeModel, cut: str
) -> None:
    server.script(chunks("There are ", "**1,2", cut=cut), completion(ANSWER))
    text, pieces = await streamed(model_at)
    assert text == ANSWER
    assert len(pieces) >= 2
    assert not server.bodies[1].get("stream")


async def test_a_second_answer_in_other_words_starts_again_openly(server: OpenAIServer, model_at: MakeModel) -> None:
    server.script(chunks("There are ", "**1,2", cut="drop"), completion("We count 1,234."))
    text, _ = await streamed(model_at)
    assert text == "There are **1,2\n\n*(The connection broke; the answer starts again.)*\n\nWe count 1,234."


async def test_a_server_that_cuts_everything_off_is_unavailable(server: OpenAIServer, model_at: MakeModel) -> None:
    server.otherwise = Reply(pieces=("There are ",), cut="drop")
    with pytest.raises(ModelUnavailable, match="broke off"):
        await streamed(model_at)
    assert len(server.requests) == 6


async def test_a_stream_that_fails_before_it_begins_is_tried_again(server: OpenAIServer, model_at: MakeModel) -> None:
    server.script(Reply(cut="reset"), error(503, "busy"), completion(ANSWER))
    assert (await streamed(model_at))[0] == ANSWER
    assert server.bodies[2]["stream"] is True


async def test_a_server_that_does_not_stream_is_asked_for_one_piece(server: OpenAIServer, model_at: MakeModel) -> None:
    server.script(raw("", content_type="text/event-stream"), completion(ANSWER))
    assert (await streamed(model_at))[0] == ANSWER


@pytest.mark.parametrize(
    "first", ["retry: 3000\n\n", "event: ping\n\n", "event: ping\ndata: {}\n\n", "data:\n\n", ": hi\n\n"]
)
async def test_events_without_data_are_no_pieces(server: OpenAIServer, model_at: MakeModel, first: str) -> None:
    chunk = '{"choices": [{"index": 0, "delta": {"content": "Four."}, "finish_reason": "stop"}]}'
    server.script(raw(f"{first}data: {chunk}\n\n{first}data: [DONE]\n\n", content_type="text/event-stream"))
    assert (await streamed(model_at))[0] == "Four."
    assert len(server.requests) == 1


async def test_a_server_without_stream_options_is_not_sent_them_again(
    server: OpenAIServer, model_at: MakeModel
) -> None:
    def strict(request: Request) -> Reply:
        return error(400, "Unknown field: stream_options") if "stream_options" in request.body else completion(ANSWER)

    server.script(strict, strict, strict)
    await streamed(model_at)
    await streamed(model_at)
    assert ["stream_options" in body for body in server.bodies] == [True, False, False]


@pytest.mark.parametrize(
    "written",
    [
        f"<think>1,234? yes</think>\n\n{ANSWER}",
        f"<thinking>so <b>many</b></thinking>{ANSWER}",
        f"<|channel|>analysis<|message|>hm, 99<|end|><|start|>assistant<|channel|>final<|message|>{ANSWER}<|return|>",
        f"<|channel|>final<|message|>{ANSWER}",
        f"{ANSWER}<|im_end|>",
        f"\n\n {ANSWER}",
    ],
)
async def test_thinking_aloud_is_not_shown(server: OpenAIServer, model_at: MakeModel, written: str) -> None:
    server.script(completion(written), chunks(*written))
    assert (await streamed(model_at))[0] == ANSWER
    assert (await streamed(model_at))[0] == ANSWER


async def test_a_model_known_to_think_first_is_not_shown_thinking(server: OpenAIServer, model_at: MakeModel) -> None:
    server.script(completion('I count.</think>{"reasoning": "", "sql": "SELECT 1"}'))
    model = model_at()
    assert (await model.write_sql(sql_request())).sql == "SELECT 1"
    server.script(completion(f"I count 77.</think>{ANSWER}"), completion(ANSWER), completion(ANSWER))
    assert (await streamed(model_at))[0] == ANSWER
    assert len(server.requests) == 1
    assert (await streamed(model_at))[0] == ANSWER
    assert len(server.requests) == 3


async def test_a_broken_piece_makes_the_answer_come_in_one(server: OpenAIServer, model_at: MakeModel) -> None:
    begun = b'data: {"choices": [{"index": 0, "delta": {"content": "There "}}]}\n\ndata: {"choices": [{"ind\n\n'
    server.script(raw(begun, content_type="text/event-stream"), completion(ANSWER))
    text, pieces = await streamed(model_at)
    assert (text, pieces[0]) == (ANSWER, "There ")


async def test_reasoning_apart_from_the_content_is_not_shown(server: OpenAIServer, model_at: MakeModel) -> None:
    server.script(completion(ANSWER, reasoning_content="I count 77"))
    assert (await streamed(model_at))[0] == ANSWER


async def test_nothing_but_thinking_is_asked_for_again_and_then_an_error(
    server: OpenAIServer, model_at: MakeModel
) -> None:
    server.script(completion("<think>hm"), completion(ANSWER))
    assert (await streamed(model_at))[0] == ANSWER
    server.otherwise = completion("")
    with pytest.raises(ModelReplyError, match="empty answer"):
        await streamed(model_at)


async def test_an_answer_cut_off_at_the_limit_says_so(server: OpenAIServer, model_at: MakeModel) -> None:
    server.script(completion("There are", finish_reason="length"))
    assert (await streamed(model_at))[0] == "There are\n\n*(The answer was cut off at the model's length limit.)*"


async def test_a_refusal_is_told(server: OpenAIServer, model_at: MakeModel) -> None:
    server.script(completion(None, refusal="I won't."))
    with pytest.raises(ModelReplyError, match=r"declined to answer: I won't\."):
        await streamed(model_at)


async def test_an_error_in_the_stream_counts_by_its_code(server: OpenAIServer, model_at: MakeModel) -> None:
    server.script(raw('data: {"error": {"message": "bad key", "code": 401}}\n\n', content_type="text/event-stream"))
    with pytest.raises(ModelAuthError, match="OPENAI_API_KEY"):
        await streamed(model_at)


async def test_a_stream_that_stalls_is_a_time_out(server: OpenAIServer, model_at: MakeModel) -> None:
    server.otherwise = chunks("There ", "are ", pause=120)
    await timed_out(server, model_at, lambda model: model.summarize(summary_request(), lambda _: None))


async def test_cancelling_a_stream_closes_the_connection(server: OpenAIServer, model_at: MakeModel) -> None:
    server.script(chunks(*(["word "] * 1000), pause=0.05))
    begun = asyncio.Event()
    writing = asyncio.create_task(model_at().summarize(summary_request(), lambda _: begun.set()))
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


async def test_tokens_and_cost_are_kept(server: OpenAIServer, model_at: MakeModel) -> None:
    server.script(completion(SQL, usage=USAGE), completion(ANSWER, usage=USAGE))
    model = model_at(price_input=2.0, price_output=10.0)
    usage = (await model.write_sql(sql_request())).usage
    assert (usage.calls, usage.input_tokens, usage.output_tokens, usage.cached_tokens) == (1, 1_000_000, 100_000, 600)
    assert usage.cost_usd == pytest.approx(3.0)
    assert usage.seconds > 0
    summary = await model.summarize(summary_request(), lambda _: None)
    assert summary.usage.cost_usd == pytest.approx(3.0)


async def test_a_repair_is_counted(server: OpenAIServer, model_at: MakeModel) -> None:
    server.script(completion({"no": 1}, usage=USAGE), completion(SQL, usage=USAGE))
    usage = (await model_at(price_input=1.0, price_output=0.0).write_sql(sql_request())).usage
    assert (usage.calls, usage.cost_usd) == (2, pytest.approx(2.0))


@pytest.mark.parametrize(
    ("prices", "reported", "cost"),
    [
        ({}, USAGE, None),
        ({"price_input": 1.0}, USAGE, None),
        ({"price_input": 1.0, "price_output": 1.0}, None, None),
        ({"price_input": 0.0, "price_output": 0.0}, None, 0.0),
    ],
    ids=["no price", "one price", "no tokens reported", "free of charge"],
)
async def test_an_unknown_cost_stays_unknown(
    server: OpenAIServer, model_at: MakeModel, prices: dict[str, float], reported: dict[str, object], cost: float | None
) -> None:
    server.script(completion(SQL, usage=reported))
    usage = (await model_at(**prices).write_sql(sql_request())).usage
    assert usage.cost_usd == cost
    assert usage.input_tokens == (1_000_000 if reported else 0)


async def test_the_key_is_in_no_representation(server: OpenAIServer, model_at: MakeModel) -> None:
    model = model_at()
    assert KEY not in repr(model)
    assert KEY not in repr(model._settings)

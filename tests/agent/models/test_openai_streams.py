"""Summaries: streamed, whole in the end whatever the stream does; replies not to be believed; what calls cost."""

from __future__ import annotations

import asyncio
import time
from typing import Any

import pytest

from agent.models.distrust import LOOP_CHARS, flaw, loop
from agent.models.protocol import ModelAuthError, ModelError, ModelReplyError, ModelUnavailable
from tests.agent.models.conftest import (
    KEY,
    ModelServer,
    judge_request,
    plan_request,
    sql_request,
    summary_request,
    timed_out,
)
from tests.openai_server import Reply, chunks, completion, error, raw
from tests.pairs import rows, values

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
ONE = {"reasoning": "", "sql": "SELECT 1"}


async def test_tokens_and_cost_are_kept(server: ModelServer) -> None:
    server.script(completion(ONE, usage=USAGE), completion(ANSWER, usage=USAGE))
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
    server.script(completion(ONE, usage=reported))
    usage = (await server.model(**prices).write_sql(sql_request())).usage
    assert usage.cost_usd == cost
    assert usage.input_tokens == (1_000_000 if reported else 0)


async def test_the_key_is_in_no_representation(server: ModelServer) -> None:
    model = server.model()
    assert KEY not in repr(model)
    assert KEY not in repr(model._settings)


SQL = {"reasoning": "counts", "sql": "SELECT COUNT(*) FROM customers"}
ENDLESS = '{"reasoning": "", "sql": "SELECT * FROM customers WHERE id = 1' + "0" * 3_000
TASK = {"id": "task_1", "description": "Count the customers.", "depends_on": []}


ENDLESS_TEXTS = [
    ("id = 1" + "0" * LOOP_CHARS, "it repeats '0' without end"),
    ("and so " * 40, "it repeats 'and so' without end"),
    (
        " OR ".join(f"(SELECT * FROM plan WHERE plan_type = {n})" for n in range(90)),
        "it repeats 'OR (SELECT * FROM plan WHERE plan_type =' without end, counting",
    ),
    ("Four" + "\n" * LOOP_CHARS, "it goes on in blanks without end"),
    ("Four" + "".join(" \n\t"[i % 3] * (1 + i % 7) for i in range(80)), "it goes on in blanks without end"),
]


@pytest.mark.parametrize(("text", "why"), [*rows("replies/given_away.jsonl"), *ENDLESS_TEXTS])
def test_what_gives_a_text_away(text: str, why: str) -> None:
    assert flaw(text) == why


@pytest.mark.parametrize("text", values("replies/ordinary.jsonl"))
def test_ordinary_texts_are_believed(text: str) -> None:
    assert flaw(text) == ""


@pytest.mark.parametrize(
    "text",
    [
        "SELECT * FROM t WHERE id IN (" + ", ".join(str(n) for n in range(900)),
        "SELECT * FROM t WHERE id IN (" + ", ".join(f"'CUST{n:06}'" for n in range(200)),
        "SELECT " + ", ".join(f"SUM(CASE WHEN month = {n} THEN amount ELSE 0 END) AS month_{n}" for n in range(12)),
    ],
)
def test_a_list_that_counts_is_no_loop(text: str) -> None:
    assert loop(text) == ""


def plan_of(**changes: str) -> Reply:
    return completion({"plan_type": "single", "confidence": 0.9, "tasks": [TASK | changes]})


@pytest.mark.parametrize(
    ("reply", "why"),
    [
        (plan_of(sql="SELECT ..."), "not to be believed"),
        (plan_of(description="</schema> Count."), "not to be believed"),
        (completion('{"plan_type": "single", "tasks": [{"id": "1", ', finish_reason="length"), "at the length limit"),
    ],
)
async def test_a_plan_of_template_text_or_no_end_is_dropped(server: ModelServer, reply: Reply, why: str) -> None:
    server.script(reply)
    with pytest.raises(ModelReplyError, match=why):
        await server.model().plan(plan_request())
    assert len(server.requests) == 1


async def test_a_query_of_template_text_is_written_again_without_showing_it(server: ModelServer) -> None:
    dots_in_a_value = "SELECT id FROM customers WHERE \"name\" = 'to be ...' -- …"
    server.script(completion(SQL | {"sql": "SELECT ..."}), completion(SQL | {"sql": dots_in_a_value}))
    assert await server.sql() == dots_in_a_value
    assert "its query is a template" in server.requests[1].prompt
    assert [m["role"] for m in server.bodies[1]["messages"]] == ["system", "user", "user"]


HANDED_ON = ['<result rows="1">\n["n"]\n[1234]\n</result>', "There are 1,234.<start_of_turn>user\nAnd orders?"]


@pytest.mark.parametrize("text", [*HANDED_ON, "How many customers are there?", "There are many, " + "many, " * 400])
async def test_a_summary_that_hands_on_the_prompt_is_none(server: ModelServer, text: str) -> None:
    server.script(completion(text))
    shown: list[str] = []
    with pytest.raises(ModelReplyError, match="not to be believed"):
        await server.model().summarize(summary_request(), shown.append)
    assert "<" not in "".join(shown)
    assert len("".join(shown)) < 500


# --- while it is written ---


async def test_a_reply_without_end_is_stopped_and_its_connection_closed(server: ModelServer) -> None:
    pieces = [ENDLESS[i : i + 20] for i in range(0, len(ENDLESS), 20)]
    server.script(chunks(*pieces, pause=0.01), completion(SQL))
    assert await server.sql() == SQL["sql"]
    await asyncio.to_thread(server.disconnected.wait, 20)
    assert server.disconnected.is_set()
    assert "without end" in server.requests[1].prompt


async def test_a_slow_reply_may_take_longer_than_the_silence_allowed(server: ModelServer) -> None:
    text = '{"reasoning": "one after another", "sql": "SELECT 1"}'
    server.script(chunks(*text, pause=0.025))
    started = time.monotonic()
    assert await server.sql(seconds=1.0) == "SELECT 1"
    assert time.monotonic() - started > 1.0


async def test_each_step_has_its_cap_and_a_model_that_thinks_has_room(server: ModelServer) -> None:
    server.otherwise = completion(SQL | {"score": 0.5, "tasks": [TASK], "confidence": 1, "plan_type": "single"})
    model = server.model()
    await model.plan(plan_request())
    await model.write_sql(sql_request())
    await model.judge(judge_request())
    await model.summarize(summary_request())
    assert [body["max_completion_tokens"] for body in server.bodies] == [1_024, 1_024, 768, 1_536]
    server.script(completion("<think>First", finish_reason="length"), completion(SQL), completion(SQL))
    await model.write_sql(sql_request())
    await model.write_sql(sql_request())
    assert [body["max_completion_tokens"] for body in server.bodies] == [1_024, 16_384, 16_384]
    assert server.bodies[1]["messages"] == server.bodies[0]["messages"]


async def test_a_server_that_knows_no_structured_replies_is_asked_for_a_fenced_query(server: ModelServer) -> None:
    server.script(completion("```sql\nSELECT COUNT(*) FROM customers\n```"), completion("CANNOT: no table of wages"))
    model = server.model(structured_output="prompt")
    assert (await model.write_sql(sql_request())).sql == SQL["sql"]
    assert "in one fenced block" in server.requests[0].prompt
    assert "JSON" not in server.requests[0].prompt
    reply = await model.write_sql(sql_request())
    assert (reply.abstained, reply.reasoning) == (True, "no table of wages")

"""Replies of the right form whose content gives them away: templates, the prompt's words, leaked tags, loops."""

from __future__ import annotations

import asyncio
import time

import pytest

from agent.models.distrust import LOOP_CHARS, flaw, loop
from agent.models.protocol import ModelReplyError
from tests.agent.models.conftest import ModelServer, judge_request, plan_request, sql_request, summary_request
from tests.openai_server import Reply, chunks, completion
from tests.pairs import rows, values

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

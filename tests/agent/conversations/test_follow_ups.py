"""Follow-up questions: read with what was said before, and answered as if they had been asked in full."""

from __future__ import annotations

import pytest

from agent.models.protocol import ModelError, PlanReply
from agent.state import HISTORY_TURNS, single_task_plan
from eval.databases.base import Database
from tests.agent.conversations.conftest import Talk
from text2sql import Thread
from text2sql.testing import ScriptedModel

OUTAGE = ModelError("the endpoint is away")

STORES = ["file"]
"""How a follow-up is read depends on the store by nothing but what it keeps, which `test_threads` tries on each."""

COUNT = "SELECT COUNT(*) FROM customers"
BY_CITY = "SELECT t.name, COUNT(*) FROM customers AS c JOIN cities AS t ON t.id = c.city_id GROUP BY t.name"


def read(question: str) -> PlanReply:
    return PlanReply(single_task_plan(question, 0.9), read_as=question)


async def test_offline_a_follow_up_is_read_with_the_question_before_it(talk: Talk) -> None:
    first = await talk("How many orders are there?")
    second = await talk("only paid ones")
    third = await talk("How many customers are there?")
    assert (await talk("only paid ones", thread="another")).read_as == ""

    assert (first.rows, first.read_as) == ([[4]], "")
    assert second.rows == [[3]]
    assert second.question == "only paid ones"
    assert second.read_as
    assert (third.rows, third.read_as) == ([[4]], "")


async def test_everything_after_the_planner_works_on_what_the_question_means(talk: Talk) -> None:
    whole = "How many customers are there per city?"
    model = ScriptedModel(COUNT, BY_CITY, plan=[read("How many customers are there?"), read(whole)], relevance=0.9)
    await talk("How many customers are there?", model)
    answer = await talk("and per city?", model)

    assert answer.read_as == whole
    assert answer.question == "and per city?"
    assert len(answer.rows) == 3
    assert model.sql_requests[-1].question == whole
    assert model.judge_requests[-1].question == whole
    assert model.summary_requests[-1].question == whole
    assert [r.sql for r in answer.attempts] == [BY_CITY]  # nothing of the turn before
    first, second = model.plan_requests
    assert first.history == ()
    (turn,) = second.history
    assert (turn.number, turn.asked, turn.sql) == (1, "How many customers are there?", COUNT)
    assert (turn.columns, turn.rows, turn.answer) == (["COUNT(*)"], [[4]], "Here is the answer. ")


async def test_when_the_model_cannot_plan_the_follow_up_is_still_made_whole(talk: Talk) -> None:
    await talk("How many orders are there?")
    model = ScriptedModel("SELECT COUNT(*) FROM orders WHERE status = 'paid'", plan=OUTAGE)
    answer = await talk("only paid ones", model)

    assert answer.read_as
    assert answer.read_as == model.sql_requests[0].question


async def test_a_turn_begins_without_what_the_turn_before_left(talk: Talk) -> None:
    bad = "SELECT nothing FROM nowhere"
    failing = await talk("How many customers are there?", ScriptedModel(bad, "SELECT none FROM nowhere"))
    fine = await talk("How many customers are there?", ScriptedModel(COUNT, relevance=0.9))

    assert len(failing.attempts) > 1
    assert [r.attempt for r in fine.attempts] == [1]
    assert fine.status == "success"


async def test_history_accumulates_is_numbered_and_the_oldest_turns_are_forgotten(talk: Talk) -> None:
    model = ScriptedModel(COUNT, relevance=0.9)
    for number in range(1, HISTORY_TURNS + 4):
        await talk(f"How many customers are there? ({number})", model)
    last = model.plan_requests[-1].history
    assert [turn.number for turn in last] == list(range(3, HISTORY_TURNS + 3))

    for turn in (3, 7, 8, 9):
        await talk("How many customers are there?", model, thread="numbered", **({"turn": turn} if turn < 8 else {}))
    assert [turn.number for turn in model.plan_requests[-1].history] == [3, 7, 8]
    await talk("and again", model, thread="numbered", before=7)
    assert [turn.number for turn in model.plan_requests[-1].history] == [3]


async def test_a_thread_of_the_library_is_a_conversation(shop: Database) -> None:
    thread = Thread(shop, model="offline")
    answers = [await thread.run(words) for words in ("How many orders are there?", "only paid ones")]

    assert [answer.rows for answer in answers] == [[[4]], [[3]]]
    assert thread.answers == answers


@pytest.mark.parametrize("words", ["a\x00b \ud800 how many customers are there?", "日本の顧客は？" * 50])
async def test_any_text_can_be_said(talk: Talk, words: str) -> None:
    model = ScriptedModel(COUNT, summary="An answer with \x00 and \ud83d in it.", relevance=0.9)
    first = await talk(words, model)
    second = await talk(words, model)

    assert (first.rows, second.rows) == ([[4]], [[4]])
    assert len(model.plan_requests[-1].history) == 1

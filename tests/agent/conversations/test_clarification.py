"""A truly ambiguous question is asked back once, where somebody can answer, and goes on with the answer."""

from __future__ import annotations

import asyncio

import pytest

from agent.config import Settings
from agent.conversations import Conversation
from agent.conversations.checkpointer import open_checkpointer
from agent.events import AnswerEvent, ClarifyEvent, DoneEvent, NodeEvent
from agent.models.protocol import PlanReply
from agent.runner import DROPPED, run, stream
from agent.state import Clarification, single_task_plan
from eval.databases.base import Database
from tests.agent.conversations.conftest import Talk
from tests.pairs import sections
from text2sql.testing import ScriptedModel

STORES = ["file"]
"""What is asked back depends on the store by nothing but what it keeps, which `test_threads` tries on each."""

COUNT = "SELECT COUNT(*) FROM orders WHERE status = 'paid'"
ASKED = Clarification(question="Which orders count?", options=["paid orders", "all orders"])
ASKING = PlanReply(single_task_plan("?", 0.0), clarification=ASKED)
SETTLED = PlanReply(single_task_plan("How many paid orders are there?", 0.9), read_as="How many paid orders are there?")


async def test_the_run_waits_and_the_next_words_resume_it(talk: Talk) -> None:
    model = ScriptedModel(COUNT, plan=[ASKING, SETTLED], relevance=0.9)
    waiting = await talk("How many sales?", model)
    answer = await talk("paid orders", model)

    assert waiting.status == "waiting"
    assert waiting.clarification == ASKED
    assert waiting.answer == "Which orders count?\n\n1. paid orders\n2. all orders"
    assert (waiting.sql, waiting.attempts) == ("", [])
    assert answer.rows == [[3]]
    assert answer.read_as == "How many paid orders are there?"
    assert answer.question == "paid orders"
    asked_again = model.plan_requests[1]
    assert asked_again.question == "How many sales?"
    assert asked_again.may_ask is False
    assert (asked_again.clarified.asked, asked_again.clarified.reply) == (ASKED, "paid orders")


async def test_never_mind_drops_the_question_and_the_thread_goes_on(talk: Talk) -> None:
    for words in ("never mind", "Never mind.", "no, forget it!", "cancel"):
        model = ScriptedModel(COUNT, plan=[ASKING, SETTLED], relevance=0.9)
        await talk("How many sales?", model, thread=words)
        dropped = await talk(words, model, thread=words)
        after = await talk("How many paid orders are there?", model, thread=words)

        assert (dropped.status, dropped.answer) == ("abstained", DROPPED)
        assert after.rows == [[3]]
        assert model.plan_requests[1].clarified is None
        assert model.plan_requests[1].question == "How many paid orders are there?"
    model = ScriptedModel(COUNT, plan=[ASKING, SETTLED], relevance=0.9)
    await talk("How many sales?", model)
    await talk("never mind, how many paid orders are there?", model)
    assert model.plan_requests[1].question == "how many paid orders are there?"
    assert model.plan_requests[1].clarified is None


@pytest.mark.parametrize("may_ask", [True, False])
async def test_nothing_is_asked_twice_or_where_nobody_can_answer(talk: Talk, may_ask: bool) -> None:
    model = ScriptedModel(COUNT, plan=ASKING, relevance=0.9)
    answer = await talk("How many sales?", model, may_ask=may_ask)
    assert model.plan_requests[0].may_ask is may_ask
    if may_ask:
        answer = await talk("just the paid ones please", model)

    assert answer.status != "waiting"
    assert answer.rows == [[3]]


async def test_an_answer_or_an_earlier_question_that_is_asked_again_stands_for_what_it_settled(talk: Talk) -> None:
    model = ScriptedModel(COUNT, plan=[ASKING, SETTLED, SETTLED, SETTLED, ASKING, SETTLED], relevance=0.9)
    await talk("How many sales?", model, turn=1)
    await talk("paid orders", model, turn=2)
    await talk("How many paid orders are there?", model, turn=3)
    again = await talk("paid orders", model, turn=4, before=2)
    await talk("How many sales?", model, turn=5)
    await talk("How many paid orders are there?", model, turn=6, before=1)

    assert again.rows == [[3]]
    assert model.plan_requests[3].question == "How many paid orders are there?"
    assert [turn.asked for turn in model.plan_requests[2].history] == ["How many sales? / paid orders"]
    assert [model.plan_requests[n].history for n in (3, 5)] == [(), ()]
    assert model.plan_requests[5].clarified is None


async def test_an_answer_whose_run_was_stopped_can_be_given_again(talk: Talk) -> None:
    model = ScriptedModel(COUNT, plan=[ASKING, SETTLED, SETTLED], relevance=0.9, seconds=30)
    await talk("How many sales?", model, turn=1)
    stopped = asyncio.create_task(talk("paid orders", model, turn=2))
    await asyncio.sleep(0.5)
    stopped.cancel()
    with pytest.raises(asyncio.CancelledError):
        await stopped
    model.seconds = 0
    again = await talk("paid orders", model, turn=3, before=2)

    assert again.rows == [[3]]
    assert model.plan_requests[-1].question == "How many sales?"
    assert model.plan_requests[-1].clarified.reply == "paid orders"


async def test_the_events_say_what_is_asked_before_the_end(shop: Database, kept: Settings) -> None:
    model = ScriptedModel(COUNT, plan=[ASKING, SETTLED], relevance=0.9)
    async with open_checkpointer(kept.state) as checkpointer:
        thread = Conversation("t1", checkpointer)
        first = [e async for e in stream("Sales?", database=shop, model=model, settings=kept, conversation=thread)]
        second = [e async for e in stream("2", database=shop, model=model, settings=kept, conversation=thread)]

    assert [type(e) for e in first[-3:]] == [ClarifyEvent, AnswerEvent, DoneEvent]
    asked = first[-3]
    assert isinstance(asked, ClarifyEvent)
    assert asked.data.model_dump() == {**ASKED.model_dump(), "thread_id": "t1"}
    answer = first[-2]
    assert isinstance(answer, AnswerEvent)
    assert answer.data.status == "waiting"
    assert answer.data.clarification == ASKED
    done = [e.node for e in second if isinstance(e, NodeEvent) and e.status == "done"]
    assert done[:3] == ["clarifier", "planner", "set_first_task"]
    started = [e.node for e in second if isinstance(e, NodeEvent) and e.status == "running"]
    assert set(started) == set(done)
    assert not any(isinstance(e, ClarifyEvent) for e in second)


async def test_a_waiting_thread_survives_a_restart_and_another_server_can_go_on(shop: Database, kept: Settings) -> None:
    async with open_checkpointer(kept.state) as one:
        thread = Conversation("waits", one)
        model = ScriptedModel(COUNT, plan=ASKING)
        waiting = await run("Sales?", database=shop, model=model, settings=kept, conversation=thread)
    async with open_checkpointer(kept.state) as other:
        thread = Conversation("waits", other)
        fresh = ScriptedModel(COUNT, plan=SETTLED, relevance=0.9)
        answer = await run("paid orders", database=shop, model=fresh, settings=kept, conversation=thread)

    assert waiting.status == "waiting"
    assert answer.rows == [[3]]
    assert fresh.plan_requests[0].question == "Sales?"
    assert fresh.plan_requests[0].clarified is not None


# --- the offline engine ---


@pytest.mark.parametrize(("reply", "read_as"), sections("conversations/asked_back.txt")["best customers"])
async def test_offline_a_superlative_without_a_measure_is_asked_back(talk: Talk, reply: str, read_as: str) -> None:
    waiting = await talk("best customers")
    answer = await talk(reply)

    assert waiting.status == "waiting"
    assert waiting.clarification.options == ["best customers by number of orders", "best customers by total"]
    assert answer.sql
    assert (answer.read_as or answer.question) == read_as


CLEAR_OR_HOPELESS = ["How many customers are there?", "best customers by total", "how are we doing?", "best"]


async def test_offline_a_question_that_is_clear_or_hopeless_is_not_asked_back(talk: Talk) -> None:
    for question in [*CLEAR_OR_HOPELESS, "Which orders are late?"]:
        assert (await talk(question, thread=question)).status != "waiting"

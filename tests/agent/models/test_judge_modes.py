"""The ways of judging: what a model says of conditions is checked against the query, and a query is read back alone."""

from __future__ import annotations

import json
from typing import Any

import pytest

from agent.models.openai import judged
from agent.models.prompts import Prompt
from agent.models.protocol import JudgeRequest, Usage
from agent.models.replies import Reply, UnusableReply
from agent.state import QueryTask
from tests.pairs import rows

SQL = "SELECT COUNT(*)\nFROM orders WHERE channel = 'web'"
QUESTION = "How many web orders were there in 2024?"


class Scripted:
    """Answers each call with the next reply, and keeps the prompts."""

    def __init__(self, *replies: dict[str, Any]) -> None:
        self.replies = [json.dumps(reply) for reply in replies]
        self.prompts: list[Prompt] = []

    async def __call__(self, prompt: Prompt, schema: dict[str, Any], read: Any) -> tuple[Any, Usage]:
        self.prompts.append(prompt)
        return read(Reply(self.replies.pop(0), finish_reason="stop")), Usage(calls=1)


def _request(way: str) -> JudgeRequest:
    task = QueryTask(id="t", description=QUESTION)
    return JudgeRequest(QUESTION, task, SQL, ("count",), ((3,),), 1, way=way)  # type: ignore[arg-type]


def _conditions(*places: str) -> dict[str, Any]:
    conditions = [{"condition": f"condition {n}", "place": place} for n, place in enumerate(places)]
    return {"conditions": conditions, "reasoning": "Fine.", "score": 0.95}


@pytest.mark.parametrize(
    ("places", "score"),
    [
        (("COUNT(*) FROM orders", "channel='web'"), 0.95),
        (("COUNT(*)", "channel = 'web'", ""), 2 / 3),
        (("COUNT(*)", "order_date >= '2024-01-01'"), 0.5),
        ((), 0.95),
    ],
)
async def test_a_condition_needs_its_place_in_the_query(places: tuple[str, ...], score: float) -> None:
    asked = Scripted(_conditions(*places))
    judgement = await judged(_request("conditions"), asked)
    assert judgement.score == pytest.approx(score)
    assert judgement.usage.calls == 1
    if score < 0.9:
        assert f"No part of the query does: condition {len(places) - 1}" in judgement.reasoning


async def test_a_query_is_read_without_its_question() -> None:
    asked = Scripted({"question": "How many orders came by web?"}, {"reasoning": "The year is missing.", "score": 0.4})
    judgement = await judged(_request("read_back"), asked)
    assert (judgement.score, judgement.usage.calls) == (0.4, 2)
    first, second = asked.prompts
    assert "2024" not in first.user + first.system
    assert "How many orders came by web?" in second.user
    assert QUESTION in second.user


async def test_the_result_is_judged_as_a_whole_in_one_call() -> None:
    asked = Scripted({"reasoning": "Good.", "score": 0.9})
    judgement = await judged(_request("answer"), asked)
    assert (judgement.score, judgement.reasoning, judgement.usage.calls) == (0.9, "Good.", 1)


@pytest.mark.parametrize(("way", "reply"), rows("replies/judgements_of_other_forms.jsonl"))
async def test_a_reply_of_another_form_is_unusable(way: str, reply: dict[str, Any]) -> None:
    with pytest.raises(UnusableReply):
        await judged(_request(way), Scripted(reply))

"""The ways in which a model judges a result: as a whole, condition by condition, or by reading its query back.

In: a `JudgeRequest`, and how to ask the model. Out: a `Judgement` whose score is 0..1. A place that the model names for
a condition has to be in the query, so that it cannot be invented. Reading back costs two calls: the first sees the
query alone, the second compares what it answers with the question.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from agent.models.prompts import Prompt, compare_prompt, judge_prompt, read_back_prompt
from agent.models.protocol import Judgement, JudgeRequest, Usage
from agent.models.replies import Reply, UnusableReply
from agent.models.structured import CONDITIONS_SCHEMA, JUDGE_SCHEMA, READ_BACK_SCHEMA, json_in, read_judgement

Ask = Callable[[Prompt, dict[str, Any], Callable[[Reply], Any]], Awaitable[tuple[Any, Usage]]]

_MOST = 20
"""Conditions that are looked at."""


async def judged(request: JudgeRequest, ask: Ask) -> Judgement:
    if request.way == "conditions":
        prompt = judge_prompt(request, "conditions")
        (score, reasoning, conditions), usage = await ask(prompt, CONDITIONS_SCHEMA, _conditions_in)
        # No better than the share of the conditions that have their place
        text = _folded(request.sql)
        unplaced = [condition for condition, place in conditions if not place or _folded(place) not in text]
        if not unplaced:
            return Judgement(score, reasoning, usage)
        share = 1 - len(unplaced) / len(conditions)
        explanation = f"No part of the query does: {'; '.join(unplaced)}. {reasoning}"
        return Judgement(min(score, share), explanation.strip(), usage)
    if request.way == "read_back":
        answered, first = await ask(read_back_prompt(request), READ_BACK_SCHEMA, _question_in)
        (score, reasoning), second = await ask(compare_prompt(request, answered), JUDGE_SCHEMA, _judgement_in)
        return Judgement(score, f"Read back: {answered} {reasoning}".strip(), first + second)
    (score, reasoning), usage = await ask(judge_prompt(request), JUDGE_SCHEMA, _judgement_in)
    return Judgement(score, reasoning, usage)


def _folded(text: str) -> str:
    return "".join(text.split()).casefold().rstrip(";")


def _judgement_in(reply: Reply) -> tuple[float, str]:
    return read_judgement(json_in(reply, "score"))


def _question_in(reply: Reply) -> str:
    question = json_in(reply, "question").get("question")
    if not isinstance(question, str) or not question.strip():
        raise UnusableReply("`question` must be a sentence")
    return " ".join(question.split())[:1_000]


def _conditions_in(reply: Reply) -> tuple[float, str, list[tuple[str, str]]]:
    answer = json_in(reply, "score")
    listed = answer.get("conditions")
    if not isinstance(listed, list):
        raise UnusableReply("`conditions` must be a list")
    conditions = []
    for one in listed[:_MOST]:
        condition, place = (one.get("condition"), one.get("place")) if isinstance(one, dict) else (None, None)
        if isinstance(condition, str) and condition.strip():
            conditions.append((" ".join(condition.split())[:200], place.strip() if isinstance(place, str) else ""))
    return (*read_judgement(answer), conditions)

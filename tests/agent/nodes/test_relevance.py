"""A copied or empty opinion does not count."""

from __future__ import annotations

from dataclasses import replace

import pytest

from agent.models.protocol import Judgement, JudgeRequest
from agent.nodes.relevance import SAME, why_it_does_not_count
from agent.state import QueryTask
from text2sql.testing import ScriptedModel

TASK = QueryTask(id="t1", description="count", sql="", depends_on=[])
REQUEST = JudgeRequest("How many customers are there?", TASK, "SELECT COUNT(*) FROM customers", ("n",), ((4,),), 1)


@pytest.mark.parametrize(
    ("reasoning", "why"),
    [
        ("", "it gives no reason"),
        ("ok", "it gives no reason"),
        ("What decides it, in one or two sentences.", "it repeats the prompt"),
        ("how many customers are there", "it repeats what was asked"),
        ("The rows are what was asked for.", ""),
    ],
)
def test_an_opinion_counts_only_with_a_reason_of_its_own(reasoning: str, why: str) -> None:
    assert why_it_does_not_count(Judgement(0.9, reasoning), REQUEST, ScriptedModel("SELECT 1")) == why


def test_the_same_opinion_of_every_query_is_none() -> None:
    model, opinion = ScriptedModel("SELECT 1"), Judgement(0.9, "It answers the question.")
    asked = [replace(REQUEST, question=f"Question {n}?", sql=f"SELECT {n}") for n in range(SAME)]
    assert [why_it_does_not_count(opinion, one, model) for one in asked] == [
        *[""] * (SAME - 1),
        "it is the same for every query",
    ]
    assert why_it_does_not_count(Judgement(0.4, "The year is another one."), asked[0], model) == ""

"""A copied or empty opinion does not count, and a judge that tells nothing apart loses its vote."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from agent.config import Settings
from agent.judging.local import keep_vote, kept, local_judge
from agent.judging.opinions import SAME, why_it_does_not_count
from agent.judging.trial import LOST, tried
from agent.models.protocol import Judgement, JudgeRequest
from agent.runner import run
from agent.state import QueryTask
from eval.databases.base import Database
from text2sql.testing import ScriptedModel

TASK = QueryTask(id="t1", description="count", sql="", depends_on=[])
REQUEST = JudgeRequest("How many customers are there?", TASK, "SELECT COUNT(*) FROM customers", ("n",), ((4,),), 1)


class Discerning(ScriptedModel):
    """A judge that likes a query only if the question's form fits it."""

    async def judge(self, request: JudgeRequest) -> Judgement:
        counts = "COUNT" in request.sql
        return Judgement(0.9 if counts == request.question.startswith("How many") else 0.1, "the form tells it")


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


async def test_a_judge_that_likes_everything_loses_its_vote_and_the_user_is_told(
    shop: Database, config: Settings
) -> None:
    pleased = ScriptedModel("SELECT COUNT(*) FROM customers", relevance=0.95, name="pleased")
    trial = await tried(pleased, shop, shop.schema())
    assert not trial.tells_apart
    answer = await run("How many customers are there?", database=shop, model=pleased, settings=config)
    assert answer.attempts[-1].eval_report is not None
    assert answer.attempts[-1].eval_report.relevance.reasoning == f"Not judged: {LOST}."
    assert any(LOST in doubt for doubt in answer.doubts)


async def test_a_judge_that_tells_queries_apart_keeps_its_vote(shop: Database, config: Settings) -> None:
    model = Discerning("SELECT COUNT(*) FROM customers", name="discerning")
    assert (await tried(model, shop, shop.schema())).tells_apart
    answer = await run("How many customers are there?", database=shop, model=model, settings=config)
    assert answer.relevance == pytest.approx(0.9)


def test_the_vote_is_kept_with_what_was_learned(tmp_path: Path) -> None:
    path = tmp_path / "judge.json"
    keep_vote(path, "local/shop", "gemma", has_vote=False)
    judge = local_judge(str(path), "local", "shop")
    assert judge is not None
    assert judge.without_vote == ("gemma",)
    keep_vote(path, "local/shop", "gemma", has_vote=True)
    assert kept(path)["local/shop"][0].without_vote == ()

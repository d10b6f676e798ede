"""In other languages the checks read the question in English; without a model the engine says that it reads English."""

from __future__ import annotations

from typing import Any

import pytest

from agent.config import Settings
from agent.models.protocol import PlanReply
from agent.runner import run
from agent.runtime.plans import single_task_plan
from agent.state import QueryPlan
from eval.databases.base import Database
from eval.language.spoken import READS_ENGLISH, is_english, without_names
from tests.pairs import rows
from text2sql.testing import ScriptedModel

RIGHT = "SELECT COUNT(*) FROM orders WHERE ordered_on >= '2024-01-01' AND ordered_on < '2025-01-01'"
WRONG = "SELECT COUNT(*) FROM orders WHERE ordered_on >= '2025-01-01' AND ordered_on < '2026-01-01'"
ENGLISH = "How many orders were placed in 2024?"
ASKED = (
    "Wie viele Bestellungen gab es im Jahr 2024?",
    "¿Cuántos pedidos hay en el año 2024?",
    "2024年有多少订单?",
)


def _plan(question: str, english: str) -> PlanReply:
    plan: QueryPlan = single_task_plan(question, 0.9)
    return PlanReply(plan.model_copy(update={"in_english": english}))


@pytest.mark.parametrize(("text", "english"), rows("kinds/english.jsonl"))
def test_small_words_and_letters_tell_english(text: str, english: bool) -> None:
    assert is_english(text) is english


def test_the_names_of_a_schema_tell_no_language() -> None:
    assert not is_english("total 销量 by 城市")
    assert is_english(without_names("total 销量 by 城市", ("城市_2024", "销量")))
    assert not is_english(without_names("每个城市的销量", ("城市", "销量")))


@pytest.mark.parametrize("question", ASKED)
async def test_right_and_wrong_are_told_apart_in_other_languages(
    shop: Database, config: Settings, question: str
) -> None:
    async def asked(sql: str) -> Any:
        model = ScriptedModel(sql, plan=_plan(question, ENGLISH), relevance=0.9, summary="4")
        return await run(question, database=shop, model=model, settings=config), model

    right, model = await asked(RIGHT)
    wrong, _ = await asked(WRONG)
    assert right.status == "success"
    assert wrong.status == "doubtful"
    assert any("2024" in doubt for doubt in wrong.doubts)
    assert model.plan_requests[0].translate
    assert model.summary_requests[0].question == question  # the answer is in the question's language


async def test_a_restatement_that_loses_a_value_is_not_used(shop: Database, config: Settings) -> None:
    question = ASKED[0]
    model = ScriptedModel(RIGHT, plan=_plan(question, "How many orders were placed?"))
    answer = await run(question, database=shop, model=model, settings=config)
    assert answer.plan is not None
    assert answer.plan.in_english == ""


@pytest.mark.parametrize("question", ASKED)
async def test_without_a_model_the_engine_says_that_it_reads_english(
    shop: Database, config: Settings, question: str
) -> None:
    answer = await run(question, database=shop, model="offline", settings=config)
    assert answer.status == "abstained"
    assert READS_ENGLISH.rstrip(".") in answer.answer

"""Rules of wording by themselves: what stands in place of everyday words, and which words a rewording lost."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable

import pytest

from agent.knowledge.vocabulary import vocabulary
from agent.models.protocol import SummaryRequest
from agent.parser.summary import summary_text
from agent.parser.wording import Known, Wording, worded
from agent.state import QueryPlan, QueryResult, QueryTask
from tests.asked import Asked


@pytest.fixture(scope="module")
def wording(everyday: Asked) -> Callable[[str], Wording]:
    loaves, values = everyday.database("loaves")
    known = Known(vocabulary(loaves.schema(), values.stored_forms), values, dt.date(2024, 12, 1))
    return lambda question: worded(question, known)


@pytest.mark.parametrize(
    ("question", "plain"),
    [
        ("average bake runtime", "average bake runtime"),
        ("how long do bakes take", "average runtime of bakes"),
        ("customers who ordered more than twice", "customers with more than 2 orders"),
        ("products with fewer than 10 left in stock", "products with stock less than 10"),
        ("products not sold since march 2024", "products without orders since march 2024"),
        ("which products have never been ordered", "which products without orders"),
        ("how many orders came in this month?", "how many orders this month"),
        ("how many orders have we made so far", "how many orders"),
        ("products under 3 pounds", "products under 3"),
        ("list all products with the price", "list all products and their price"),
        ("customers who spent more than 5 in 2024", "customers with revenue more than 5 in 2024"),
        ("what is our best month", "revenue per month"),
        ("best customers last year", "top 10 customers by revenue last year"),
        ("share of orders by status", "orders by status"),
    ],
)
def test_everyday_words_become_words_that_are_read(
    wording: Callable[[str], Wording], question: str, plain: str
) -> None:
    assert wording(question).text == plain


def test_a_question_without_everyday_words_stays_as_it_is(wording: Callable[[str], Wording]) -> None:
    assert wording(" How many customers? ") == Wording(" How many customers? ")


@pytest.mark.parametrize("word", ["license", "property", "copyright", "purple"])
def test_a_word_that_no_rule_explains_is_lost(wording: Callable[[str], Wording], word: str) -> None:
    """Words that happen to be names of Python were once taken for words of the rules."""
    assert wording(f"customers who spent more than 100 {word}").lost == (word,)


def test_words_of_the_rules_are_not_lost(wording: Callable[[str], Wording]) -> None:
    assert wording("revenue growth month over month").lost == ()


def test_growth_is_told_by_its_last_and_its_highest_value() -> None:
    rows = [["2024-01", 100.0, None], ["2024-02", 150.0, 50.0], ["2024-03", 165.0, 10.0]]
    columns = ["month", "amount", "growth_percent"]
    result = QueryResult(
        task_id="1", attempt=1, sql="SELECT 1", data=rows, columns=columns, rows_returned=3, status="success"
    )
    question = "revenue growth by month"
    plan = QueryPlan(plan_type="single", confidence=0.9, tasks=[QueryTask(id="1", description=question)])
    assert summary_text(SummaryRequest(question, plan, (result,))) == (
        "2 rows from 2024-02 (50 %) to 2024-03 (10 %); the highest growth: **50 %** in 2024-02."
    )

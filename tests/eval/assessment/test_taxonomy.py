"""Wrong answers and the kind of mistake that they are, with a reason that names it."""

from __future__ import annotations

from pathlib import Path

import pytest

from eval.assessment.judgement import JudgeRequest, judge
from eval.assessment.records import Judgement
from tests.pairs import rows

GOLD = (
    "SELECT c.name, SUM(o.amount) FROM customers AS c "
    "JOIN orders AS o ON o.customer_id = c.id WHERE c.age > 25 GROUP BY c.id"
)


def judged(place: Path, sql: str, gold: str = GOLD) -> Judgement:
    return judge(JudgeRequest(str(place / "databases" / "store.sqlite"), "?", (gold,), sql, ""))


@pytest.mark.parametrize(("sql", "category", "message"), rows("assessment/mistakes.jsonl"))
def test_a_mistake_has_a_category_and_a_reason(place: Path, sql: str, category: str, message: str) -> None:
    judgement = judged(place, sql)
    assert judgement.ex is False
    assert judgement.mistakes[0].category == category, judgement.mistakes
    assert message in judgement.mistakes[0].reason


def test_a_right_answer_has_no_mistakes_however_it_is_written(place: Path) -> None:
    other = (
        "SELECT (SELECT name FROM customers WHERE id = customer_id), SUM(amount) "
        "FROM orders WHERE customer_id < 3 GROUP BY 1"
    )
    judgement = judged(place, other)
    assert (judgement.ex, judgement.mistakes, judgement.difference) == (True, (), None)


def test_what_differs_is_shown_in_a_few_rows(place: Path) -> None:
    judgement = judged(place, GOLD.replace("> 25", "> 40")).difference
    assert (judgement.gold_rows, judgement.rows) == (2, 1)
    assert judgement.missing == (("Ada", 15.0),)
    assert judgement.extra == ()
    gold = "SELECT name FROM customers ORDER BY age"
    reordered = judged(place, "SELECT name FROM customers ORDER BY name", gold).difference
    assert reordered.reordered

"""Wrong answers and the kind of mistake that they are, with a reason that names it."""

from __future__ import annotations

from pathlib import Path

import pytest

from eval.assessment.judgement import JudgeRequest, judge
from eval.assessment.types import GROUPS, Judgement
from eval.tasks.demos import demo_path
from eval.tasks.library import tasks

GOLD = (
    "SELECT c.name, SUM(o.amount) FROM customers AS c "
    "JOIN orders AS o ON o.customer_id = c.id WHERE c.age > 25 GROUP BY c.id"
)


def judged(place: Path, sql: str, gold: str = GOLD) -> Judgement:
    return judge(JudgeRequest(str(place / "databases" / "store.sqlite"), "?", (gold,), sql, ""))


@pytest.mark.parametrize(
    ("sql", "category", "told"),
    [
        ("SELECT c.name FROM", "syntax", "does not parse"),
        ("DELETE FROM customers", "incorrect_planning", "may not run"),
        ("SELECT 1", "wrong_schema_linking", "reads no table"),
        ("SELECT name FROM clients", "wrong_table", "clients"),
        ("SELECT total FROM orders", "wrong_column", "total"),
        ("SELECT DATEDIFF(name, age) FROM customers", "incorrect_dialect_function_usage", "datediff"),
        ("SELECT name, age FROM customers WHERE age > 25", "join", "leaves orders out"),
        ("SELECT c.name, SUM(o.amount) FROM customers AS c, orders AS o WHERE c.age > 25 GROUP BY c.id", "join", "o"),
        (GOLD.replace("o.customer_id = c.id", "o.id = c.id"), "join", "customers.id = orders.customer_id"),
        (GOLD.replace("SUM", "AVG"), "incorrect_data_calculation", "computes avg; gold computes sum"),
        (GOLD.replace("SUM(o.amount)", "SUM(o.amount) * 2"), "incorrect_data_calculation", "also computes *"),
        (GOLD.replace("> 25", "> 40"), "condition_filter", "customers.age > 40 where gold asks for customers.age > 25"),
        (GOLD.replace("WHERE c.age > 25 ", ""), "condition_filter", "does not ask for customers.age > 25"),
        (GOLD + " LIMIT 1", "erroneous_data_analysis", "1 rows, gold all rows"),
        (GOLD.replace("c.name,", "c.name, c.id,"), "erroneous_data_analysis", "3 columns, gold 2"),
    ],
)
def test_a_mistake_has_a_category_and_a_reason(place: Path, sql: str, category: str, told: str) -> None:
    found = judged(place, sql)
    assert found.ex is False
    assert found.mistakes[0].category == category, found.mistakes
    assert told in found.mistakes[0].reason


def test_a_right_answer_has_no_mistakes_however_it_is_written(place: Path) -> None:
    other = (
        "SELECT (SELECT name FROM customers WHERE id = customer_id), SUM(amount) "
        "FROM orders WHERE customer_id < 3 GROUP BY 1"
    )
    found = judged(place, other)
    assert (found.ex, found.mistakes, found.difference) == (True, (), None)


def test_what_differs_is_shown_in_a_few_rows(place: Path) -> None:
    found = judged(place, GOLD.replace("> 25", "> 40")).difference
    assert found is not None
    assert (found.gold_rows, found.rows) == (2, 1)
    assert found.missing == (("Ada", 15.0),)
    assert found.extra == ()
    gold = "SELECT name FROM customers ORDER BY age"
    reordered = judged(place, "SELECT name FROM customers ORDER BY name", gold).difference
    assert reordered is not None
    assert reordered.reordered


@pytest.mark.slow
def test_every_planted_wrong_query_of_the_shop_gets_a_known_category_and_little_score() -> None:
    known = {category for group in GROUPS.values() for category in group}
    target = str(demo_path("shop"))
    seen = set()
    for task in tasks("shop"):
        for wrong in task.wrong[:1]:
            found = judge(JudgeRequest(target, task.question, (task.gold.sql,), wrong.query.sql, ""))
            assert found.ex is False
            assert found.overall <= 0.25
            assert found.mistakes
            assert all(m.reason.endswith(".") and "\n" not in m.reason for m in found.mistakes)
            seen.add(found.mistakes[0].category)
    assert seen <= known
    assert len(seen) >= 4

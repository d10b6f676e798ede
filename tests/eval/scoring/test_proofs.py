"""What contradicts the question is refused however favourable a judge is; what cannot be told is left alone."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from eval.databases.base import Database
from eval.databases.factory import open_database
from eval.examination import Query, examine
from eval.scoring import lets_through, passes, score
from eval.tasks.demos import demo_path


@pytest.fixture(scope="module")
def shop() -> Iterator[Database]:
    with open_database(demo_path("shop")) as database:
        yield database


WRONG = [
    ("How many orders were placed in 2024?",
     "SELECT COUNT(*) FROM orders WHERE order_date >= '2023-01-01' AND order_date < '2024-01-01'"),
    ("How many orders were placed in 2024?", "SELECT COUNT(*) FROM orders WHERE order_date >= '2024-01-01'"),
    ("What is the average price of the products?", "SELECT SUM(price) FROM products"),
    ("List the names of all products", "SELECT name FROM products LIMIT 3"),
    ("How many customers live in Sweden?", "SELECT COUNT(*) FROM customers WHERE country = 'Germany'"),
]  # fmt: skip


@pytest.mark.parametrize(("question", "sql"), WRONG)
def test_a_favourable_judge_lifts_no_contradicted_query(shop: Database, question: str, sql: str) -> None:
    scored = score(replace(examine(Query(question, sql), shop), relevance=1.0))
    assert scored.proved
    assert not passes(scored, 1.0)


def test_what_is_proved_costs_its_dimensions(shop: Database) -> None:
    scored = score(examine(Query("How many customers are there?", "SELECT country FROM customers"), shop))
    assert scored.proved
    assert scored.dimensions["semantic_accuracy"] < 1
    assert scored.dimensions["completeness"] < 1


def test_a_word_that_is_asked_for_or_grouped_is_no_condition(shop: Database) -> None:
    grouped = "SELECT country, COUNT(*) FROM customers GROUP BY country"
    assert score(examine(Query("customers: sweden or germany?", grouped), shop)).proved == ()
    dropped = "SELECT COUNT(*) FROM customers"
    assert score(examine(Query("How many customers live in Sweden?", dropped), shop)).proved


@pytest.mark.parametrize(
    ("final", "vetoes", "through"),
    [(0.70, (), True), (0.69, (), False), (0.95, ("another year",), False)],
)
def test_the_gate_is_one_condition(final: float, vetoes: tuple[str, ...], through: bool) -> None:
    assert lets_through(final, vetoes) is through

"""Rules of wording by themselves: what stands in place of everyday words, and which words a rewording lost."""

from __future__ import annotations

import datetime as dt
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from agent.knowledge.values import value_index
from agent.knowledge.vocabulary import vocabulary
from agent.models.protocol import SummaryRequest
from agent.parser import read
from agent.parser.summary import summary_text
from agent.parser.wording import Known, Wording, worded
from agent.runtime.probability import STATED_DOUBT
from agent.state import QueryPlan, QueryResult, QueryTask
from eval.databases import Database, open_database

BAKERY = """
CREATE TABLE customers (id INTEGER PRIMARY KEY, name TEXT NOT NULL, last_name TEXT, registered DATE);
CREATE TABLE products (id INTEGER PRIMARY KEY, name TEXT NOT NULL, cost_price REAL, price REAL, stock INTEGER,
    added DATE);
CREATE TABLE orders (id INTEGER PRIMARY KEY, customer_id INTEGER REFERENCES customers(id),
    product_id INTEGER REFERENCES products(id), ordered_on DATE, total_amount REAL, status TEXT);
CREATE TABLE lines (id INTEGER PRIMARY KEY, order_id INTEGER NOT NULL REFERENCES orders(id),
    product_id INTEGER NOT NULL REFERENCES products(id), pieces INTEGER);
CREATE TABLE bakes (id INTEGER PRIMARY KEY, product_id INTEGER REFERENCES products(id), runtime INTEGER,
    done_on DATE);
INSERT INTO customers VALUES (1, 'Ada', 'Lind', '2023-01-01');
INSERT INTO products VALUES (1, 'loaf', 1.5, 3.5, 4, '2022-01-01'), (2, 'roll', 0.25, 0.5, 40, '2024-01-01');
INSERT INTO orders VALUES (1, 1, 1, '2024-03-01', 7.0, 'open'), (2, 1, 2, '2024-04-02', 1.0, 'cancelled');
INSERT INTO lines VALUES (1, 1, 1, 2), (2, 2, 2, 1);
INSERT INTO bakes VALUES (1, 1, 45, '2024-05-01');
"""


@pytest.fixture(scope="module")
def bakery(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Database]:
    path: Path = tmp_path_factory.mktemp("wording") / "bakery.sqlite"
    connection = sqlite3.connect(path)
    connection.executescript(BAKERY)
    connection.close()
    with open_database(str(path)) as database:
        yield database


@pytest.fixture(scope="module")
def wording(bakery: Database) -> Callable[[str], Wording]:
    schema = bakery.schema()
    values = value_index(bakery, schema)
    known = Known(vocabulary(schema, values.date_forms), values, dt.date(2024, 12, 1))
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


def test_who_is_new_is_not_told_by_the_date_of_the_revenue(bakery: Database) -> None:
    schema = bakery.schema()
    reading = read("revenue from new customers in 2024", schema, value_index(bakery, schema), threshold=0.0)
    assert reading.not_understood == ("new",)
    reading = read("number of new customers per month in 2024", schema, value_index(bakery, schema), threshold=0.0)
    assert reading.not_understood == ()


def test_an_amount_may_be_left_out_of_a_range(bakery: Database) -> None:
    schema = bakery.schema()
    reading = read("orders between 2 and 10", schema, value_index(bakery, schema), threshold=0.0)
    assert "total_amount BETWEEN 2 AND 10" in reading.sql
    reading = read("customers between 2 and 10", schema, value_index(bakery, schema), threshold=0.0)
    assert "WHERE" not in reading.sql
    assert reading.confidence < STATED_DOUBT


def test_an_auxiliary_is_no_column(bakery: Database) -> None:
    """A column `done_on` is not what `do we have` asks for."""
    schema = bakery.schema()
    reading = read("how many bakes do we have?", schema, value_index(bakery, schema), threshold=0.0)
    assert reading.sql == "SELECT COUNT(*) AS bakes FROM bakes"


def test_the_dearest_has_the_highest_price_to_sell(bakery: Database) -> None:
    schema = bakery.schema()
    reading = read("dearest product", schema, value_index(bakery, schema), threshold=0.0)
    assert "ORDER BY\n  price DESC" in reading.sql or "ORDER BY price DESC" in reading.sql


def test_a_total_for_each_year_is_added_up(bakery: Database) -> None:
    schema = bakery.schema()
    reading = read("order amount for each year", schema, value_index(bakery, schema), threshold=0.0)
    assert "SUM(total_amount)" in reading.sql


def test_everything_about_a_row_is_the_whole_row(bakery: Database) -> None:
    schema = bakery.schema()
    for question in ("show me everything about customer 1", "all information about customer 1"):
        reading = read(question, schema, value_index(bakery, schema), threshold=0.0)
        assert reading.sql.replace("\n", " ") == "SELECT * FROM customers WHERE id = 1"
        assert reading.not_understood == ()


def test_a_word_of_like_meaning_is_no_part_of_a_name(bakery: Database) -> None:
    schema = bakery.schema()
    reading = read("late customers", schema, value_index(bakery, schema), threshold=0.0)
    assert reading.not_understood == ("late",)
    assert "last_name" not in reading.sql


def test_a_period_is_about_what_a_ranking_counts(bakery: Database) -> None:
    """Lines of orders have no date of their own, but their orders have."""
    schema = bakery.schema()
    reading = read("which product has the most lines in 2024", schema, value_index(bakery, schema), threshold=0.0)
    assert "ordered_on >= '2024-01-01'" in reading.sql
    assert "added" not in reading.sql


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

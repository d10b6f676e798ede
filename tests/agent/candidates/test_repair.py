"""What a small model is told of a query that is not right."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from agent.candidates.repair import wrong_with
from agent.knowledge.privacy import Privacy
from agent.knowledge.values import value_index
from eval.databases import open_database
from eval.databases.base import Database
from eval.examination import Query, examine
from tests.writing import sqlite_file

SCRIPT = """
CREATE TABLE cities (id INTEGER PRIMARY KEY, name TEXT, country TEXT);
CREATE TABLE customers (id INTEGER PRIMARY KEY, name TEXT, city_id INTEGER REFERENCES cities(id));
CREATE TABLE orders (id INTEGER PRIMARY KEY, customer_id INTEGER REFERENCES customers(id), total REAL,
                     "Ship Mode" TEXT);
INSERT INTO cities VALUES (1, 'Lyon', 'France'), (2, 'Porto', 'Portugal');
INSERT INTO customers VALUES (1, 'Ana', 1), (2, 'Bo', 2);
INSERT INTO orders VALUES (1, 1, 10.0, 'Same Day'), (2, 2, 20.0, 'First Class');
"""


@pytest.fixture
def firm(tmp_path: Path) -> Database:
    return open_database(str(sqlite_file(tmp_path / "firm.sqlite", SCRIPT)))


def told(firm: Database, sql: str, privacy: Privacy = "full") -> str:
    schema = firm.schema()
    asked = ", ".join(re.findall("'(.*?)'", sql)) or "?"
    return wrong_with(examine(Query(asked, sql), firm, schema=schema), value_index(firm, schema), privacy)


@pytest.mark.parametrize(
    ("sql", "text"),
    [
        ("SELECT name FROM customers", ""),
        ("SELECT city_id FROM customers WHERE name = 'Ana'", ""),
        ("SELECT name FROM customers WHERE name = 'Ana'", "The query returns the very value that it looks for"),
        (
            "SELECT country FROM orders",
            "There is no column country; country is a column of cities (join it by orders.customer_id = customers.id, "
            "customers.city_id = cities.id).",
        ),
        ("SELECT c.total FROM customers c", "There is no column total in c; total is a column of orders (join it by "
         "orders.customer_id = customers.id)."),
        ("SELECT name FROM customer", "There is no table customer; there are customers."),
        ("SELECT Ship Mode FROM orders", 'Put these names in double quotes: Ship Mode.'),
        ("SELECT name FROM cities WHERE country = 'france'", "country holds no 'france'; stored are cities.country = "
         "'France'."),
        ("SELECT name FROM cities WHERE country = 'Lyon'", "country holds no 'Lyon'; stored are cities.name = 'Lyon'."),
        ("SELECT name FROM cities WHERE country = 'Qqq'", "The query returns no rows."),
        ("SELECT `Ship Mode` FROM orders", ""),
        ("SELECT id FROM orders WHERE Ship Mode = 'x'", "Put these names in double quotes: Ship Mode."),
        ("DELETE FROM cities", "Only one SELECT may be written: "),
        ("SELECT c.name, t.name FROM customers c, cities t",
         "Two sources are combined without a condition between them. There are cities (join it by "
         "customers.city_id = cities.id)."),
        ("SELECT c.name FROM customers c JOIN cities t ON c.id = t.id WHERE t.country = 'France'",
         "The join of customers.id and cities.id follows no key. There are cities (join it by customers.city_id = "
         "cities.id)."),
        ("SELECT c.name FROM customers c JOIN cities t ON c.city_id = t.id WHERE t.country = 'France'", ""),
        ("SELECT count(c.id) FROM customers c JOIN orders o ON o.customer_id = c.id",
         "orders is joined and nothing of it is used, so each row counts once for each of its rows. Leave orders out, "
         "unless the question needs it."),
        ("SELECT count(o.id) FROM orders o JOIN customers c ON o.customer_id = c.id", ""),
    ],
)  # fmt: skip
def test_what_is_wrong_is_told_with_what_would_be_right(firm: Database, sql: str, text: str) -> None:
    assert told(firm, sql).startswith(text) if text else told(firm, sql) == ""


@pytest.mark.parametrize("privacy", ["masked", "schema"])
def test_no_stored_text_is_told_where_a_model_may_see_none(firm: Database, privacy: Privacy) -> None:
    assert told(firm, "SELECT name FROM cities WHERE country = 'france'", privacy) == ""
    assert "orders" in told(firm, "SELECT total FROM customers", privacy)


def test_a_joined_table_that_the_question_names_may_stay(firm: Database) -> None:
    sql = "SELECT c.name FROM customers c JOIN orders o ON o.customer_id = c.id"
    case = examine(Query("Which customers have an order?", sql), firm, schema=firm.schema())
    assert wrong_with(case, value_index(firm, firm.schema()), "full") == ""

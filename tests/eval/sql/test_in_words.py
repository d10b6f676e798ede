"""A query in plain words: nothing of it is left out."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from eval.databases import open_database
from eval.schema import Schema
from eval.sql import facts, parse, resolve
from eval.sql.in_words import explained
from eval.tasks.demos import demo_path
from eval.tasks.library import tasks

SAID = {
    "SELECT city, COUNT(*) FROM customers WHERE country = 'Germany' GROUP BY city HAVING COUNT(*) > 5 "
    "ORDER BY COUNT(*) DESC LIMIT 3": "Shows city and the number of rows of customers. Only rows where country is "
    "'Germany'. One row for each city. Only groups where the number of rows is over 5. Sorted by the number of rows "
    "(largest first). Only the first 3 rows.",
    "SELECT DISTINCT c.name FROM customers c LEFT JOIN orders o ON o.customer_id = c.id WHERE o.id IS NULL": "Shows "
    "each different customers.name of customers, with orders where orders.customer_id is customers.id (also where "
    "there is none). Only rows where orders.id is missing.",
    "SELECT name FROM a WHERE id NOT IN (SELECT a_id FROM b) UNION SELECT name FROM c ORDER BY name": "Shows name of "
    "a. Only rows where id is not among (a_id of b). And, each once, (name of c). Sorted by name (smallest first).",
    "WITH t AS (SELECT k, SUM(x) AS total FROM o GROUP BY k) SELECT AVG(total) FROM t": "First t is made: (k and the "
    "sum of x (called total) of o, one row for each k). Shows the average of total of t.",
    "SELECT a FROM t WHERE NOT (x > 3 AND name LIKE 'A%')": "Shows a of t. Only rows where x is at most 3, or name "
    "does not begin with 'A'.",
    "SELECT e.name, m.name FROM staff e JOIN staff m ON e.boss = m.id": "Shows e.name and m.name of staff (as e), with "
    "staff (as m) where e.boss is m.id.",
    "SELECT CASE WHEN x > 1 THEN 'many' ELSE 'few' END, ROUND(AVG(y), 2) FROM t": "Shows ('many' where x is over 1, "
    "else 'few') and the average of y rounded to 2 places of t.",
    "SELECT a FROM t WHERE EXISTS (SELECT 1 FROM u WHERE u.id = t.id)": "Shows a of t. Only rows where there is a row "
    "of (1 of u, only rows where u.id is t.id).",
    "SELECT weird_function(a, 3) FROM t": "Shows `weird_function(a, 3)` of t.",
}


@pytest.mark.parametrize("sql", SAID)
def test_a_query_is_said(sql: str) -> None:
    assert " ".join(explained(parse(sql, "sqlite"))) == SAID[sql]


@pytest.mark.parametrize(
    ("dialect", "month"),
    [
        ("sqlite", "STRFTIME('%Y-%m', d)"),
        ("duckdb", "STRFTIME(d, '%Y-%m')"),
        ("mysql", "DATE_FORMAT(d, '%Y-%m')"),
        ("postgres", "TO_CHAR(d, 'YYYY-MM')"),
    ],
)
def test_a_month_is_said_in_each_dialect(dialect: str, month: str) -> None:
    (said, *_) = explained(parse(f"SELECT {month} FROM t", dialect))
    assert said == "Shows the year and month of d of t."


def left_out(sql: str, schema: Schema) -> list[str]:
    """Tables, columns and constants of the query that are not in the words."""
    parsed = parse(sql, "sqlite")
    said = " ".join(explained(parsed)).lower()
    names = resolve(parsed, schema)
    wanted = {*names.tables, *(column for _, column in names.columns)}
    wanted |= {one.value.strip("%") for one in facts(parsed, schema).literals}
    return [one for one in wanted if one.lower() not in said]


def test_nothing_of_a_query_is_left_out() -> None:
    """Every table, column and constant of the library's 150 queries stands in the words."""
    schemas: dict[str, Schema] = {}
    for task in tasks():
        if task.database not in schemas:
            with open_database(demo_path(task.database)) as database:
                schemas[task.database] = database.schema()
        assert left_out(task.gold.sql, schemas[task.database]) == [], task.id


def test_a_text_that_is_no_query_has_no_words() -> None:
    assert explained(parse("DROP TABLE", "sqlite")) == []
    assert explained(parse("", "sqlite")) == []


@pytest.mark.parametrize("source", ["spider_dev", "spider_test_third", "bird_superhero", "classicmodels"])
def test_nothing_is_left_out_of_two_hundred_golds(bench_dir: Path, source: str) -> None:
    schemas: dict[str, Schema] = {}
    lines = [json.loads(line) for line in (bench_dir / source / "questions.jsonl").read_text().splitlines()]
    random.Random(3).shuffle(lines)
    for line in lines[:200]:
        if line["db"] not in schemas:
            with open_database(bench_dir / source / "databases" / f"{line['db']}.sqlite") as database:
                schemas[line["db"]] = database.schema()
        missing = left_out(line["gold_sql"], schemas[line["db"]])
        assert missing == [], line["gold_sql"]

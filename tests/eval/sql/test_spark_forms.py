"""Queries that Spark or Sail refuse, and how they are written instead; what they take stays as it is."""

from __future__ import annotations

import pytest

from eval.schema import Column, Schema, Table
from eval.sql import check, parse
from eval.sql.dialects import render
from eval.sql.strict_grouping import strictly_grouped

SCHEMA = Schema(
    "spark",
    (
        Table("Customers", (Column("id", "int"), Column("name", "string"), Column("city", "string"))),
        Table("orders", (Column("id", "int"), Column("customer_id", "int"), Column("total", "double"))),
    ),
)

GROUPED = [
    ("SELECT city, name FROM t GROUP BY city", "SELECT city, any_value(name) AS name FROM t GROUP BY city"),
    ("SELECT name, COUNT(*) FROM t", "SELECT any_value(name) AS name, COUNT(*) FROM t"),
    ("SELECT upper(name) AS u FROM t GROUP BY id", "SELECT upper(any_value(name)) AS u FROM t GROUP BY id"),
    (
        "SELECT city FROM t GROUP BY city HAVING total > 5",
        "SELECT city FROM t GROUP BY city HAVING any_value(total) > 5",
    ),
    (
        "SELECT city FROM t GROUP BY city ORDER BY total",
        "SELECT city FROM t GROUP BY city ORDER BY any_value(total)",
    ),
    (
        "SELECT a.name, b.x FROM a JOIN b ON a.id = b.id GROUP BY a.id",
        "SELECT any_value(a.name) AS name, any_value(b.x) AS x FROM a JOIN b ON a.id = b.id GROUP BY a.id",
    ),
    (
        "SELECT x FROM (SELECT name AS x, COUNT(*) AS n FROM t GROUP BY city) AS s",
        "SELECT x FROM (SELECT any_value(name) AS x, COUNT(*) AS n FROM t GROUP BY city) AS s",
    ),
]

AS_WRITTEN = [
    "SELECT city, COUNT(*) FROM t GROUP BY city",
    "SELECT t.city FROM t GROUP BY city",
    "SELECT city FROM t GROUP BY t.city",
    "SELECT city, COUNT(*) FROM t GROUP BY 1",
    "SELECT upper(city) AS u FROM t GROUP BY u",
    "SELECT year(d), COUNT(*) FROM t GROUP BY year(d)",
    "SELECT city, COUNT(*) AS n FROM t GROUP BY city ORDER BY n DESC, city",
    "SELECT COUNT(*) AS n, n + 1 FROM t",
    "SELECT COUNT(*) FILTER(WHERE total > 5) FROM t",
    "SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY total) FROM t",
    "SELECT name, ROW_NUMBER() OVER (ORDER BY total) FROM t",
    "SELECT SUM(total) OVER (PARTITION BY city) FROM t",
    "SELECT name FROM t",
    "SELECT * FROM t",
    "SELECT city, COUNT(*) FROM t GROUP BY ALL",
    "SELECT c.name, (SELECT MAX(o.total) + c.bonus FROM o WHERE o.id = c.id) FROM c",
    "SELECT transform(collect_list(total), x -> x + 1) FROM t",
]


@pytest.mark.parametrize(("written", "expected"), GROUPED)
def test_a_column_that_is_not_grouped_is_that_of_any_row(written: str, expected: str) -> None:
    tree = parse(written, "spark").tree
    assert tree is not None
    assert render(strictly_grouped(tree, "spark"), "spark") == expected
    assert render(tree, "spark") == written, "the tree that was given is not changed"


@pytest.mark.parametrize("written", AS_WRITTEN)
def test_what_may_stand_in_a_grouped_query_stays(written: str) -> None:
    tree = parse(written, "spark").tree
    assert tree is not None
    assert render(strictly_grouped(tree, "spark"), "spark") == render(tree, "spark")


@pytest.mark.parametrize(
    ("written", "sent"),
    [
        (
            "SELECT city FROM Customers GROUP BY city ORDER BY COUNT(*) DESC LIMIT 1",
            "SELECT _c0 AS `city` FROM (SELECT city AS _c0, COUNT(*) AS _o0 FROM Customers GROUP BY city) AS _g "
            "ORDER BY _o0 DESC LIMIT 1",
        ),
        (
            "SELECT city, COUNT(*) FROM Customers GROUP BY city ORDER BY COUNT(*) DESC",
            "SELECT city, COUNT(*) FROM Customers GROUP BY city ORDER BY COUNT(*) DESC",
        ),
        (
            "WITH x AS (SELECT 1 AS a) SELECT a, COUNT(*) AS n FROM x GROUP BY a ORDER BY MAX(a), n",
            "WITH x AS (SELECT 1 AS a) SELECT _c0 AS `a`, _c1 AS `n` FROM (SELECT a AS _c0, COUNT(*) AS _c1, "
            "MAX(a) AS _o0 FROM x GROUP BY a) AS _g ORDER BY _o0, _c1",
        ),
        ("SELECT customers.name FROM customers", "SELECT customers.name FROM `Customers` AS customers"),
        ("WITH customers AS (SELECT 1 AS a) SELECT a FROM customers", None),
    ],
)
def test_what_is_sent_to_spark_is_what_it_takes(written: str, sent: str | None) -> None:
    statement = check(parse(written, "spark"), SCHEMA).statement
    assert statement is not None
    assert statement.sql == (sent or written)
    again = check(parse(statement.sql, "spark"), SCHEMA).statement
    assert again is not None
    assert again.sql == statement.sql

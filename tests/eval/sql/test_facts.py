"""The form of a query: what is grouped, limited, negated, and what no condition links."""

from __future__ import annotations

import pytest

from eval.schema import Column, Schema, Table
from eval.sql import Constant, facts, parse

SCHEMA = Schema(
    "sqlite",
    (
        Table("a", (Column("id"), Column("x"), Column("name"))),
        Table("b", (Column("bid"), Column("aid"), Column("y"))),
    ),
)


@pytest.mark.parametrize(
    ("sql", "unlinked"),
    [
        ("SELECT * FROM a, b WHERE a.id = b.aid", ()),
        ("SELECT * FROM a, b WHERE id = aid + 1", ()),
        ("SELECT * FROM a, b", ("b",)),
        ("SELECT * FROM a JOIN b ON 1 = 1", ("b",)),
        ("SELECT * FROM a, b WHERE a.id = b.aid OR b.y = 1", ("b",)),
        ("SELECT * FROM a CROSS JOIN (SELECT MAX(y) FROM b) m", ()),
        ("SELECT * FROM a, json_each(a.x)", ()),
        ("SELECT * FROM a NATURAL JOIN b", ("b",)),
        ("SELECT * FROM a WHERE EXISTS (SELECT 1 FROM b, a AS c WHERE b.aid = a.id)", ("c",)),
    ],
)
def test_sources_that_no_condition_links_are_named(sql: str, unlinked: tuple[str, ...]) -> None:
    query_facts = facts(parse(sql, "sqlite"), SCHEMA)
    assert query_facts.unlinked == unlinked
    assert query_facts.cartesian == bool(unlinked)


def test_the_form_of_a_grouped_query() -> None:
    sql = (
        "SELECT T1.name, COUNT(DISTINCT T2.y) AS n FROM a AS T1 JOIN b AS T2 ON T1.id = T2.aid "
        "WHERE T1.name <> 'bob' AND 5 < T2.y GROUP BY T1.name HAVING COUNT(*) > 2 ORDER BY n DESC LIMIT 3"
    )
    query_facts = facts(parse(sql, "sqlite"), SCHEMA)
    assert query_facts.aggregates == ("count", "count")
    assert query_facts.output_aggregates == ("count",)
    assert query_facts.count_distinct
    assert query_facts.group_by == ("T1.name",)
    assert query_facts.having
    assert query_facts.order_by == (("n", "desc"),)
    assert query_facts.limit == 3
    assert query_facts.joins == 1
    assert query_facts.negations == 1
    assert query_facts.join_columns == ((("a", "id"), ("b", "aid")),)
    assert Constant("bob", True, "a", "name", "<>") in query_facts.literals
    assert Constant("5", False, "b", "y", ">") in query_facts.literals

"""Names that exist, names that do not, and names that too much answers to."""

from __future__ import annotations

import pytest

from eval.schema import Column, Dialect, Schema, Table
from eval.sql import Constant, facts, parse, resolve
from tests.pairs import rows, sections


def _table(name: str, *columns: str) -> Table:
    return Table(name, tuple(Column(c) for c in columns))


TABLES = (_table("customers", "id", "name", "email", "city"), _table("orders", "id", "customer_id", "total", "status"))


@pytest.mark.parametrize(("dialect", "sql"), sections("guard/references.txt")["known names"])
def test_a_name_that_exists_is_no_phantom(dialect: Dialect, sql: str) -> None:
    assert resolve(parse(sql, dialect), Schema(dialect, TABLES)).phantoms == ()


@pytest.mark.parametrize(("dialect", "sql", "kind", "name", "nearest"), rows("guard/references_unknown_names.jsonl"))
def test_a_phantom_and_the_nearest_name(dialect: Dialect, sql: str, kind: str, name: str, nearest: str | None) -> None:
    (phantom,) = resolve(parse(sql, dialect), Schema(dialect, TABLES)).phantoms
    assert (phantom.kind, phantom.name) == (kind, name)
    assert nearest is None or phantom.nearest[0] == nearest


SCHEMA = Schema(
    "sqlite",
    (Table("a", (Column("id"), Column("x"), Column("name"))), Table("b", (Column("bid"), Column("aid"), Column("y")))),
)


@pytest.mark.parametrize(("sql", "unlinked"), rows("guard/unlinked.jsonl"))
def test_sources_that_no_condition_links_are_named(sql: str, unlinked: list[str]) -> None:
    query_facts = facts(parse(sql, "sqlite"), SCHEMA)
    assert query_facts.unlinked == tuple(unlinked)
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

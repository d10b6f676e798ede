"""How a query is written for another engine or dialect; what it takes, or what cannot be read, stays as it is."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import pytest

from eval.schema import Column, Schema, Table
from eval.sql import check, parse
from eval.sql.dialects import render
from eval.sql.engine_forms import strictly_grouped
from eval.sql.translation import translated
from tests.pairs import rows, sections

SPARK = sections("guard/rewritten.txt")

SCHEMA = Schema(
    "spark",
    (
        Table("Customers", (Column("id", "int"), Column("name", "string"), Column("city", "string"))),
        Table("orders", (Column("id", "int"), Column("customer_id", "int"), Column("total", "double"))),
    ),
)


@pytest.mark.parametrize(("written", "expected"), SPARK["spark: grouped"])
def test_a_column_that_is_not_grouped_is_that_of_any_row(written: str, expected: str) -> None:
    tree = parse(written, "spark").tree
    assert tree is not None
    assert render(strictly_grouped(tree, "spark"), "spark") == expected
    assert render(tree, "spark") == written, "the tree that was given is not changed"


@pytest.mark.parametrize("written", [written for (written,) in SPARK["spark: as written"]])
def test_what_may_stand_in_a_grouped_query_stays(written: str) -> None:
    tree = parse(written, "spark").tree
    assert tree is not None
    assert render(strictly_grouped(tree, "spark"), "spark") == render(tree, "spark")


SHOP = Schema(
    "clickhouse",
    (
        Table("Stores", (Column("Store_ID", "Int64"), Column("Name", "Nullable(String)"), Column("Size", "Int64"))),
        Table("visit", (Column("visit_id", "Int64"), Column("Store_ID", "Nullable(String)"), Column("Year", "String"))),
    ),
)


SENT = [(schema, *pair) for schema in (SCHEMA, SHOP) for pair in SPARK[f"{schema.dialect}: sent"]]


@pytest.mark.parametrize(("schema", "written", "sent"), SENT)
def test_what_is_sent_is_what_the_engine_takes(schema: Schema, written: str, sent: str) -> None:
    """Spark; and ClickHouse: grouped strictly, spelled as declared, texts compared with texts."""
    verdict = check(parse(written, schema.dialect), schema)
    assert verdict.statement is not None, verdict.reason
    assert verdict.statement.sql == sent
    if schema.dialect == "spark":
        assert check(parse(sent, "spark"), schema).statement.sql == sent


@pytest.mark.parametrize(("mysql", "value"), rows("guard/translated.jsonl"))
def test_dates_of_mysql_mean_the_same_on_sqlite(mysql: str, value: object) -> None:
    with closing(sqlite3.connect(":memory:")) as connection:
        assert connection.execute(translated(mysql, "mysql", "sqlite")).fetchone() == (value,)


def test_what_cannot_be_read_stays_as_it_is() -> None:
    for text in ("SELECT FROM WHERE", "", "no SQL at all (", "DATE_SUB(d, INTERVAL n YEAR"):
        assert translated(text, "mysql", "sqlite") == text

"""What is sent to ClickHouse: grouped strictly, spelled as declared, texts compared with texts."""

from __future__ import annotations

import pytest

from eval.schema import Column, Schema, Table
from eval.sql import check, parse
from tests.pairs import sections

SHOP = Schema(
    "clickhouse",
    (
        Table("Stores", (Column("Store_ID", "Int64"), Column("Name", "Nullable(String)"), Column("Size", "Int64"))),
        Table(
            "visit",
            (Column("visit_id", "Int64"), Column("Store_ID", "Nullable(String)"), Column("Year", "String")),
        ),
    ),
)


@pytest.mark.parametrize(("written", "sent"), sections("guard/rewritten.txt")["clickhouse: sent"])
def test_what_is_sent(written: str, sent: str) -> None:
    verdict = check(parse(written, "clickhouse"), SHOP)
    assert verdict.statement is not None, verdict.reason
    assert verdict.statement.sql == sent


def test_without_a_schema_only_the_grouping_changes() -> None:
    statement = check(parse("SELECT a, B, count(*) FROM t GROUP BY a", "clickhouse")).statement
    assert statement is not None
    assert statement.sql == "SELECT a, any_value(B) AS B, count(*) FROM t GROUP BY a"

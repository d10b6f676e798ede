"""What is sent to ClickHouse: grouped strictly, spelled as declared, texts compared with texts."""

from __future__ import annotations

import pytest

from eval.schema import Column, Schema, Table
from eval.sql import check, parse

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


@pytest.mark.parametrize(
    ("written", "sent"),
    [
        (
            "SELECT store_id, name, count(*) FROM STORES AS s GROUP BY S.store_id",
            'SELECT Store_ID, any_value(Name) AS Name, count(*) FROM "Stores" AS s GROUP BY s.Store_ID',
        ),
        (
            "SELECT status, any(name) FROM (SELECT Name AS status, Name AS name FROM Stores) AS t GROUP BY status",
            "SELECT status, any(name) FROM (SELECT Name AS status, Name AS name FROM Stores) AS t GROUP BY status",
        ),
        (
            "SELECT Name, count(*) FROM Stores GROUP BY ROLLUP(Name)",
            "SELECT Name, count(*) FROM Stores GROUP BY ROLLUP (Name)",
        ),
        (
            "SELECT count(*) FROM visit WHERE Year = 2014 OR Year IN (2015, '2016')",
            "SELECT count(*) FROM visit WHERE Year = '2014' OR Year IN ('2015', '2016')",
        ),
        (
            "SELECT count(*) FROM visit AS v JOIN Stores AS s ON v.Store_ID = s.Store_ID",
            "SELECT count(*) FROM visit AS v JOIN Stores AS s ON v.Store_ID = toString(s.Store_ID)",
        ),
        (
            "SELECT count(*) FROM visit WHERE Store_ID = (SELECT Store_ID FROM Stores LIMIT 1)",
            "SELECT count(*) FROM visit WHERE Store_ID = toString((SELECT Store_ID FROM Stores LIMIT 1))",
        ),
        (
            "SELECT Name FROM Stores WHERE Store_ID IN (SELECT Store_ID FROM visit)",
            "SELECT Name FROM Stores WHERE toString(Store_ID) IN (SELECT Store_ID FROM visit)",
        ),
        (
            "SELECT count(*) FROM visit WHERE Year > 2014 OR -1 >= Year",
            "SELECT count(*) FROM visit WHERE toFloat64OrNull(Year) > 2014 OR -1 >= toFloat64OrNull(Year)",
        ),
        (
            "SELECT count(*) FROM visit CROSS JOIN Stores WHERE Year BETWEEN 1 AND Size "
            "AND visit.Store_ID < Stores.Store_ID",
            "SELECT count(*) FROM visit CROSS JOIN Stores WHERE toFloat64OrNull(Year) BETWEEN 1 AND Size "
            "AND toFloat64OrNull(visit.Store_ID) < Stores.Store_ID",
        ),
        ("SELECT count(*) FROM visit WHERE Year > '2014'", "SELECT count(*) FROM visit WHERE Year > '2014'"),
        ("SELECT sum(Year) FROM visit", "SELECT sum(toFloat64OrNull(Year)) FROM visit"),
        ("SELECT Size + 1 FROM Stores WHERE Size = 3", "SELECT Size + 1 FROM Stores WHERE Size = 3"),
    ],
)
def test_what_is_sent(written: str, sent: str) -> None:
    verdict = check(parse(written, "clickhouse"), SHOP)
    assert verdict.statement is not None, verdict.reason
    assert verdict.statement.sql == sent


def test_without_a_schema_only_the_grouping_changes() -> None:
    statement = check(parse("SELECT a, B, count(*) FROM t GROUP BY a", "clickhouse")).statement
    assert statement is not None
    assert statement.sql == "SELECT a, any_value(B) AS B, count(*) FROM t GROUP BY a"

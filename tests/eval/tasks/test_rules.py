"""What holds in the demos: each rule is a query for its violations, each planted feature a query that finds it."""

from __future__ import annotations

import sqlite3
from datetime import date, timedelta

import pytest

from eval.tasks import demo_ids
from tests.pairs import sections

WRITTEN = {demo: sections(f"demo_rules_{demo}.txt") for demo in demo_ids()}
RULES = {(demo, name): "\n".join(sql) for demo, found in WRITTEN.items() for name, *sql in found["rules"]}


def each(section: str) -> pytest.MarkDecorator:
    """Demo, name and statement of each block of a section."""
    blocks = [(demo, name, "\n".join(sql)) for demo, found in WRITTEN.items() for name, *sql in found[section]]
    return pytest.mark.parametrize(("demo", "name", "sql"), blocks, ids=[f"{demo}: {name}" for demo, name, _ in blocks])


@pytest.fixture
def connection(demo: str, request: pytest.FixtureRequest) -> sqlite3.Connection:
    made: sqlite3.Connection = request.getfixturevalue(demo)
    return made


@each("rules")
def test_a_rule_holds(connection: sqlite3.Connection, name: str, sql: str) -> None:
    assert connection.execute(sql).fetchmany(5) == []


@each("planted")
def test_a_planted_feature_is_there(connection: sqlite3.Connection, name: str, sql: str) -> None:
    assert connection.execute(sql).fetchone() is not None


@each("breakages")
def test_a_rule_notices_what_breaks_it(connection: sqlite3.Connection, demo: str, name: str, sql: str) -> None:
    connection.execute("PRAGMA ignore_check_constraints = ON")
    try:
        assert connection.execute(sql).rowcount > 0
        assert connection.execute(RULES[demo, name]).fetchone() is not None
    finally:
        connection.rollback()


def test_date_dimension_is_complete_and_right(enterprise: sqlite3.Connection) -> None:
    result = enterprise.execute("SELECT * FROM dim_date ORDER BY full_date").fetchall()
    days = [date(2022, 1, 1) + timedelta(days=n) for n in range(len(result))]
    assert days[-1] == date(2026, 12, 31)
    for day, row in zip(days, result, strict=True):
        assert row[:11] == (
            int(day.strftime("%Y%m%d")),
            day.isoformat(),
            day.year,
            {1: 1, 2: 1, 3: 1, 4: 2, 5: 2, 6: 2, 7: 3, 8: 3, 9: 3, 10: 4, 11: 4, 12: 4}[day.month],
            day.month,
            day.strftime("%B"),
            day.day,
            day.isoweekday(),
            day.strftime("%A"),
            day.isocalendar()[1],
            int(day.strftime("%A") in ("Saturday", "Sunday")),
        )
        fiscal = {7: 1, 8: 1, 9: 1, 10: 2, 11: 2, 12: 2, 1: 3, 2: 3, 3: 3, 4: 4, 5: 4, 6: 4}[day.month]
        assert row[12:] == (day.year + 1 if fiscal <= 2 else day.year, fiscal)
        assert (row[11] is not None) == ((day.month, day.day) in ((1, 1), (5, 1), (12, 25), (12, 26)))


def test_there_are_nineteen_tables_with_keys_checks_and_indexes(enterprise: sqlite3.Connection) -> None:
    made = enterprise.execute(
        "SELECT name, sql FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
    ).fetchall()
    assert len(made) == 19
    assert all("PRIMARY KEY" in sql for _, sql in made)
    linked = {name for name, sql in made if "FOREIGN KEY" in sql}
    assert {name for name, _ in made} - linked == {"dim_tenant", "dim_date", "stg_order_feed"}
    indexed = enterprise.execute("SELECT COUNT(DISTINCT tbl_name) FROM sqlite_master WHERE type = 'index'").fetchone()
    assert indexed == (19,)


def test_the_size_of_enterprise(enterprise: sqlite3.Connection) -> None:
    names = [row[0] for row in enterprise.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
    counts = {name: enterprise.execute(f"SELECT COUNT(*) FROM {name}").fetchone()[0] for name in names}
    assert 200_000 <= sum(counts.values()) <= 400_000
    assert counts["fact_orders"] == 16_300


def test_the_size_of_shop(shop: sqlite3.Connection) -> None:
    counts = [
        shop.execute(f"SELECT COUNT(*) FROM {table}").fetchone()[0]
        for table in ("customers", "products", "orders", "order_items")
    ]
    assert counts == [480, 86, 3600, 7842]

"""What holds in the demos: each rule is a query for its violations, each planted feature a query that finds it."""

from __future__ import annotations

import sqlite3

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

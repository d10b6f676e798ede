"""What holds in the demos: each rule is a query for its violations, each planted feature a query that finds it."""

from __future__ import annotations

import sqlite3

import pytest

from eval.tasks import demo_ids
from tests.pairs import sections

WRITTEN = {demo: sections(f"demo_rules_{demo}.txt") for demo in demo_ids()}


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

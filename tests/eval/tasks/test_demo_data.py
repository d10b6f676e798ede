"""What holds in the demos: rules without violations, planted features, and golds with sensible answers."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import pytest

from eval.tasks import DEMOS, demo_ids
from tests.pairs import rows, sections

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


_FIXTURES = Path(__file__).parents[2] / "fixtures"


def _questions(demo_id: str) -> list[dict[str, str]]:
    lines = (_FIXTURES / f"demo_questions_{demo_id}.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


_ALL = [(demo.id, question) for demo in DEMOS for question in _questions(demo.id)]


@pytest.mark.parametrize(("demo_id", "question"), _ALL, ids=[question["id"] for _, question in _ALL])
def test_gold_answers(demo_id: str, question: dict[str, str], request: pytest.FixtureRequest) -> None:
    connection: sqlite3.Connection = request.getfixturevalue(demo_id)
    rows = connection.execute(question["gold_sql"]).fetchall()
    assert rows
    assert any(cell is not None for row in rows for cell in row)
    if question["question"].startswith("How many") and "GROUP BY" not in question["gold_sql"]:
        assert len(rows) == 1
        assert len(rows[0]) == 1
        assert rows[0][0] > 0


@pytest.mark.parametrize(("demo_id", "question", "answer"), rows("tasks/known_answers.jsonl"))
def test_known_answers(demo_id: str, question: str, answer: list[list[object]], request: pytest.FixtureRequest) -> None:
    gold = next(q["gold_sql"] for q in _questions(demo_id) if q["question"] == question)
    assert request.getfixturevalue(demo_id).execute(gold).fetchall() == [tuple(row) for row in answer]

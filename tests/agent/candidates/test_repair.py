"""What a small model is told of a query that is not right."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from agent.candidates.repair import wrong_with
from agent.knowledge.privacy import Privacy
from agent.knowledge.values import value_index
from eval.databases import open_database
from eval.databases.base import Database
from eval.examination import Query, examine
from tests.pairs import FIXTURES, rows
from tests.writing import sqlite_file


@pytest.fixture
def firm(tmp_path: Path) -> Database:
    return open_database(str(sqlite_file(tmp_path / "firm.sqlite", (FIXTURES / "candidates/firm.sql").read_text())))


def told(firm: Database, sql: str, privacy: Privacy = "full") -> str:
    schema = firm.schema()
    asked = ", ".join(re.findall("'(.*?)'", sql)) or "?"
    return wrong_with(examine(Query(asked, sql), firm, schema=schema), value_index(firm, schema), privacy)


@pytest.mark.parametrize(("sql", "text"), rows("candidates/repairs.jsonl"))
def test_what_is_wrong_is_told_with_what_would_be_right(firm: Database, sql: str, text: str) -> None:
    assert told(firm, sql).startswith(text) if text else told(firm, sql) == ""


@pytest.mark.parametrize("privacy", ["masked", "schema"])
def test_no_stored_text_is_told_where_a_model_may_see_none(firm: Database, privacy: Privacy) -> None:
    assert told(firm, "SELECT name FROM cities WHERE country = 'france'", privacy) == ""
    assert "orders" in told(firm, "SELECT total FROM customers", privacy)


def test_a_joined_table_that_the_question_names_may_stay(firm: Database) -> None:
    sql = "SELECT c.name FROM customers c JOIN orders o ON o.customer_id = c.id"
    case = examine(Query("Which customers have an order?", sql), firm, schema=firm.schema())
    assert wrong_with(case, value_index(firm, firm.schema()), "full") == ""

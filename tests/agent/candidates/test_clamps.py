"""Clamps rewrite a query by its question, the constraint gate sends it back; a small model is told what is wrong."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from agent.candidates.cascade import wrong_with
from agent.candidates.clamps import clamped, contradictions
from agent.config import Settings
from agent.knowledge.privacy import Privacy
from agent.knowledge.values import value_index
from agent.runner import Answer, run
from agent.strategies import STRATEGIES, strategy
from eval.databases import open_database
from eval.databases.base import Database
from eval.examination import Query, examine
from tests.pairs import FIXTURES, rows
from tests.writing import sqlite_file
from text2sql.testing import ScriptedModel

ALL = "zero-shot/clamp-projection/clamp-order/clamp-ids"


@pytest.mark.parametrize(("question", "sql", "wanted", "rule"), rows("candidates/clamped.jsonl"))
def test_a_query_is_cut_to_its_question(question: str, sql: str, wanted: str | None, rule: str, shop: Database) -> None:
    clamped_sql = clamped(sql, question, shop.schema(), strategy(ALL))

    assert (clamped_sql.sql, bool(clamped_sql.changes)) == (wanted or sql, wanted is not None), rule


def test_no_strategy_but_clamped_rewrites_queries() -> None:
    parts = ("clamp_projection", "clamp_order", "clamp_ids", "constraint_gate")
    assert [name for name, one in STRATEGIES.items() if any(getattr(one, part) for part in parts)] == ["clamped"]


def test_the_gate_objects_to_what_is_lacking(shop: Database) -> None:
    schema = shop.schema()

    assert contradictions("SELECT name FROM customers", "How many customers are there?", schema)
    assert contradictions("SELECT name FROM customers", "The top 3 customers", schema)
    assert not contradictions("SELECT COUNT(*) FROM customers", "How many customers are there?", schema)
    assert not contradictions("SELECT FROM WHERE", "How many customers are there?", schema)


async def answered(shop: Database, config: Settings, how: str, *replies: str) -> Answer:
    changed = config.changed(judging={"strategy": f"zero-shot/no-summary/{how}"})
    return await run("How many customers are there?", database=shop, model=ScriptedModel(*replies), settings=changed)


async def test_a_query_that_the_gate_refuses_is_written_again_and_never_run(shop: Database, config: Settings) -> None:
    answer = await answered(
        shop, config, "constraint-gate/retries=1", "SELECT name FROM customers", "SELECT COUNT(*) FROM customers"
    )

    assert [attempt.status for attempt in answer.attempts] == ["error", "success"]
    assert "does not count" in (answer.attempts[0].error or "")
    assert answer.attempts[0].data == []
    assert answer.sql == "SELECT COUNT(*) FROM customers"


async def test_an_answer_says_how_its_query_was_rewritten(shop: Database, config: Settings) -> None:
    answer = await answered(shop, config, "clamp-order", "SELECT COUNT(*) FROM customers ORDER BY 1")

    assert answer.sql == "SELECT COUNT(*) FROM customers"
    assert "ORDER BY and LIMIT were dropped" in answer.attempts[0].reasoning


async def test_candidates_are_compared_after_the_clamps(shop: Database, config: Settings) -> None:
    texts = ("SELECT COUNT(*) FROM customers LIMIT 5", "SELECT COUNT(*) FROM customers ORDER BY 1")
    answer = await answered(shop, config, "clamp-order/candidates=2", *texts)

    assert [attempt.sql for attempt in answer.attempts] == ["SELECT COUNT(*) FROM customers"]
    assert answer.attempts[0].agreeing == (2, 2)


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

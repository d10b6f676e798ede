"""Clamps rewrite a query by the words of its question; the constraint gate sends it back. Both are off by default."""

from __future__ import annotations

import pytest

from agent.candidates.clamps import clamped, contradictions
from agent.config import Settings
from agent.runner import Answer, run
from agent.strategies import STRATEGIES, strategy
from eval.databases.base import Database
from tests.pairs import rows
from text2sql.testing import ScriptedModel

ALL = "zero-shot/clamp-projection/clamp-order/clamp-ids"


@pytest.mark.parametrize(("question", "sql", "wanted", "rule"), rows("candidates/clamped.jsonl"))
def test_a_query_is_cut_to_what_the_question_asks_for(
    question: str, sql: str, wanted: str | None, rule: str, shop: Database
) -> None:
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

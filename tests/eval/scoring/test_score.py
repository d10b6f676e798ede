"""What a score says: dimensions, vetoes, evidence in words, presets, speed."""

from __future__ import annotations

import dataclasses

import pytest

from eval.databases.base import Database
from eval.databases.types import ExecutionResult
from eval.examination import Query, examine
from eval.scoring import DIMENSIONS, PRESETS, THRESHOLD, Case, final_score, score
from tests.pairs import rows

HOW_MANY = "How many customers are there?"


def test_the_presets_are_the_contracts() -> None:
    for preset in PRESETS.values():
        assert sum(preset.values()) == pytest.approx(1.0)
        assert set(preset) == set(DIMENSIONS)
    assert PRESETS["default"]["correctness"] == 0.35
    assert PRESETS["strict"]["safety"] == 0.25
    assert PRESETS["performance"]["efficiency"] == 0.25
    assert PRESETS["quality"]["best_practices"] == 0.15
    with pytest.raises(ValueError, match="unknown preset 'nice'; known: default"):
        score(_any_case(), preset="nice")


def _any_case() -> Case:
    from eval.schema import Schema
    from eval.sql import check, facts, parse, resolve

    parsed, schema = parse("", "sqlite"), Schema("sqlite")
    return Case("", parsed, check(parsed), resolve(parsed, schema), facts(parsed), schema, None)


def test_the_final_score_blends_relevance(shop: Database) -> None:
    scored = score(examine(Query(HOW_MANY, "SELECT COUNT(*) FROM customers"), shop))
    assert final_score(scored, 0.5) == pytest.approx(0.85 * scored.weighted + 0.075)
    assert final_score(scored, 7.0) == final_score(scored, 1.0)
    assert list(scored.dimensions) == list(DIMENSIONS)
    assert all(0 <= value <= 1 for value in scored.dimensions.values())


def test_evidence_is_told_in_words(shop: Database) -> None:
    scored = score(examine(Query(HOW_MANY, "SELECT COUNT(*) FROM customers"), shop))
    assert scored.evidence == ()
    wrong = score(examine(Query(HOW_MANY, "SELECT name FROM customers"), shop))
    against = {e.text for e in wrong.evidence if e.supports is False}
    assert all(text.endswith(".") for text in against)
    assert "The question asks how many, but the query does not count." in against
    assert final_score(wrong, 0.5) < final_score(scored, 0.5)


@pytest.mark.parametrize(("sql", "says"), rows("scoring/vetoes_say_why_and_cap_the.jsonl"))
def test_vetoes_say_why_and_cap_the_score(shop: Database, sql: str, says: str) -> None:
    scored = score(examine(Query(HOW_MANY, sql), shop))
    assert any(says in veto for veto in scored.vetoes)
    assert final_score(scored, 1.0) < THRESHOLD


def test_with_gold_correctness_is_a_comparison(shop: Database) -> None:
    case = examine(Query(HOW_MANY, "SELECT COUNT(*) FROM customers"), shop)
    right = dataclasses.replace(case, gold=ExecutionResult("success", ("n",), ((4,),)))
    wrong = dataclasses.replace(case, gold=ExecutionResult("success", ("n",), ((5,),)))
    assert score(right).dimensions["correctness"] == 1.0
    assert score(wrong).dimensions["correctness"] == 0.0


def test_a_sure_judge_outweighs_habits_but_not_a_contradiction(shop: Database) -> None:
    question = "Show the customers of France by name"
    habits = examine(Query(question, "SELECT customer_id, name, city FROM customers WHERE country = 'France'"), shop)
    against = [e for e in score(habits).evidence if e.supports is False]
    assert {e.kind for e in against} == {"habit"}
    sure = dataclasses.replace(habits, relevance=0.95)
    assert (score(sure).probability or 0) > (score(habits).probability or 0)
    assert final_score(score(sure), 0.95) >= THRESHOLD
    contradicted = examine(Query(HOW_MANY, "SELECT name FROM customers"), shop)
    judged = dataclasses.replace(contradicted, relevance=0.95)
    assert score(judged).probability == score(contradicted).probability

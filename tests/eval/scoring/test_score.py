"""What a score says: dimensions, vetoes, evidence in words, presets; and the fitted weights, how they are fitted and
measured, and the names that they are of."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from eval.databases.base import Database
from eval.databases.types import ExecutionResult
from eval.examination import Query, examine
from eval.scoring import DIMENSIONS, PRESETS, THRESHOLD, Case, evidence, final_score, score
from eval.scoring.contradictions import NAMES
from eval.scoring.correctness import Answered, Coefficients, coefficients, prior_of
from eval.scoring.types import _LISTED, PROVED, sign
from experiments.judge.fit_measures import auc, calibration_error, reliability
from experiments.logistic_regression import fit
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


def test_no_fitted_weight_contradicts_its_name() -> None:
    weights = coefficients().weights
    assert len(weights) > 50
    assert {name: w for name, w in weights.items() if w * sign(name) < 0} == {}


def test_a_weight_of_the_wrong_sign_is_left_out_of_the_fit() -> None:
    rows = [{"a_matched": 1.0, "familiar": 1.0}, {"familiar": 1.0}, {"a_matched": 1.0}, {}] * 5
    labels = [False, True, False, False] * 5
    free = fit(rows, labels, penalty=1.0)
    bound = fit(rows, labels, penalty=1.0, sign=sign)
    assert free.weights["a_matched"] < 0
    assert bound.weights["a_matched"] == 0
    assert bound.weights["familiar"] > 0


def test_a_writers_prior_takes_the_evidence_into_account() -> None:
    judge = Coefficients(0.75, 0.35, {"quoted_matched": 1.0})
    spoken_for = [Answered({"quoted_matched": 1.0}, n % 5 > 0) for n in range(400)]
    silent = [Answered({}, n % 5 > 0) for n in range(400)]

    assert prior_of(silent, judge) == pytest.approx(0.8, abs=0.01)
    assert prior_of(spoken_for, judge) < 0.65


def test_auc_counts_ties_half() -> None:
    assert auc([0.1, 0.2, 0.3, 0.4], [False, False, True, True]) == 1.0
    assert auc([0.5, 0.5], [False, True]) == 0.5
    assert auc([0.9, 0.1, 0.5], [False, True, True]) == 0.0


def test_calibration_error_is_the_weighted_distance() -> None:
    probabilities, labels = [0.95] * 4 + [0.05] * 4, [True, True, True, False] + [False] * 4
    assert calibration_error(probabilities, labels) == pytest.approx((0.20 + 0.05) / 2)
    assert [b.answers for b in reliability(probabilities, labels)] == [4, 4]


def test_every_name_is_one_that_the_evidence_uses() -> None:
    source = "".join(p.read_text(encoding="utf-8") for p in Path(evidence.__file__).parent.glob("*.py"))
    proofs = NAMES | {PROVED + check for check in NAMES}
    assert [n for n in (*coefficients().weights, *_LISTED) if f'"{n}"' not in source and n not in proofs] == []

"""What a score says: dimensions, vetoes, evidence in words, presets, speed."""

from __future__ import annotations

import dataclasses
import statistics
import time
from collections.abc import Callable

import pytest

from eval.databases.base import Database
from eval.databases.types import ExecutionResult
from eval.examination import Query, examine
from eval.scoring import DIMENSIONS, PRESETS, THRESHOLD, Case, SecondOpinion, final_score, score
from eval.scoring.correctness import coefficients, dimension

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


@pytest.mark.parametrize(
    ("sql", "says"),
    [
        ("", "There is no SQL."),
        ("SELECT 1", "The query reads no table, though the question asks about data."),
        ("DROP TABLE customers", "The statement may not run"),
        ("SELECT nam FROM customers", "There is no column nam; nearest: name"),
        ("SELECT * FROM customers, products", "a cartesian join"),
    ],
)
def test_vetoes_say_why_and_cap_the_score(shop: Database, sql: str, says: str) -> None:
    scored = score(examine(Query(HOW_MANY, sql), shop))
    assert any(says in veto for veto in scored.vetoes)
    assert final_score(scored, 1.0) < THRESHOLD


def test_a_good_query_has_no_veto_and_safety_is_the_guards(shop: Database) -> None:
    good = score(examine(Query(HOW_MANY, "SELECT COUNT(*) FROM customers"), shop))
    assert good.vetoes == ()
    assert good.dimensions["safety"] == 1.0
    assert score(examine(Query(HOW_MANY, "DELETE FROM customers"), shop)).dimensions["safety"] < 0.5


def test_with_gold_correctness_is_a_comparison(shop: Database) -> None:
    case = examine(Query(HOW_MANY, "SELECT COUNT(*) FROM customers"), shop)
    right = dataclasses.replace(case, gold=ExecutionResult("success", ("n",), ((4,),)))
    wrong = dataclasses.replace(case, gold=ExecutionResult("success", ("n",), ((5,),)))
    assert score(right).dimensions["correctness"] == 1.0
    assert score(wrong).dimensions["correctness"] == 0.0


def test_a_second_reading_and_other_candidates_are_shown(shop: Database) -> None:
    case = examine(Query(HOW_MANY, "SELECT COUNT(*) FROM customers"), shop)
    opinion = SecondOpinion("SELECT 4", None, ExecutionResult("success", ("n",), ((5,),)), confidence=0.8)
    scored = score(dataclasses.replace(case, second_opinion=opinion, candidates_agreeing=(2, 3)))
    texts = {e.text for e in scored.evidence}
    assert "An independent reading of the question returns other rows." in texts
    assert "2 of 3 candidates return this result." in texts


def test_the_dimension_is_a_monotone_image_of_the_probability() -> None:
    pivot = coefficients().pivot
    values = [dimension(i / 100, pivot) for i in range(101)]
    assert values == sorted(values)
    assert values[0] == 0.0
    assert values[-1] == pytest.approx(1.0)


def test_scoring_costs_less_than_parsing_and_running_what_is_scored(shop: Database) -> None:
    question, sql = "Which customer has placed the most orders?", (
        "SELECT c.name FROM customers AS c JOIN orders AS o ON o.customer_id = c.customer_id GROUP BY c.customer_id "
        "ORDER BY COUNT(*) DESC LIMIT 1"
    )  # fmt: skip
    case = examine(Query(question, sql), shop)

    def cost(work: Callable[[int], object]) -> float:
        times = []
        for i in range(30):
            started = time.process_time()
            work(i)
            times.append(time.process_time() - started)
        return statistics.median(times)

    assert cost(lambda _: score(case)) < cost(lambda i: examine(Query(question, sql + " " * i), shop))


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

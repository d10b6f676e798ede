"""Which attempt is shown, which doubts go with it, and which plan can be run at all."""

from __future__ import annotations

from typing import Any

import pytest

from agent.runtime.attempts import best_attempt, chosen, doubts, passes, sure, verdict
from agent.runtime.probability import STATED_DOUBT
from agent.state import (
    MAX_TASKS,
    Analysis,
    EvalReport,
    Evidence,
    PlanInvalid,
    QueryPlan,
    QueryResult,
    QueryTask,
    in_running_order,
    single_task_plan,
)
from tests.pairs import rows


def attempt(
    number: int, score: float, *, status: str = "success", vetoes: tuple[str, ...] = (), **more: Any
) -> QueryResult:
    report = EvalReport(overall=score, overall_before_relevance=score, dimensions={}, vetoes=list(vetoes))
    return QueryResult(
        task_id="t1", attempt=number, sql=f"SELECT {number}", score=score, status=status, eval_report=report, **more
    )


def test_an_attempt_that_ran_beats_one_that_did_not_and_an_unvetoed_one_beats_a_vetoed_one() -> None:
    refused = attempt(1, 0.69, status="failed", vetoes=("not read-only",))
    cartesian = attempt(2, 0.65, vetoes=("cartesian join",))
    plain = attempt(3, 0.30)
    assert best_attempt("t1", [refused, cartesian]).attempt == 2
    assert best_attempt("t1", [refused, cartesian, plain]).attempt == 3


def test_the_gate_needs_score_and_no_veto_and_rows_from_the_database() -> None:
    assert passes(attempt(1, 0.70), 0.70)
    assert not passes(attempt(1, 0.69), 0.70)
    assert not passes(attempt(1, 0.90, vetoes=("cartesian join",)), 0.70)
    assert not passes(attempt(1, 0.90, status="error"), 0.70)


def test_a_doubtful_answer_names_what_can_be_checked_and_no_habit() -> None:
    def evidence(kind: str, text: str) -> Evidence:
        return Evidence(name=kind, supports=False, weight=-1.0, text=text, kind=kind)

    report = EvalReport(
        overall=0.41,
        overall_before_relevance=0.41,
        dimensions={},
        analysis=Analysis(evidence=[evidence("habit", "Few ask so."), evidence("contradiction", "2024 is not held.")]),
    )
    low = attempt(1, 0.41).model_copy(update={"eval_report": report})
    assert doubts([low], 0.7) == ("treat this with care: 2024 is not held.",)
    assert doubts([attempt(1, 0.41)], 0.7) == ("treat this with care: the evidence for it is thin.",)
    vetoed = attempt(1, 0.41, vetoes=("cartesian join of a and b",))
    assert doubts([vetoed], 0.7) == ("treat this with care: cartesian join of a and b.",)


def test_an_unsure_answer_names_the_words_that_it_leaves_out() -> None:
    unsure = attempt(1, 0.9, confidence=0.5, not_understood=["profit", "gold"])
    assert doubts([unsure], 0.7) == ("“profit”, “gold” are left out of the query.",)
    assert doubts([attempt(1, 0.9, confidence=0.5)], 0.7) == ("the evidence for it is thin.",)


def test_an_answer_is_sure_from_one_likelihood_on_whoever_wrote_it() -> None:
    for chance in (0.6, 0.7):
        passed = attempt(1, 0.9, confidence=0.9)
        assert passed.eval_report
        report = passed.eval_report.model_copy(update={"probability": chance})
        assert sure(passed.model_copy(update={"eval_report": report})) == (chance >= STATED_DOUBT)


def test_a_failure_and_cut_rows_are_said() -> None:
    assert "no such column: x" in doubts([attempt(1, 0.0, status="error", error="no such column: x")], 0.7)[0]
    cut = doubts([attempt(1, 0.9, truncated=True, rows_returned=10_000)], 0.7)
    assert cut == ("only the first 10,000 rows were read; there are more.",)
    assert doubts([attempt(1, 0.9)], 0.7) == ()


def test_a_tidier_attempt_never_displaces_a_more_probable_one() -> None:
    def likely(number: int, score: float, probability: float) -> QueryResult:
        result = attempt(number, score)
        assert result.eval_report
        report = result.eval_report.model_copy(update={"probability": probability})
        return result.model_copy(update={"eval_report": report})

    results = [likely(1, 0.60, 0.5), likely(2, 0.65, 0.4)]
    assert best_attempt("t1", results) == results[0]


@pytest.mark.parametrize(("status", "chance", "line"), rows("kinds/verdicts.jsonl"))
def test_every_door_says_how_sure_in_the_same_line(status: str, chance: float | None, line: str) -> None:
    assert verdict(status, chance, ["No rows were returned."]) == line


def test_tasks_never_attempted_are_left_out_of_what_is_chosen() -> None:
    assert chosen(single_task_plan("q", 1.0), []) == ()


def plan(*tasks: tuple[str, list[str]]) -> QueryPlan:
    made = [QueryTask(id=i, description=f"do {i}", depends_on=d) for i, d in tasks]
    return QueryPlan(plan_type="multi-sequential", confidence=0.8, tasks=made)


def test_tasks_run_after_what_they_depend_on_and_otherwise_in_the_given_order() -> None:
    ordered = in_running_order(plan(("c", ["a", "b"]), ("b", []), ("a", ["b"]), ("d", [])))
    assert [t.id for t in ordered.tasks] == ["b", "d", "a", "c"]
    assert ordered.confidence == 0.8


def test_a_plan_of_one_task_is_single_whatever_it_calls_itself() -> None:
    assert in_running_order(plan(("only", []))).plan_type == "single"


TOO_MANY: Any = ([(str(i), []) for i in range(MAX_TASKS + 1)], "at most")


@pytest.mark.parametrize(("tasks", "reason"), [*rows("kinds/broken_plans.jsonl"), TOO_MANY])
def test_a_plan_that_cannot_run_is_refused_with_the_reason(tasks: list[tuple[str, list[str]]], reason: str) -> None:
    with pytest.raises(PlanInvalid, match=reason):
        in_running_order(plan(*tasks))

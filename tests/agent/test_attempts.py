"""Which attempt is shown, and which doubts go with it."""

from __future__ import annotations

from agent.attempts import best_attempt, chosen, doubts, passes
from agent.plans import single_task_plan
from agent.state import EvalReport, QueryResult


def attempt(number: int, score: float, *, status: str = "success", vetoes: tuple[str, ...] = (), **more) -> QueryResult:
    report = EvalReport(overall=score, overall_before_relevance=score, dimensions={}, vetoes=list(vetoes))
    return QueryResult(
        task_id="t1", attempt=number, sql=f"SELECT {number}", score=score, status=status, eval_report=report, **more
    )


def test_the_best_attempt_is_not_the_last_one() -> None:
    results = [attempt(1, 0.4), attempt(2, 0.6), attempt(3, 0.5)]
    assert best_attempt("t1", results).attempt == 2


def test_an_attempt_that_ran_beats_one_that_did_not_and_an_unvetoed_one_beats_a_vetoed_one() -> None:
    refused = attempt(1, 0.69, status="failed", vetoes=("not read-only",))
    cartesian = attempt(2, 0.65, vetoes=("cartesian join",))
    plain = attempt(3, 0.30)
    assert best_attempt("t1", [refused, cartesian]).attempt == 2
    assert best_attempt("t1", [refused, cartesian, plain]).attempt == 3


def test_of_equal_attempts_the_earliest_is_shown() -> None:
    assert best_attempt("t1", [attempt(1, 0.5), attempt(2, 0.5)]).attempt == 1


def test_the_gate_needs_score_and_no_veto_and_rows_from_the_database() -> None:
    assert passes(attempt(1, 0.70), 0.70)
    assert not passes(attempt(1, 0.69), 0.70)
    assert not passes(attempt(1, 0.90, vetoes=("cartesian join",)), 0.70)
    assert not passes(attempt(1, 0.90, status="error"), 0.70)


def test_a_low_score_a_failure_and_cut_rows_are_all_said() -> None:
    low = doubts([attempt(1, 0.41, vetoes=("cartesian join of a and b",))], 0.7)
    assert len(low) == 1
    assert "0.41" in low[0]
    assert "cartesian join of a and b" in low[0]
    assert "no such column: x" in doubts([attempt(1, 0.0, status="error", error="no such column: x")], 0.7)[0]
    cut = doubts([attempt(1, 0.9, truncated=True, rows_returned=10_000)], 0.7)
    assert cut == ("only the first 10,000 rows were read; there are more.",)
    assert doubts([attempt(1, 0.9)], 0.7) == ()


def test_a_score_just_below_the_threshold_never_looks_like_it() -> None:
    assert "the score 0.69 is below 0.70" in doubts([attempt(1, 0.6996)], 0.7)[0]
    vetoed = doubts([attempt(1, 0.9, vetoes=("cartesian join of a and b",))], 0.7)[0]
    assert "below" not in vetoed
    assert "forbids it" in vetoed


def test_tasks_never_attempted_are_left_out_of_what_is_chosen() -> None:
    assert chosen(single_task_plan("q", 1.0), []) == ()

"""Which of several results is taken, and which attempt stands: pure functions of what is known."""

from __future__ import annotations

import itertools

from agent.candidates.choice import choose
from agent.candidates.result_groups import Candidate, Ran, labelled
from agent.runtime.attempts import best_attempt
from agent.state import QueryResult
from eval.databases.types import ExecutionResult


def ran(sql: str, *rows: tuple[object, ...], probability: float = 0.5, ordered: bool = False, system: str = "") -> Ran:
    columns = tuple(f"c{i}" for i in range(len(rows[0]) if rows else 1))
    return Ran(Candidate(system, sql), sql, probability, ExecutionResult("success", columns, rows), ordered)


def attempt(number: int, score: float, status: str = "success", rows: int = 1, **fields: object) -> QueryResult:
    given = {"task_id": "t", "attempt": number, "sql": f"SELECT {number}", "score": score, "status": status}
    return QueryResult.model_validate(given | {"rows_returned": rows} | fields)


def test_results_are_the_same_in_any_order_of_rows_unless_one_query_orders() -> None:
    one, other = ran("a", (1,), (2,)), ran("b", (2,), (1,))
    assert len({e.result for e in labelled([one, other])}) == 1
    sorted_one = ran("a", (1,), (2,), ordered=True)
    first, second = labelled([sorted_one, other])
    assert (first.result != second.result, first.bag == second.bag) == (True, True)


def test_columns_in_another_order_are_another_result_with_the_same_content() -> None:
    first, second, third = labelled([ran("a", ("x", 1)), ran("b", (1, "x")), ran("c", ("y", 1))])
    assert first.result != second.result
    assert first.content == second.content != third.content


def test_what_more_return_is_likelier_and_better_evidence_outweighs_it() -> None:
    several = [ran("a", (1,)), ran("bb", (1,)), ran("cc", (2,))]
    choice = choose(labelled(several), 3)
    assert choice is not None
    assert (choice.candidate.sql, choice.agreeing) == ("a", 2)
    doubtful = [ran("a", (1,), probability=0.1), ran("bb", (1,), probability=0.1), ran("cc", (2,), probability=0.97)]
    choice = choose(labelled(doubtful), 3)
    assert choice is not None
    assert choice.candidate.sql == "cc"


def test_no_order_and_no_name_changes_the_choice() -> None:
    given = [
        ran("SELECT a", (1,), probability=0.6),
        ran("SELECT b", (2,), probability=0.6),
        ran("SELECT c", (1, 2), probability=0.6),
        ran("SELECT d", (2, 1), probability=0.6),
    ]
    names = itertools.cycle("zyxwv")
    chosen = set()
    for order in itertools.permutations(given):
        named = [Ran(Candidate(next(names), r.sql), r.sql, r.probability, r.result, r.ordered) for r in order]
        choice = choose(labelled(named), len(named))
        assert choice is not None
        chosen.add((choice.candidate.sql, choice.probability))
    assert len(chosen) == 1


def test_candidates_that_did_not_run_count_against_those_that_did() -> None:
    one = labelled([ran("a", (1,))])
    alone, among_broken = choose(one, 1), choose(one, 5)
    assert alone is not None
    assert among_broken is not None
    assert alone.probability > among_broken.probability
    assert choose((), 3) is None


def test_an_attempt_that_was_preferred_stands_whatever_the_scores_of_the_others() -> None:
    rivals = [attempt(1, 0.95), attempt(2, 0.80)]
    chosen = attempt(3, 0.75, replaces=[1, 2])
    assert best_attempt("t", [*rivals, chosen]) == chosen
    retried = attempt(4, 0.90)
    assert best_attempt("t", [*rivals, chosen, retried]) == retried

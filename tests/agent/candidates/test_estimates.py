"""How likely each result of a cascade is right."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from agent.candidates.choice import choose
from agent.candidates.live import FORBIDDEN, UNREAD, Answer, estimates, evidence_of
from agent.candidates.result_groups import Candidate, Ran, labelled
from agent.runtime.attempts import best_attempt
from agent.state import QueryResult
from eval.databases import open_database
from eval.databases.base import Database
from eval.databases.types import ExecutionResult
from eval.examination import Query, examine
from tests.writing import sqlite_file

COUNT = "SELECT COUNT(*) FROM customers"
NAMES = "SELECT name FROM customers"
QUESTION = "How many customers are there?"


@pytest.fixture
def firm(tmp_path: Path) -> Database:
    rows = "INSERT INTO customers VALUES (1, 'Ana'), (2, 'Bo'), (3, 'Cy')"
    script = f"CREATE TABLE customers (id INTEGER PRIMARY KEY, name TEXT); {rows}"
    return open_database(sqlite_file(tmp_path / "firm.sqlite", script))


def answer(firm: Database, place: int, sql: str, engine: float | None = None, *, superseded: bool = False) -> Answer:
    ran = evidence_of(examine(Query(QUESTION, sql), firm, schema=firm.schema()))
    assert ran is not None
    return Answer(place, ran, engine is not None, superseded, engine)


def test_the_same_rows_are_one_result_that_engine_and_model_support(firm: Database) -> None:
    alone = estimates([answer(firm, 0, COUNT)])
    both = estimates([answer(firm, 0, COUNT, 0.7), answer(firm, 1, "SELECT COUNT(id) AS n FROM customers")])
    assert len(both) == 1
    assert both[0].probability > alone[0].probability


def test_the_likelier_result_comes_first_and_a_vote_is_told(firm: Database) -> None:
    said = [answer(firm, 0, NAMES), answer(firm, 1, COUNT), answer(firm, 2, "SELECT COUNT(id) FROM customers")]
    first, second = estimates(said)
    assert first.agreeing == (2, 3)
    assert first.place in (1, 2)
    assert first.probability > second.probability


def test_one_that_shows_the_same_and_more_supports_it(firm: Database) -> None:
    """Names, and names beside their numbers: who asked for names finds them in both."""
    more = "SELECT id, name FROM customers"
    beside_less, beside_other = (
        {e.place: e for e in estimates([answer(firm, 0, more), answer(firm, 1, sql)])}[0] for sql in (NAMES, COUNT)
    )
    assert (beside_less.features["share_within"], beside_other.features["share_within"]) == (0.5, 0.0)
    assert beside_less.probability > beside_other.probability
    engine = {e.place: e for e in estimates([answer(firm, 0, NAMES, 0.7), answer(firm, 1, more)])}
    assert engine[1].features["engine_within"] == 1.0


def test_a_query_that_was_sent_back_votes_for_nothing(firm: Database) -> None:
    (only, *_) = estimates([answer(firm, 0, NAMES, superseded=True), answer(firm, 1, COUNT)])
    assert (only.place, only.agreeing) == (1, None)


def test_what_contradicts_the_question_is_not_believed(firm: Database) -> None:
    (only,) = estimates([answer(firm, 0, "SELECT 1")])
    assert only.probability <= FORBIDDEN


@pytest.mark.parametrize("engines", [NAMES, COUNT])
def test_nothing_is_sure_where_the_engine_finds_a_word_nowhere(firm: Database, engines: str) -> None:
    """Also where both say the same: `unpaid invoices` may be all invoices to both."""
    engine = replace(answer(firm, 0, engines, 0.3), unread=1)
    models = [answer(firm, place, COUNT) for place in (1, 2, 3)]
    assert all(e.probability <= UNREAD for e in estimates([engine, *models]))


def test_where_the_engine_doubts_what_the_model_wrote_too_the_models_query_is_told(firm: Database) -> None:
    (doubted,) = estimates([answer(firm, 0, COUNT, 0.5), answer(firm, 1, "SELECT COUNT(id) AS n FROM customers")])
    assert doubted.place == 1


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

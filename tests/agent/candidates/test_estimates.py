"""How likely each result of a cascade is right."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from agent.candidates.live import FORBIDDEN, UNREAD, Answer, estimates, evidence_of
from eval.databases import open_database
from eval.databases.base import Database
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

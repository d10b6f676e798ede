"""Each check proves a plain mistake against a query, and nothing against its repair."""

from __future__ import annotations

import datetime as dt

import pytest

from eval.databases.base import Database
from eval.examination import Query, examine
from eval.scoring.contradictions import contradictions
from eval.scoring.evidence.features import unscaled
from eval.scoring.evidence.question_reading import Reading
from tests.eval.scoring.conftest import QUESTIONS


def _proved(database: Database, question: str, sql: str) -> set[str]:
    reading = Reading(examine(Query(question, sql), database))
    assert reading.case.ran, reading.case.result
    return set(contradictions(reading, unscaled(reading)))


@pytest.mark.parametrize(("mistake", "wrong", "right"), QUESTIONS["zoo: mistakes"])
def test_a_mistake_is_proved_and_its_repair_is_not(zoo: Database, mistake: str, wrong: str, right: str) -> None:
    check, question = mistake.split(": ", 1)
    assert check in _proved(zoo, question, wrong)
    assert _proved(zoo, question, right) == set()


def test_a_comparison_with_today_is_no_foreign_date(zoo: Database) -> None:
    question, today = "How many keepers live in Oslo?", dt.date.today()
    hired = "SELECT COUNT(*) FROM keepers WHERE city = 'Oslo' AND hired_on > '{}'"
    assert "value_foreign" not in _proved(zoo, question, hired.format(today))
    assert "value_foreign" in _proved(zoo, question, hired.format("2001-12-31"))


@pytest.mark.parametrize(("question", "sql"), QUESTIONS["zoo: left alone"])
def test_what_cannot_be_told_is_left_alone(zoo: Database, question: str, sql: str) -> None:
    assert _proved(zoo, question, sql) == set()


def test_what_the_evidence_explains_is_not_missing(zoo: Database) -> None:
    question, sql = "What was the total wage of Ada in 1996?", "SELECT wage FROM keepers WHERE first_name = 'Ada'"
    bare, explained = (
        set(contradictions(reading := Reading(examine(Query(question, sql, taught=taught), zoo)), unscaled(reading)))
        for taught in ("", "wage holds the total wage in 1996")
    )
    assert "year_missing" in bare
    assert explained == set()

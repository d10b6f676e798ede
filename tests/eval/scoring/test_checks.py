"""Each check finds a plain mistake of a query, and nothing against its repair."""

from __future__ import annotations

import datetime as dt

import pytest

from eval.databases.base import Database
from eval.examination import Query, examine
from eval.scoring import score
from eval.scoring.contradictions import contradictions
from eval.scoring.evidence.features import observations, unscaled
from eval.scoring.evidence.question_reading import Reading
from eval.scoring.evidence_kinds import PROVED
from tests.eval.scoring.conftest import QUESTIONS


def _proved(database: Database, question: str, sql: str) -> set[str]:
    reading = Reading(examine(Query(question, sql), database))
    assert reading.case.ran, reading.case.result
    return set(contradictions(reading, unscaled(reading)))


def _told(database: Database, question: str, sql: str) -> set[str]:
    evidence = score(examine(Query(question, sql), database)).evidence
    return {e.name.removeprefix(PROVED) for e in evidence if e.kind == "contradiction"}


def _seen(database: Database, question: str, sql: str) -> set[str]:
    return {o.name for o in observations(Reading(examine(Query(question, sql), database)))}


FOUND = {"zoo": _proved, "depot": _told, "yard": _seen}
"""By database of the questions: how a mistake is found."""
MISTAKES = [(name, *case) for name in FOUND for case in QUESTIONS[f"{name}: mistakes"]]
LEFT_ALONE = [(name, *case) for name in FOUND for case in QUESTIONS[f"{name}: left alone"]]


@pytest.mark.parametrize(("name", "mistake", "wrong", "right"), MISTAKES)
def test_a_mistake_is_found_and_its_repair_is_not_blamed(
    name: str, mistake: str, wrong: str, right: str, request: pytest.FixtureRequest
) -> None:
    database, (check, question) = request.getfixturevalue(name), mistake.split(": ", 1)
    assert check in FOUND[name](database, question, wrong)
    left = FOUND[name](database, question, right)
    assert left == set() if name == "zoo" else check not in left


@pytest.mark.parametrize(("name", "looks_like", "sql"), LEFT_ALONE)
def test_what_only_looks_like_a_mistake_is_none(
    name: str, looks_like: str, sql: str, request: pytest.FixtureRequest
) -> None:
    """In the zoo nothing at all may be proved of it."""
    database = request.getfixturevalue(name)
    check, _, question = looks_like.partition(": ")
    if name == "zoo":
        assert _proved(database, looks_like, sql) == set()
    else:
        assert check not in FOUND[name](database, question, sql)


def test_a_comparison_with_today_is_no_foreign_date(zoo: Database) -> None:
    question, today = "How many keepers live in Oslo?", dt.date.today()
    hired = "SELECT COUNT(*) FROM keepers WHERE city = 'Oslo' AND hired_on > '{}'"
    assert "value_foreign" not in _proved(zoo, question, hired.format(today))
    assert "value_foreign" in _proved(zoo, question, hired.format("2001-12-31"))


def test_what_the_evidence_explains_is_not_missing(zoo: Database) -> None:
    question, sql = "What was the total wage of Ada in 1996?", "SELECT wage FROM keepers WHERE first_name = 'Ada'"
    bare, explained = (
        set(contradictions(reading := Reading(examine(Query(question, sql, taught=taught), zoo)), unscaled(reading)))
        for taught in ("", "wage holds the total wage in 1996")
    )
    assert "year_missing" in bare
    assert explained == set()

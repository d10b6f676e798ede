"""Each check finds a plain mistake of a query and nothing against its repair; habits alone are bounded."""

from __future__ import annotations

import datetime as dt

import pytest

from eval.databases.base import Database
from eval.examination import Query, examine
from eval.scoring import THRESHOLD, final_score, score
from eval.scoring.contradictions import contradictions
from eval.scoring.correctness import Coefficients
from eval.scoring.evidence.features import observations, unscaled
from eval.scoring.evidence.question_reading import Observation, Reading
from eval.scoring.types import PROVED
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
def test_a_mistake_but_no_repair(
    name: str, mistake: str, wrong: str, right: str, request: pytest.FixtureRequest
) -> None:
    database, (check, question) = request.getfixturevalue(name), mistake.split(": ", 1)
    assert check in FOUND[name](database, question, wrong)
    left = FOUND[name](database, question, right)
    assert left == set() if name == "zoo" else check not in left


@pytest.mark.parametrize(("name", "looks_like", "sql"), LEFT_ALONE)
def test_what_looks_wrong_is_no_mistake(name: str, looks_like: str, sql: str, request: pytest.FixtureRequest) -> None:
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


def _contradictions(database: Database, question: str, sql: str) -> set[str]:
    scored = score(examine(Query(question, sql), database))
    return {e.name.removeprefix(PROVED) for e in scored.evidence if e.kind == "contradiction"}


@pytest.mark.parametrize("bound", ["'1966-05-01'", "DATE('now', '-60 years')"])
def test_the_older_have_the_smaller_birth_date(depot: Database, bound: str) -> None:
    year = dt.date.today().year - 60
    sql = f"SELECT name FROM clients WHERE joined < {bound.replace('1966', str(year))}"
    evidence = _contradictions(depot, "Which clients are older than 60?", sql)
    assert not evidence & {"number_missing", "comparison_direction"}


def test_a_date_of_a_year_that_the_question_names_is_no_foreign_value(depot: Database) -> None:
    question = "What is the total of the deals in 2024 by channel?"
    sql = (
        "SELECT channel, SUM(total) FROM deals WHERE closed >= '2024-01-01' AND closed < '2025-01-01' GROUP BY channel"
    )
    scored = score(examine(Query(question, sql), depot))
    assert not {"value_foreign", "number_foreign", "year_foreign"} & {e.name for e in scored.evidence}
    assert final_score(scored, 0.5) >= THRESHOLD


def test_one_row_beside_one_row_is_no_cartesian_join(depot: Database) -> None:
    question = "Which client joined before 2024, and which deal is of the web?"
    one = "SELECT name AS n FROM clients WHERE joined < '2024-01-01'"
    beside = f"SELECT a.n, b.id FROM ({one}) AS a JOIN (SELECT id FROM deals WHERE channel = 'web') AS b"
    assert not score(examine(Query(question, beside), depot)).vetoes
    unnamed = beside.replace(" AS a ", " ").replace(" AS b", "").replace("a.n, b.id", "n, id")
    assert not score(examine(Query(question, unnamed), depot)).vetoes
    nested = beside.replace("FROM deals WHERE", "FROM deals, parts AS p WHERE p.id = 1 AND").replace(
        "id FROM", "deals.id FROM"
    )
    assert score(examine(Query(question, nested), depot)).vetoes
    several = "SELECT a.name, b.id FROM (SELECT name FROM clients) AS a JOIN (SELECT id FROM deals) AS b"
    assert any("cartesian" in veto for veto in score(examine(Query(question, several), depot)).vetoes)


def test_habits_alone_are_bounded() -> None:
    fitted = Coefficients(0.75, 0.35, {"unusual_output": -1.0, "quoted_missing": -1.0})
    few, many = (fitted.probability([Observation("unusual_output", value)]) for value in (2.0, 50.0))
    assert 0.25 < many < few
    assert fitted.probability([Observation("quoted_missing", 50.0)]) < 0.001

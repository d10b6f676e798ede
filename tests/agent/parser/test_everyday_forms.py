"""Everyday forms on a small clinic: rates, ages, flags, supervisors, and readings that look right but are not."""

from __future__ import annotations

import datetime as dt
import sqlite3
from collections.abc import Callable, Iterator

import pytest

from agent.knowledge.values import ValueIndex, value_index
from agent.parser import Reading, read
from agent.runtime.probability import STATED_DOUBT
from eval.databases import Database, open_database
from eval.sql import check, parse

CLINIC = """
CREATE TABLE wards (ward_id INTEGER PRIMARY KEY, ward_name TEXT NOT NULL, opened_dt TEXT, sq_m INTEGER);
CREATE TABLE doctors (
    doctor_id INTEGER PRIMARY KEY, full_name TEXT NOT NULL, ward_id INTEGER REFERENCES wards, salary INTEGER,
    hire_date DATE, certified INTEGER, supervisor_id INTEGER REFERENCES doctors);
CREATE TABLE patients (patient_id INTEGER PRIMARY KEY, full_name TEXT NOT NULL, dob DATE, city TEXT);
CREATE TABLE visits (
    visit_id INTEGER PRIMARY KEY, patient_id INTEGER REFERENCES patients, doctor_id INTEGER REFERENCES doctors,
    visit_time DATETIME, status TEXT, duration_min INTEGER, rating INTEGER);
CREATE TABLE notes (note_id INTEGER PRIMARY KEY, visit_id INTEGER REFERENCES visits, written TEXT, note_date TEXT);
INSERT INTO wards VALUES (1, 'North', '2001-05-01', 200), (2, 'South', '1990-02-01', 900);
INSERT INTO doctors VALUES
    (1, 'Ann Moss', 1, 90, '2010-01-01', 1, NULL), (2, 'Bob Hill', 1, 120, '2008-01-01', 0, 1),
    (3, 'Cat Reed', 2, 70, '2015-06-01', 1, 1);
INSERT INTO patients VALUES
    (1, 'Dan Fox', '1950-12-24', 'Leeds'), (2, 'Eve Day', '2010-03-01', 'York'), (3, 'Fay Cox', '1999-06-15', 'Leeds');
INSERT INTO visits VALUES
    (1, 1, 1, '2023-03-06 09:00:00', 'done', 20, 5), (2, 1, 2, '2023-04-04 10:00:00', 'no-show', 30, NULL),
    (3, 2, 2, '2024-02-05 09:30:00', 'done', 60, 3), (4, 3, 2, '2024-03-05 11:00:00', 'cancelled', 45, NULL);
INSERT INTO notes VALUES (1, 1, 'fine', '31.12.2023'), (2, 3, 'well', '01.02.2024');
"""
TODAY = dt.date(2024, 6, 15)
Rows = list[tuple[object, ...]]


@pytest.fixture(scope="module")
def clinic(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Database]:
    path = tmp_path_factory.mktemp("clinic") / "clinic.sqlite"
    connection = sqlite3.connect(path)
    connection.executescript(CLINIC)
    connection.close()
    with open_database(str(path)) as database:
        yield database


@pytest.fixture(scope="module")
def index(clinic: Database) -> ValueIndex:
    return value_index(clinic, clinic.schema())


@pytest.fixture
def ask(clinic: Database, index: ValueIndex) -> Callable[[str], Reading]:
    return lambda question: read(question, clinic.schema(), index, today=TODAY, threshold=0.0)


@pytest.fixture
def rows(clinic: Database, ask: Callable[[str], Reading]) -> Callable[[str], Rows]:
    def _rows(question: str) -> Rows:
        statement = check(parse(ask(question).sql, "sqlite")).statement
        assert statement is not None
        result = clinic.execute(statement)
        assert result.ok, result.error
        return [tuple(round(x, 2) if isinstance(x, float) else x for x in row) for row in result.rows]

    return _rows


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("what percentage of visits in 2023 were done", [(50.0,)]),
        ("percentage of cancelled visits", [(25.0,)]),
        ("patients older than 60", [("Dan Fox",)]),
        ("how many patients are under 18", [(1,)]),
        ("patients between 20 and 30 years old", [("Fay Cox",)]),
        ("doctors who earn more than their supervisor", [("Bob Hill",)]),
        ("doctors who earn more than their boss", [("Bob Hill",)]),
        ("highest paid doctor", [("Bob Hill",)]),
        ("doctors hired before their supervisor", [("Bob Hill",)]),
        ("doctors with a higher salary than their supervisor", [("Bob Hill",)]),
        ("doctors whose supervisor is Ann Moss", [("Bob Hill",), ("Cat Reed",)]),
        ("certified doctors", [("Ann Moss",), ("Cat Reed",)]),
        ("doctors who are not certified", [("Bob Hill",)]),
        ("longest visit", [(3, 60)]),
        ("oldest ward", [("South",)]),
        ("average duration per visit", [(38.75,)]),
    ],
)
def test_everyday_forms(question: str, expected: Rows, rows: Callable[[str], Rows]) -> None:
    assert rows(question) == expected


@pytest.mark.parametrize(
    "question",
    [
        "average days to pay",  # no such dates: not the average of another date
        "profit per doctor",  # each doctor once is no profit
        "which doctor has the best rating",  # the best single one, or the best on average?
        "percentage of done visits by doctor",  # of all done visits, or of each doctor's?
    ],
)
def test_what_may_mean_something_else_is_not_told_with_confidence(question: str, ask: Callable[[str], Reading]) -> None:
    assert ask(question).confidence < STATED_DOUBT


@pytest.mark.parametrize(
    "question", ["existing wards", "patients with the same city", "new patients", "members of Leeds"]
)
def test_a_word_that_mostly_means_nothing_is_named_where_it_does(question: str, ask: Callable[[str], Reading]) -> None:
    reading = ask(question)
    assert reading.confidence < STATED_DOUBT
    assert {"existing", "same", "new", "members"} & set(reading.not_understood)


def test_months_of_one_year_are_a_range(rows: Callable[[str], Rows]) -> None:
    assert rows("how many visits between february and march 2024") == [(2,)]


def test_adjectives_of_periods_group(rows: Callable[[str], Rows]) -> None:
    assert rows("yearly visits") == [("2023", 2), ("2024", 2)]

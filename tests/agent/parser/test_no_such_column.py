"""What a database does not store is not answered by a column that it does: ages, other tables' dates, likenesses."""

from __future__ import annotations

import datetime as dt
import sqlite3
from collections.abc import Callable, Iterator

import pytest

from agent.knowledge.values import value_index
from agent.parser import Reading, read
from agent.parser.doubt_registry import NEVER_SURE
from agent.runtime.probability import STATED_DOUBT
from eval.databases import Database, open_database

OFFICE = """
CREATE TABLE branches (branch_id INTEGER PRIMARY KEY, town TEXT, closed_on DATE);
CREATE TABLE employees (employee_id INTEGER PRIMARY KEY, first_name TEXT, last_name TEXT, hire_date DATE NOT NULL,
    annual_salary REAL, branch_id INTEGER REFERENCES branches(branch_id));
CREATE TABLE tickets (ticket_id INTEGER PRIMARY KEY, subject TEXT, opened_at DATE NOT NULL, resolved_at DATE,
    cost REAL, plan TEXT, branch_id INTEGER REFERENCES branches(branch_id));
INSERT INTO branches VALUES (1, 'Leeds', NULL), (2, 'York', '2024-02-01');
INSERT INTO employees VALUES (1, 'Ada', 'Lind', '2019-03-01', 52000, 1), (2, 'Bo', 'Haas', '2021-07-01', 48000, 2);
INSERT INTO tickets VALUES (1, 'Lamp', '2024-01-05', '2024-02-02', 12.5, 'basic', 1),
    (2, 'Door', '2024-02-07', NULL, 80, 'gold', 2), (3, 'Heat', '2024-01-09', '2024-01-10', 300, 'gold', 2);
"""


@pytest.fixture(scope="module")
def office(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Database]:
    path = tmp_path_factory.mktemp("office") / "office.sqlite"
    connection = sqlite3.connect(path)
    connection.executescript(OFFICE)
    connection.close()
    with open_database(str(path)) as database:
        yield database


@pytest.fixture
def reading(office: Database) -> Callable[[str], Reading]:
    schema = office.schema()
    index = value_index(office, schema)
    return lambda question: read(question, schema, index, today=dt.date(2024, 3, 15), threshold=0.0)


@pytest.mark.parametrize("question", ["employees older than 60", "employees over 60", "employees under 30"])
def test_an_age_that_is_not_stored_is_neither_a_date_nor_a_salary(
    reading: Callable[[str], Reading], question: str
) -> None:
    answer = reading(question)
    assert answer.confidence <= NEVER_SURE
    assert "WHERE" not in answer.sql
    assert answer.not_understood


def test_an_amount_may_be_left_out_for_things(reading: Callable[[str], Reading]) -> None:
    answer = reading("tickets over 50")
    assert "cost > 50" in answer.sql
    assert answer.confidence >= STATED_DOUBT


def test_a_date_still_compares_with_a_year(reading: Callable[[str], Reading]) -> None:
    assert "hire_date >= '2021-01-01'" in reading("employees hired after 2020").sql


def test_an_event_is_dated_by_its_own_table(reading: Callable[[str], Reading]) -> None:
    """Branches have a date that is called like the verb, but tickets were closed."""
    answer = reading("how many tickets were closed last month")
    assert "resolved_at >= '2024-02-01'" in answer.sql
    assert "closed_on" not in answer.sql
    assert "closed_on >= '2024-02-01'" in reading("which branches were closed last month").sql


def test_a_thing_that_only_a_column_is_called_like_is_told_in_doubt(reading: Callable[[str], Reading]) -> None:
    assert reading("most expensive projects").confidence < STATED_DOUBT

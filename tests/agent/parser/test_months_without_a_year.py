"""Months and quarters without a year: the last one that has begun, or the last one that has data."""

from __future__ import annotations

import datetime as dt
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from agent.knowledge.values import value_index
from agent.parser import Reading, read
from agent.parser.execution_probe import looker
from eval.databases import Database, open_database

TODAY = dt.date(2025, 2, 10)


@pytest.fixture(scope="module")
def yard(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Database]:
    path = tmp_path_factory.mktemp("yard") / "yard.sqlite"
    connection = sqlite3.connect(path)
    connection.executescript(
        """
        CREATE TABLE drivers (driver_id INTEGER PRIMARY KEY, first_name TEXT);
        CREATE TABLE loads (
            load_id INTEGER PRIMARY KEY, driver_id INTEGER REFERENCES drivers, weighed_on DATE, tons REAL);
        INSERT INTO drivers VALUES (1, 'Marco'), (2, 'May'), (3, 'Ina');
        INSERT INTO loads VALUES (1, 1, '2023-03-05', 2.5), (2, 2, '2024-03-09', 4.0), (3, 3, '2024-05-02', 1.0),
            (4, 3, '2024-11-02', 1.0);
        """
    )
    connection.close()
    with open_database(str(path)) as database:
        yield database


@pytest.fixture
def ask(yard: Database) -> Callable[..., Reading]:
    schema, values = yard.schema(), value_index(yard, yard.schema())

    def asked(question: str, today: dt.date = TODAY) -> Reading:
        return read(question, schema, values, today=today, threshold=0.0, look=looker(yard))

    return asked


@pytest.mark.parametrize(
    ("question", "start", "end"),
    [
        ("how many loads in march", "2024-03-01", "2024-04-01"),
        ("how many loads in March", "2024-03-01", "2024-04-01"),
        ("loads in may", "2024-05-01", "2024-06-01"),
        ("november loads", "2024-11-01", "2024-12-01"),
        ("total tons in q1", "2024-01-01", "2024-04-01"),
        ("loads between march and may", "2024-03-01", "2024-06-01"),
        ("how many loads in january", "2024-01-01", "2024-02-01"),
    ],
)
def test_a_month_is_the_last_one_with_data(ask: Callable[..., Reading], question: str, start: str, end: str) -> None:
    reading = ask(question)
    assert f"weighed_on >= '{start}'" in " ".join(reading.sql.split())
    assert f"weighed_on < '{end}'" in " ".join(reading.sql.split())
    assert "no year is named" in reading.interpretation
    assert reading.not_understood == ()


def test_data_that_ended_long_ago_is_found(ask: Callable[..., Reading]) -> None:
    assert "'2024-03-01'" in ask("how many loads in march", dt.date(2029, 6, 1)).sql


def test_data_that_ended_too_long_ago_is_said_to_end(ask: Callable[..., Reading]) -> None:
    reading = ask("how many loads in march", dt.date(2060, 6, 1))
    assert "'2050-03-01'" in reading.sql
    assert "the data ends before that" in reading.interpretation


def test_a_month_of_a_named_year_stays(ask: Callable[..., Reading]) -> None:
    assert "'2023-03-01'" in ask("how many loads in march 2023").sql
    assert "'2024-03-01'" in ask("how many loads last march", dt.date(2024, 6, 1)).sql


@pytest.mark.parametrize("question", ["May I see all drivers?", "which drivers may drive"])
def test_may_is_also_a_verb(ask: Callable[..., Reading], question: str) -> None:
    assert "weighed_on" not in ask(question).sql


def test_a_stored_name_stays_a_name(ask: Callable[..., Reading]) -> None:
    assert "first_name = 'May'" in ask("loads of driver May").sql


def test_a_column_of_years_is_compared_with_years(tmp_path: Path) -> None:
    path = tmp_path / "mill.sqlite"
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(
            "CREATE TABLE harvests (id INTEGER PRIMARY KEY, year INTEGER, tons REAL);"
            "INSERT INTO harvests VALUES (1, 2023, 5.0), (2, 2024, 7.0);"
        )
    with open_database(str(path)) as mill:
        schema = mill.schema()
        values = value_index(mill, schema)
        within, after = (
            read("total tons last year", schema, values, today=today, threshold=0.0, look=looker(mill))
            for today in (TODAY, dt.date(2027, 2, 1))
        )
    assert "the data ends before that" not in within.interpretation
    assert "no row of harvests has year on or after 2026" in after.interpretation

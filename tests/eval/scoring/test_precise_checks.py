"""Bounds, periods, windows, absences and columns: each mistake is named, and its repair is not blamed."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from eval.databases import open_database
from eval.databases.base import Database
from eval.examination import Query, examine
from eval.scoring.evidence.features import observations
from eval.scoring.evidence.periods import Day, days_in
from eval.scoring.evidence.question_reading import Reading


@pytest.fixture
def yard(tmp_path: Path) -> Iterator[Database]:
    with sqlite3.connect(tmp_path / "yard.sqlite") as connection:
        connection.executescript(
            """
            CREATE TABLE boats (id INTEGER PRIMARY KEY, name TEXT, kind TEXT, length REAL, is_retired BOOLEAN,
                                built DATE, valid_from DATE, valid_to DATE, fiscal_year INTEGER, year INTEGER);
            CREATE TABLE trips (id INTEGER PRIMARY KEY, boat_id INTEGER REFERENCES boats (id), day DATE,
                                passengers INTEGER, price REAL, parent_id INTEGER);
            CREATE TABLE repairs (id INTEGER PRIMARY KEY, boat_id INTEGER REFERENCES boats (id), cost REAL);
            INSERT INTO boats VALUES (1, 'Ada', 'ferry', 12, 0, '2001-05-01', '2020-01-01', NULL, 2024, 2024),
                (2, 'Bea', 'ferry', 14, 1, '2003-05-01', '2020-01-01', '2022-01-01', 2024, 2024);
            INSERT INTO trips VALUES (1, 1, '2024-04-02', 14, 20.0, NULL), (2, 1, '2024-06-30', 9, 25.0, 1),
                (3, 2, '2023-12-01', 20, 30.0, 1);
            INSERT INTO repairs VALUES (1, 1, 100), (2, 1, 50);
            """
        )
    connection.close()
    with open_database(tmp_path / "yard.sqlite") as database:
        yield database


def _seen(database: Database, question: str, sql: str) -> set[str]:
    return {o.name for o in observations(Reading(examine(Query(question, sql), database)))}


_RANKED = "SELECT name FROM (SELECT name, ROW_NUMBER() OVER ({}) AS place FROM boats) WHERE place = 1"
_MONTHLY = (
    "WITH m AS (SELECT SUBSTR(day, 1, 7) AS month, SUM(price) AS sales FROM trips GROUP BY 1) SELECT month, {} FROM m"
)


@pytest.mark.parametrize(
    ("name", "question", "wrong", "right"),
    [
        ("bound_strictness", "Which trips had at least 14 passengers?",
         "SELECT id FROM trips WHERE passengers > 14", "SELECT id FROM trips WHERE passengers >= 14"),
        ("bound_strictness", "Which boats have made more than two trips?",
         "SELECT boat_id FROM trips GROUP BY boat_id HAVING COUNT(*) >= 2",
         "SELECT boat_id FROM trips GROUP BY boat_id HAVING 2 < COUNT(*)"),
        ("bound_strictness", "How many trips were there before 30 June 2024?",
         "SELECT COUNT(*) FROM trips WHERE day <= '2024-06-30'", "SELECT COUNT(*) FROM trips WHERE day < '2024-06-30'"),
        ("bound_direction", "Which trips had no more than 14 passengers?",
         "SELECT id FROM trips WHERE passengers > 14", "SELECT id FROM trips WHERE passengers <= 14"),
        ("bound_direction", "Which trips had exactly 14 passengers?",
         "SELECT id FROM trips WHERE passengers > 14", "SELECT id FROM trips WHERE passengers = 14"),
        ("count_missing", "How many passengers did each trip carry per dollar of its price?",
         "SELECT id, name FROM boats", "SELECT id, 1.0 * passengers / price FROM trips"),
        ("rank_direction_wrong", "Which boat has been in use the longest?",
         "SELECT name FROM boats ORDER BY valid_from DESC LIMIT 1",
         "SELECT name FROM boats ORDER BY valid_from LIMIT 1"),
        ("rank_direction_wrong", "Which boat is the longest?",
         "SELECT name FROM boats ORDER BY length LIMIT 1", "SELECT name FROM boats ORDER BY length DESC LIMIT 1"),
        ("other_table_named", "What did the repairs of boats cost?",
         "SELECT day FROM trips", "SELECT cost FROM repairs"),
        ("date_missing", "How many trips were there from 1 April to 30 June 2024?",
         "SELECT COUNT(*) FROM trips WHERE day BETWEEN '2024-01-01' AND '2024-12-31'",
         "SELECT COUNT(*) FROM trips WHERE day >= '2024-04-01' AND day < '2024-07-01'"),
        ("date_missing", "How many trips were there in December 2023?",
         "SELECT COUNT(*) FROM trips WHERE day LIKE '2023-11%'",
         "SELECT COUNT(*) FROM trips WHERE STRFTIME('%Y', day) = '2023' AND STRFTIME('%m', day) = '12'"),
        ("last_day_left_out", "How many trips were there from 1 April to 30 June 2024?",
         "SELECT COUNT(*) FROM trips WHERE day >= '2024-04-01' AND day < '2024-06-30'",
         "SELECT COUNT(*) FROM trips WHERE day >= '2024-04-01' AND day <= '2024-06-30'"),
        ("rank_direction_wrong", "What is the longest boat of each kind?",
         _RANKED.format("PARTITION BY kind ORDER BY length"), _RANKED.format("PARTITION BY kind ORDER BY length DESC")),
        ("flag_unused", "How many boats are not retired?",
         "SELECT COUNT(*) FROM boats", "SELECT COUNT(*) FROM boats WHERE NOT is_retired"),
        ("other_column_named", "Which boats are of the year 2024?",
         "SELECT name FROM boats WHERE fiscal_year = 2024", "SELECT name FROM boats WHERE year = 2024"),
    ],
)  # fmt: skip
def test_a_mistake_is_named_and_its_repair_is_not(
    yard: Database, name: str, question: str, wrong: str, right: str
) -> None:
    assert name in _seen(yard, question, wrong)
    assert name not in _seen(yard, question, right)


@pytest.mark.parametrize(
    ("name", "question", "sql"),
    [
        ("bound_strictness", "Which trips had 14 or more passengers?", "SELECT id FROM trips WHERE passengers > 13"),
        ("bound_direction", "Which boats never had more than 14 passengers?",
         "SELECT id FROM boats WHERE id NOT IN (SELECT boat_id FROM trips WHERE passengers > 14)"),
        ("bound_direction", "Which trips are not known to have more than 14 passengers?",
         "SELECT id FROM trips WHERE passengers <= 14 OR passengers IS NULL"),
        ("date_missing", "How many trips were there by month, as text like 2024-05?",
         "SELECT SUBSTR(day, 1, 7), COUNT(*) FROM trips WHERE day >= '2023-01-01' GROUP BY 1"),
        ("flag_unused", "How many boats are there? Retired boats count too.", "SELECT COUNT(*) FROM boats"),
        ("join_off_keys", "How many trips were made by boats with repairs?",
         "SELECT COUNT(DISTINCT t.id) FROM trips t JOIN repairs r ON r.boat_id = t.boat_id"),
    ],
)  # fmt: skip
def test_what_only_looks_like_a_mistake_is_none(yard: Database, name: str, question: str, sql: str) -> None:
    assert name not in _seen(yard, question, sql)


@pytest.mark.parametrize(
    ("question", "days"),
    [
        ("from 1 april to 30 june 2024", [Day(2024, 4, 1), Day(2024, 6, 30)]),
        ("on december 24, 2023 or 2024-01-06", [Day(2023, 12, 24), Day(2024, 1, 6)]),
        ("the day as text like 2024-05-01", []),
        ("in may 2024", []),
    ],
)
def test_the_days_of_a_question(question: str, days: list[Day]) -> None:
    assert sorted(days_in(question)) == sorted(days)

"""The line "how this was read" says all that its query does: read back from the words alone, it gives the same rows."""

from __future__ import annotations

from pathlib import Path

import pytest

from eval.databases import open_database
from eval.databases.base import Database
from eval.metrics.comparison import same_result
from eval.metrics.items import executed
from eval.sql import orders_rows, parse
from eval.tasks.demos import demo_path
from eval.tasks.library import tasks
from experiments.read_back import read_back
from tests.writing import sqlite_file

TABLES = """
CREATE TABLE people (id INTEGER PRIMARY KEY, name TEXT, boss INTEGER REFERENCES people(id), pay REAL);
CREATE TABLE trips (id INTEGER PRIMARY KEY, who INTEGER REFERENCES people(id), paid_by INTEGER REFERENCES people(id),
    town TEXT, day TEXT, cost REAL);
INSERT INTO people VALUES (1, 'Ada', NULL, 90), (2, 'Bo', 1, 70), (3, 'Cy', 1, 75.5), (4, 'O''Hara', 2, 95);
INSERT INTO trips VALUES (1, 2, 1, 'Rome', '2024-01-05', 100), (2, 3, 1, 'Oslo', '2024-02-01', NULL),
    (3, 3, 3, 'Rome', NULL, 50), (4, 4, 2, 'Bern', '2023-05-06', 20), (5, NULL, 2, NULL, '2024-05-08', 10);
"""
QUERIES = (
    "SELECT p.name FROM people p JOIN people b ON b.id = p.boss WHERE p.pay > b.pay",
    "SELECT t.id, p.name FROM trips t JOIN people p ON p.id = t.paid_by",
    "SELECT name FROM people p WHERE pay = (SELECT MAX(pay) FROM people WHERE boss = p.boss)",
    "SELECT SUM(cost) / COUNT(*), SUM(cost / 2), 100.0 * COUNT(day) / COUNT(*), AVG(cost * 2 - 1) FROM trips",
    "SELECT name FROM people WHERE name NOT LIKE '%a%' AND boss IS NOT NULL OR name LIKE 'O''%'",
    "SELECT STRFTIME('%Y-%m', day) AS m, COUNT(*) FROM trips WHERE day >= '2024-01-01' AND day < '2025' GROUP BY 1",
    "SELECT p.name, COUNT(t.id) FROM people p LEFT JOIN trips t ON t.who = p.id GROUP BY p.id ORDER BY 2 DESC, 1",
    "SELECT name FROM people WHERE id IN (SELECT who FROM trips) EXCEPT SELECT name FROM people WHERE pay < 72",
    "SELECT town, SUM(cost), 100.0 * SUM(cost) / SUM(SUM(cost)) OVER () FROM trips GROUP BY town",
    'SELECT COUNT(*) FILTER (WHERE town = "Rome" AND cost > 60), COALESCE(MAX(cost), 0) FROM trips',
    "WITH t AS (SELECT day, cost, LAG(cost) OVER (ORDER BY day) AS before FROM trips) SELECT day, cost - before FROM t",
    "SELECT name FROM people p WHERE NOT EXISTS (SELECT 1 FROM trips t WHERE t.who = p.id)",
)


@pytest.fixture(scope="module")
def firm(tmp_path_factory: pytest.TempPathFactory) -> Database:
    return open_database(sqlite_file(Path(tmp_path_factory.mktemp("firm")) / "firm.sqlite", TABLES))


def same(sql: str, database: Database) -> bool:
    words, again = read_back(sql, database.schema())
    parsed = parse(sql, "sqlite")
    rows, found = executed(parsed, database), executed(parse(again, "sqlite"), database)
    assert rows.ok, rows.error
    assert found.ok, (words, again, found.error)
    return same_result(rows, found, ordered=orders_rows(parsed))


@pytest.mark.parametrize("sql", QUERIES)
def test_what_is_said_gives_the_same_rows(firm: Database, sql: str) -> None:
    assert same(sql, firm)


@pytest.mark.parametrize("name", ["shop", "enterprise"])
def test_what_is_said_of_the_library_gives_the_same_rows(name: str) -> None:
    with open_database(demo_path(name)) as database:
        wrong = [task.id for task in tasks() if task.database == name and not same(task.gold.sql, database)]
    assert wrong == []

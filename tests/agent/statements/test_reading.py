"""How an answer was read and what it leaves out, from queries alone."""

from __future__ import annotations

import asyncio
import random
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from agent.knowledge.vocabulary import vocabulary
from agent.state import LeftOut, ReadingPart
from agent.statements.left_out import counting, left_out
from agent.statements.reading import reading
from eval.databases import open_database
from eval.databases.base import Database
from eval.schema import Column, ForeignKey, Schema, Table
from eval.sql import parse
from tests.writing import sqlite_file

TABLES = """
CREATE TABLE buyers (id INTEGER PRIMARY KEY, name TEXT NOT NULL, country TEXT, is_deleted INTEGER);
CREATE TABLE lots (id INTEGER PRIMARY KEY, buyer_id INTEGER REFERENCES buyers(id), grade TEXT, weight REAL, price REAL,
    landed_on DATE, sold_on DATE, deleted_at TEXT);
CREATE TABLE bills (id INTEGER PRIMARY KEY, buyer_id INTEGER, amount REAL, currency TEXT, paid_on DATE);
INSERT INTO bills VALUES (1, 1, 10, 'EUR', '2024-01-02'), (2, 1, 20, 'USD', NULL),
    (3, 2, 30, 'EUR', NULL), (4, 2, 5, NULL, NULL);
INSERT INTO buyers VALUES (1, 'Ada', 'NO', 0), (2, 'Bo', NULL, 1), (3, 'Cy', 'SE', 0);
INSERT INTO lots VALUES
    (1, 1, 'A', 10, 5, '2024-01-02', '2024-01-03', NULL), (2, 1, 'B', NULL, 7, '2024-01-05', NULL, NULL),
    (3, 2, NULL, 30, NULL, '2024-02-01', '2024-02-02', '2024-02-09'), (4, NULL, 'A', 40, 9, '2024-02-03', NULL, NULL),
    (5, 9, 'A', 50, 2, NULL, '2024-03-01', NULL);
"""


@pytest.fixture(scope="module")
def market(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Database]:
    path = sqlite_file(tmp_path_factory.mktemp("reading") / "market.sqlite", TABLES)
    database = open_database(f"sqlite:///{path}")
    yield database
    database.close()


def told(database: Database, sql: str) -> list[LeftOut]:
    schema = database.schema()
    asked = counting(parse(sql, database.dialect), schema, vocabulary(schema))
    return asyncio.run(left_out(asked, "", vocabulary(schema), database)) if asked else []


def read(database: Database, sql: str) -> list[ReadingPart]:
    schema = database.schema()
    return reading(parse(sql, database.dialect), schema, vocabulary(schema))


LEFT_OUT = {
    "SELECT COUNT(*) FROM lots WHERE deleted_at IS NULL AND sold_on >= '2024-01-01' AND sold_on < '2025-01-01'": [
        "2 rows without sold_on are not included"
    ],
    "SELECT COUNT(*) FROM lots WHERE grade = 'A' AND weight > 5 AND deleted_at IS NULL": [],
    "SELECT COUNT(*) FROM lots WHERE weight > 5 AND deleted_at IS NULL": ["1 row without weight is not included"],
    "SELECT AVG(weight), SUM(price) FROM lots": [
        "1 row without weight does not enter the average",
        "1 row without price does not enter the sum",
        "1 row marked as deleted (deleted_at) is included",
    ],
    "SELECT grade, COUNT(*) FROM lots WHERE deleted_at IS NULL OR 1 GROUP BY 1": ["1 row without grade makes a group"],
    "SELECT COUNT(*) FROM buyers": ["1 row marked as deleted (is_deleted) is included"],
    "SELECT b.name, COUNT(*) FROM lots l JOIN buyers b ON b.id = l.buyer_id WHERE l.deleted_at IS NULL "
    "AND b.is_deleted = 0 GROUP BY b.name": [],
    "SELECT SUM(l.price) FROM lots l JOIN buyers b ON b.id = l.buyer_id WHERE l.deleted_at IS NULL": [
        "2 rows of lots without a buyer are not included",
    ],
    "SELECT b.name, COUNT(l.id) FROM buyers b LEFT JOIN lots l ON l.buyer_id = b.id WHERE b.is_deleted = 0 "
    "GROUP BY b.name": [],
    "SELECT name FROM buyers WHERE id NOT IN (SELECT buyer_id FROM lots) AND is_deleted = 0": [],
    "SELECT SUM(amount) FROM bills": ["amounts in several currencies (currency) are added up"],
    "SELECT SUM(amount) FROM bills WHERE buyer_id = 2": [],
    "SELECT currency, SUM(amount) FROM bills WHERE currency <> '' GROUP BY currency": [
        "1 row without currency is not included"
    ],
    "SELECT COUNT(*) FROM bills": [],
    "WITH lots AS (SELECT 1 AS weight) SELECT AVG(weight) FROM lots": [],
    "SELECT weight FROM lots UNION SELECT price FROM lots": [],
}


@pytest.mark.parametrize("sql", LEFT_OUT)
def test_what_is_left_out_is_counted(market: Database, sql: str) -> None:
    assert [one.text for one in told(market, sql)] == LEFT_OUT[sql]


def test_rows_left_out_can_be_taken_in(market: Database) -> None:
    (unknown,) = told(market, "SELECT COUNT(*) FROM lots WHERE deleted_at IS NULL AND sold_on < '2024-02-01'")
    assert (unknown.kind, unknown.count) == ("unknown", 2)
    assert count(market, unknown.others[0].sql) == 3
    (deleted,) = told(market, "SELECT COUNT(*) FROM lots")
    assert count(market, deleted.others[0].sql) == 4
    (mixed,) = told(market, "SELECT SUM(amount) FROM bills")
    assert mixed.open
    assert "GROUP BY" in mixed.others[0].sql
    assert count(market, f"SELECT COUNT(*) FROM ({mixed.others[0].sql}) AS apart") == 3


def test_a_date_and_a_figure_can_be_changed(market: Database) -> None:
    parts = read(market, "SELECT SUM(price) FROM lots WHERE sold_on < '2024-02-01'")
    shown, rows = (part.others for part in parts)
    assert [one.label for one in shown] == ["weight"]
    assert count(market, shown[0].sql) == 10
    assert [one.label for one in rows] == ["landed_on"]
    assert count(market, rows[0].sql) == 12


def test_a_date_of_the_row_that_is_referred_to_can_be_taken(tmp_path: Path) -> None:
    path = tmp_path / "shop.sqlite"
    with sqlite3.connect(path) as connection:
        connection.executescript("""
            CREATE TABLE trips (id INTEGER PRIMARY KEY, "order" TEXT, ended_on DATE);
            CREATE TABLE bags (id INTEGER PRIMARY KEY, trip_id INTEGER REFERENCES trips(id), sold_on DATE, kilos REAL);
            INSERT INTO trips VALUES (1, 'a', '2024-01-01'), (2, 'b', '2025-01-01');
            INSERT INTO bags VALUES (1, 1, NULL, 5), (2, 1, NULL, 6), (3, 2, '2024-06-01', 7);
        """)
    database = open_database(f"sqlite:///{path}")
    try:
        sql = "SELECT SUM(kilos) FROM bags WHERE sold_on BETWEEN '2024-01-01' AND '2024-12-31'"
        _, rows = read(database, sql)
        assert [one.label for one in rows.others] == ["trips.ended_on"]
        assert count(database, rows.others[0].sql) == 11
        schema = database.schema()
        asked = counting(parse(sql, database.dialect), schema, vocabulary(schema))
        assert asked is not None
        for question, is_open in (("kilos in 2024", True), ("kilos sold in 2024", False)):
            (one,) = asyncio.run(left_out(asked, question, vocabulary(schema), database))
            assert (one.count, one.open) == (2, is_open)
    finally:
        database.close()


def test_a_table_of_another_namespace_is_joined_there() -> None:
    day = Column("Ended", "DATE")
    trips = Table("Trips", (Column("id", "INTEGER", primary_key=True), day), namespace="ops")
    key = ForeignKey(("trip_id",), "Trips", ("id",))
    bags = Table("Bags", (Column("trip_id", "INTEGER"), Column("Sold", "DATE")), foreign_keys=(key,))
    schema = Schema("postgres", (trips, bags))
    parsed = parse('SELECT COUNT(*) FROM "Bags" WHERE "Sold" > \'2024-01-01\'', "postgres")
    (other,) = reading(parsed, schema, vocabulary(schema))[1].others
    assert 'JOIN "ops"."Trips" ON "Bags"."trip_id" = "Trips"."id"' in other.sql
    assert '"Trips"."Ended" > ' in other.sql


def count(database: Database, sql: str) -> object:
    with sqlite3.connect(database.url.removeprefix("sqlite:///")) as connection:
        return connection.execute(sql).fetchone()[0]


def test_counts_of_random_rows_and_conditions_are_right(tmp_path: Path) -> None:
    """Two hundred queries, each with rows left out: the counts are those of the rows themselves."""
    rng = random.Random(5)
    path = tmp_path / "random.sqlite"
    rows = [tuple(None if rng.random() < 0.2 else rng.randrange(10) for _ in range(4)) for _ in range(300)]
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE things (id INTEGER PRIMARY KEY, a INTEGER, b INTEGER, c INTEGER, d INTEGER)")
        connection.executemany("INSERT INTO things (a, b, c, d) VALUES (?, ?, ?, ?)", rows)
    tests = {"<": lambda x, y: x < y, ">=": lambda x, y: x >= y, "<>": lambda x, y: x != y}
    database = open_database(f"sqlite:///{path}")
    try:
        checked = 0
        while checked < 200:
            asked = [(rng.randrange(4), rng.choice(list(tests)), rng.randrange(10)) for _ in range(rng.randint(1, 2))]
            if len({column for column, *_ in asked}) < len(asked):
                continue
            where = " AND ".join(f"{'abcd'[column]} {sign} {value}" for column, sign, value in asked)
            found = {one.text.split()[-4]: one.count for one in told(database, f"SELECT * FROM things WHERE {where}")}
            for i, (column, _, _) in enumerate(asked):
                others = [one for j, one in enumerate(asked) if j != i]
                wanted = sum(
                    row[column] is None
                    and all(row[c] is not None and tests[sign](row[c], value) for c, sign, value in others)
                    for row in rows
                )
                assert found.get("abcd"[column], 0) == wanted
                checked += wanted > 0
    finally:
        database.close()

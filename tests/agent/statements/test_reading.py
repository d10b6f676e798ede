"""How an answer was read and what it leaves out, from queries alone."""

from __future__ import annotations

import asyncio
import random
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from agent.knowledge.vocabulary import vocabulary
from agent.state import LeftOut, ReadingPart
from agent.statements.left_out import counting, left_out
from agent.statements.reading import reading
from eval.databases import open_database
from eval.databases.base import Database
from eval.schema import Column, ForeignKey, Schema, Table
from eval.sql import parse
from tests.pairs import FIXTURES, rows
from tests.writing import sqlite_file

TABLES = (FIXTURES / "statements/market.sql").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def market(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Database]:
    path = sqlite_file(tmp_path_factory.mktemp("reading") / "market.sqlite", TABLES)
    with open_database(path) as database:
        yield database


def told(database: Database, sql: str) -> list[LeftOut]:
    schema = database.schema()
    asked = counting(parse(sql, database.dialect), schema, vocabulary(schema))
    return asyncio.run(left_out(asked, "", vocabulary(schema), database)) if asked else []


def read(database: Database, sql: str) -> list[ReadingPart]:
    schema = database.schema()
    return reading(parse(sql, database.dialect), schema, vocabulary(schema))


@pytest.mark.parametrize(("sql", "said"), rows("statements/left_out.jsonl"))
def test_what_is_left_out_is_counted(market: Database, sql: str, said: list[str]) -> None:
    assert [one.text for one in told(market, sql)] == said


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
    shown, period = (part.others for part in parts)
    assert [one.label for one in shown] == ["weight"]
    assert count(market, shown[0].sql) == 10
    assert [one.label for one in period] == ["landed_on"]
    assert count(market, period[0].sql) == 12


def test_a_date_of_the_row_that_is_referred_to_can_be_taken(tmp_path: Path) -> None:
    script = (FIXTURES / "statements/trips.sql").read_text(encoding="utf-8")
    with open_database(sqlite_file(tmp_path / "shop.sqlite", script)) as database:
        sql = "SELECT SUM(kilos) FROM bags WHERE sold_on BETWEEN '2024-01-01' AND '2024-12-31'"
        _, period = read(database, sql)
        assert [one.label for one in period.others] == ["trips.ended_on"]
        assert count(database, period.others[0].sql) == 11
        schema = database.schema()
        asked = counting(parse(sql, database.dialect), schema, vocabulary(schema))
        assert asked is not None
        for question, is_open in (("kilos in 2024", True), ("kilos sold in 2024", False)):
            (one,) = asyncio.run(left_out(asked, question, vocabulary(schema), database))
            assert (one.count, one.open) == (2, is_open)


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
    rng = random.Random(5)
    path = tmp_path / "random.sqlite"
    cells: list[tuple[Any, ...]] = [
        tuple(None if rng.random() < 0.2 else rng.randrange(10) for _ in range(3)) for _ in range(200)
    ]
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE things (id INTEGER PRIMARY KEY, a INTEGER, b INTEGER, c INTEGER)")
        connection.executemany("INSERT INTO things (a, b, c) VALUES (?, ?, ?)", cells)
    tests = {"<": lambda x, y: x < y, ">=": lambda x, y: x >= y, "<>": lambda x, y: x != y}
    with open_database(path) as database:
        for _ in range(30):
            first, second = rng.sample(range(3), 2)
            sign, value = rng.choice(list(tests)), rng.randrange(10)
            sql = f"SELECT * FROM things WHERE {'abc'[first]} {sign} {value} AND {'abc'[second]} >= 2"
            found = {one.text.split()[-4]: one.count for one in told(database, sql)}
            kept = [row for row in cells if row[second] is not None and row[second] >= 2]
            assert found.get("abc"[first], 0) == sum(row[first] is None for row in kept)
            kept = [row for row in cells if row[first] is not None and tests[sign](row[first], value)]
            assert found.get("abc"[second], 0) == sum(row[second] is None for row in kept)

"""One table with things that are only columns, as in a CSV file: the things can be asked about like tables."""

from __future__ import annotations

import datetime as dt
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlglot import exp

from agent.knowledge.values import EMPTY, value_index
from agent.parser import Reading, read
from agent.parser.entities import with_entities
from agent.parser.execution_probe import looker
from agent.runtime.probability import STATED_DOUBT
from eval.databases import Database, open_database
from eval.schema import Column, Schema, Table
from eval.sql import check, parse

ROWS: list[tuple[object, ...]] = [
    (1, "2024-01-05", "Ada Moss", "Kiln", "North", 12.0, "paid", "Yes"),
    (2, "2024-01-09", "Ben Roe", "Kiln", "South", 12.0, "paid", "No"),
    (3, "2024-02-02", "Ada Moss", "Glaze", "North", 8.0, "open", "No"),
    (4, "2024-02-20", "Cleo Fay", "Wheel", "South", 30.0, "paid", "No"),
    (5, "2024-03-01", "Ben Roe", "Wheel", "South", 30.0, "paid", "Yes"),
    (6, "2024-03-09", "Ada Moss", "Kiln", "North", 12.0, "paid", "No"),
    (7, "2024-03-10", None, "Kiln", "North", 12.0, "cancelled", "No"),
    (8, "2024-04-01", "Cleo Fay", "Wheel", "North", 30.0, "paid", "No"),
]


@pytest.fixture(scope="module", params=["sqlite", "duckdb"])
def visits(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Database]:
    path = tmp_path_factory.mktemp("visits") / f"visits.{request.param}"
    _write(path)
    with open_database(str(path)) as database:
        yield database


def _write(path: Path) -> None:
    create = (
        "CREATE TABLE visits (id INTEGER PRIMARY KEY, visit_date DATE, potter VARCHAR, course VARCHAR, "
        "site_name VARCHAR, price DOUBLE PRECISION, status VARCHAR, refunded VARCHAR)"
    )
    if path.suffix == ".duckdb":
        duckdb = pytest.importorskip("duckdb")
        with duckdb.connect(str(path)) as connection:
            connection.execute(create)
            connection.executemany("INSERT INTO visits VALUES (?, ?, ?, ?, ?, ?, ?, ?)", ROWS)
        return
    connection = sqlite3.connect(path)
    connection.execute(create)
    connection.executemany("INSERT INTO visits VALUES (?, ?, ?, ?, ?, ?, ?, ?)", ROWS)
    connection.commit()
    connection.close()


def ask(database: Database, question: str) -> tuple[Reading, list[tuple[object, ...]]]:
    """The reading of a question, whatever its confidence, and its rows."""
    schema = database.schema()
    values = value_index(database, schema)
    today = dt.date(2024, 6, 15)
    reading = read(question, schema, values, today=today, threshold=0.0, look=looker(database))
    statement = check(parse(reading.sql, schema.dialect)).statement
    assert statement is not None, reading.sql
    result = database.execute(statement)
    assert result.ok, (reading.sql, result.error)
    return reading, list(result.rows)


@pytest.mark.parametrize(
    ("question", "rows"),
    [
        ("how many potters are there", [(3,)]),
        ("list all courses", [("Glaze",), ("Kiln",), ("Wheel",)]),
        ("how many visits does each potter have", [("Ada Moss", 3), ("Ben Roe", 2), ("Cleo Fay", 2)]),
        ("potters who never booked the wheel", [("Ada Moss",)]),
        ("potters in south", [("Ben Roe",), ("Cleo Fay",)]),
        ("how many potters are there per site", [("North", 2), ("South", 2)]),
        ("2 potters with the highest revenue", [("Ben Roe",), ("Cleo Fay",)]),
        ("which site has the most visits", [("North",)]),
        ("how many visits were refunded", [(2,)]),
        ("how many visits are cancelled", [(1,)]),
        ("total revenue", [(146.0,)]),
        ("how many visits", [(8,)]),
    ],
)
def test_things_in_columns_are_read_like_tables(
    visits: Database, question: str, rows: list[tuple[object, ...]]
) -> None:
    reading, answer = ask(visits, question)
    shown = [row[: len(rows[0])] for row in answer]  # a ranking shows its figure, too
    assert sorted(shown) == rows, reading.sql


def test_nothing_but_the_one_table_is_named(visits: Database) -> None:
    for question in ("how many potters are there", "potters who never booked the wheel", "revenue by potter"):
        reading, _ = ask(visits, question)
        assert reading.tree is not None
        tables = {table.name for table in reading.tree.find_all(exp.Table)}
        assert tables == {"visits"}, reading.sql


@pytest.mark.parametrize(
    "question",
    ["potters who only ever came to the north site", "potters with paid visits only", "our 3 dearest revenue"],
)
def test_a_word_that_the_reading_ignores_leaves_a_doubt(visits: Database, question: str) -> None:
    """`only` excludes all others, and a total has no first three rows."""
    assert ask(visits, question)[0].confidence < STATED_DOUBT


def test_a_percent_sign_may_start_the_question(visits: Database) -> None:
    assert ask(visits, "% of visits that are paid")[1] == [(75.0,)]


def test_the_list_of_tables_is_that_of_the_database(visits: Database) -> None:
    reading = read("what tables are there", visits.schema(), value_index(visits, visits.schema()))
    assert reading.interpretation == "The database has the tables visits."


def test_what_tables_have_in_common_is_counted_once() -> None:
    """Each of 2,000 tables was once compared with all others."""

    class Counted(str):
        looked_at = 0

        def casefold(self) -> str:
            Counted.looked_at += 1
            return super().casefold()

    def table(n: int) -> Table:
        return Table(f"t{n}", (Column(Counted("id")), Column(Counted("city"))), row_count=9)

    with_entities(Schema("sqlite", tuple(table(n) for n in range(200))), EMPTY)

    assert Counted.looked_at < 200 * 2 * 20

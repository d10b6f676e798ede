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
    _write(path, ROWS)
    with open_database(str(path)) as database:
        yield database


def _write(path: Path, rows: list[tuple[object, ...]], more: str = "") -> None:
    create = (
        "CREATE TABLE visits (id INTEGER PRIMARY KEY, visit_date DATE, potter VARCHAR, course VARCHAR, "
        "site_name VARCHAR, price DOUBLE PRECISION, status VARCHAR, refunded VARCHAR)"
    )
    if path.suffix == ".duckdb":
        duckdb = pytest.importorskip("duckdb")
        with duckdb.connect(str(path)) as connection:
            connection.execute(create)
            connection.executemany("INSERT INTO visits VALUES (?, ?, ?, ?, ?, ?, ?, ?)", rows)
        return
    connection = sqlite3.connect(path)
    connection.executescript(f"{create}; {more}")
    connection.executemany("INSERT INTO visits VALUES (?, ?, ?, ?, ?, ?, ?, ?)", rows)
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


def test_rows_are_named_after_their_number(tmp_path: Path) -> None:
    """The file may be called anything: the rows of `ticket_id` are tickets."""
    path = tmp_path / "helpdesk_export_2024.sqlite"
    connection = sqlite3.connect(path)
    connection.executescript(
        'CREATE TABLE "Helpdesk Export 2024" (ticket_id INTEGER PRIMARY KEY, channel TEXT, opened_on DATE);'
        "INSERT INTO \"Helpdesk Export 2024\" VALUES (1, 'Mail', '2024-01-01'), (2, 'Mail', '2024-01-02'),"
        "(3, 'Phone', '2024-02-01'), (4, 'Phone', '2024-02-02'), (5, 'Mail', '2024-03-01');"
    )
    connection.close()
    with open_database(str(path)) as database:
        reading, rows = ask(database, "tickets by channel")
        assert sorted(rows) == [("Mail", 3), ("Phone", 2)], reading.sql
        assert ask(database, "what share of tickets does each channel have")[1] == [("Mail", 60.0), ("Phone", 40.0)]


def test_tables_that_refer_to_each_other_stay_as_they_are(tmp_path: Path) -> None:
    """Where the people have a table, their number is that of its rows, also of those without a visit."""
    path = tmp_path / "linked.sqlite"
    _write(
        path,
        ROWS,
        "CREATE TABLE potters (potter VARCHAR PRIMARY KEY, town VARCHAR);"
        "INSERT INTO potters VALUES ('Ada Moss', 'York'), ('Ben Roe', 'Hull'), ('Cleo Fay', 'Hull'), ('Di', 'Bath');",
    )
    with open_database(str(path)) as database:
        assert ask(database, "how many potters are there")[1] == [(4,)]


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


@pytest.fixture(scope="module")
def stays(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Database]:
    """Rows that are called as their number is (`Booking`), kinds of guests, and columns with gaps."""
    path = tmp_path_factory.mktemp("stays") / "kennel_bookings.sqlite"
    connection = sqlite3.connect(path)
    connection.execute(
        'CREATE TABLE kennel_bookings ("Booking" TEXT, "Animal" TEXT, "Site" TEXT, "Fee" REAL, "Outcome" TEXT, '
        '"Booked_Year" INTEGER, "Owner" TEXT, "Club" TEXT)'
    )
    kinds = ["Dog", "Dog", "Dog", "Cat", "Cat", "Rabbit", "Dog", "Cat"]
    ends = ["Adoption", None, "Adoption", "Return", "Adoption", "Return", None, "Return"]
    fees = [30.0, None, 25.0, 20.0, 40.0, 12.5, 35.0, 22.0]
    owners, clubs = ["Ida", "Ole", "Ida", "Kai", "Ole", "Kai", "Ida", "Ole"], ["Red", None, "Red", "Blue"] * 2
    connection.executemany(
        "INSERT INTO kennel_bookings VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        [
            (f"B{100 + i}", kinds[i], ("North", "South")[i % 2], fees[i], ends[i], 2008 + i, owners[i], clubs[i])
            for i in range(8)
        ],
    )
    connection.commit()
    connection.close()
    with open_database(str(path)) as database:
        yield database


@pytest.mark.parametrize(
    ("question", "rows"),
    [
        ("bookings per site", [("North", 4), ("South", 4)]),
        ("which animal has the most bookings", [("Dog",)]),
        ("how many dogs", [(4,)]),
        ("how many bookings were adopted", [(3,)]),
        ("what share of bookings were adopted", [(37.5,)]),
        ("how many bookings since 2013", [(3,)]),
        ("which animal shows up the most", [("Dog",)]),
    ],
)
def test_rows_that_are_called_as_their_number_are_counted(
    stays: Database, question: str, rows: list[tuple[object, ...]]
) -> None:
    reading, answer = ask(stays, question)
    assert sorted(row[: len(rows[0])] for row in answer) == rows, reading.sql


def test_what_has_no_price_is_not_the_cheapest(stays: Database) -> None:
    assert ask(stays, "cheapest booking")[1][0][0] == "B105"
    assert ask(stays, "booking B103")[1][0][0] == "B103"


def test_a_thing_without_another_has_no_row_with_it(stays: Database) -> None:
    assert ask(stays, "owners without a club")[1] == []
    reading, _ = ask(stays, "how many owners are still going")
    assert "going" in reading.not_understood


def test_people_of_a_file_are_told_by_their_name(tmp_path: Path) -> None:
    """A number and a name of each person stand in every row; what a kilogram costs is not added up."""
    path = tmp_path / "kitchen_shifts.sqlite"
    connection = sqlite3.connect(path)
    connection.execute('CREATE TABLE kitchen_shifts ("Cook_ID" TEXT, "Name" TEXT, "Hours" REAL, "Price_kg" REAL)')
    cooks = [("007", "Ida Moss"), ("011", "Ole Roe"), ("019", "Kai Fay")]
    connection.executemany(
        "INSERT INTO kitchen_shifts VALUES (?, ?, ?, ?)", [(*cooks[i % 3], 4.0 + i, 2.5) for i in range(9)]
    )
    connection.commit()
    connection.close()
    with open_database(str(path)) as database:
        assert ask(database, "which cook worked the most hours")[1][0][0] == "Kai Fay"
        assert ask(database, "how many cooks")[1] == [(3,)]
        assert ask(database, "total kg")[0].confidence < STATED_DOUBT

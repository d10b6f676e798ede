"""Questions as office people write them: courtesy, a second sentence, rows by their number, values against each other;
and columns that only say yes or no."""

from __future__ import annotations

import datetime as dt
import sqlite3
from collections.abc import Callable, Iterator

import pytest

from agent.knowledge.values import value_index
from agent.parser import Reading, read
from agent.parser.execution_probe import looker
from agent.runtime.probability import STATED_DOUBT
from eval.databases import Database, open_database
from eval.sql import check, parse

AGENCY = """
CREATE TABLE Agent (AgentID INTEGER PRIMARY KEY, FullName TEXT NOT NULL, Salary REAL);
CREATE TABLE House (
    HouseID INTEGER PRIMARY KEY, HouseName TEXT NOT NULL, YearBuilt INTEGER, HasGarage INTEGER, Phone TEXT);
CREATE TABLE Unit (
    UnitID INTEGER PRIMARY KEY, HouseID INTEGER NOT NULL REFERENCES House(HouseID), UnitNo TEXT NOT NULL,
    Bedrooms INTEGER, balcony INTEGER DEFAULT 0, UnitStatus TEXT, listed_on DATE, children INTEGER);
CREATE TABLE Tenant (TenantID INTEGER PRIMARY KEY, FullName TEXT NOT NULL, TenantType TEXT, PhoneNo TEXT);
CREATE TABLE Lease (
    LeaseID INTEGER PRIMARY KEY, UnitID INTEGER NOT NULL REFERENCES Unit(UnitID),
    TenantID INTEGER NOT NULL REFERENCES Tenant(TenantID), AgentID INTEGER REFERENCES Agent(AgentID),
    StartDate DATE, EndDate DATE, labour_amt REAL, vat_amt REAL, total_amt REAL);
CREATE TABLE Feedback (
    FeedbackID INTEGER PRIMARY KEY, LeaseID INTEGER NOT NULL REFERENCES Lease(LeaseID), rating INTEGER);
INSERT INTO Agent VALUES (1, 'Ann Lee', 10), (2, 'Bo Haas', 20);
INSERT INTO House VALUES (1, 'Mill', 1910, 1, '111'), (2, 'Forge', 1990, 0, '222'), (3, 'Barn', 1920, 0, '333');
INSERT INTO Unit VALUES
    (1, 1, '1A', 2, 1, 'let', '2024-01-01', 0), (2, 1, '1B', 3, 0, 'vacant', '2024-02-01', 1),
    (3, 2, '2A', 2, 0, 'let', '2024-03-01', 0), (4, 3, '3A', 1, 1, 'vacant', '2024-03-01', 1);
INSERT INTO Tenant VALUES (1, 'Dee Fox', 'private', '900'), (2, 'Eli Ray', 'company', '901');
INSERT INTO Lease VALUES
    (1, 1, 1, 1, '2023-01-01', '2025-02-01', 10, 2, 12), (2, 3, 2, 1, '2024-01-15', '2026-03-31', 20, 4, 24),
    (3, 1, 2, 2, '2024-06-30', '2026-01-10', 30, 6, 36), (4, 3, 2, 1, '2023-05-05', '2023-09-09', 40, 8, 48);
INSERT INTO Feedback VALUES (1, 1, 5), (2, 1, 2), (3, 2, 4), (4, 3, 1), (5, 4, 2);
"""
Rows = list[tuple[object, ...]]


@pytest.fixture(scope="module")
def agency(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Database]:
    path = tmp_path_factory.mktemp("agency") / "agency.sqlite"
    connection = sqlite3.connect(path)
    connection.executescript(AGENCY)
    connection.close()
    with open_database(str(path)) as database:
        yield database


@pytest.fixture
def reading(agency: Database) -> Callable[[str], Reading]:
    def _read(question: str) -> Reading:
        schema, today = agency.schema(), dt.date(2024, 6, 15)
        return read(question, schema, value_index(agency, schema), today=today, look=looker(agency), threshold=0.0)

    return _read


@pytest.fixture
def rows(agency: Database, reading: Callable[[str], Reading]) -> Callable[[str], Rows]:
    def _rows(question: str) -> Rows:
        statement = check(parse(reading(question).sql, "sqlite")).statement
        assert statement is not None
        result = agency.execute(statement)
        assert result.ok, result.error
        return [tuple(round(v, 2) if isinstance(v, float) else v for v in row) for row in result.rows]

    return _rows


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Please list all tenants.", [("Dee Fox",), ("Eli Ray",)]),
        ("Good morning! How many houses do we have?", [(3,)]),
        ("Hiya, how many houses do we have?", [(3,)]),
        ("I'm not quite sure how to ask this, but how many houses do we have?", [(3,)]),
        ("Could you tell me what the telephone number of the Forge house is, please?", [("222",)]),
        ("How many leases started in the calendar year 2024?", [(2,)]),
        ("leases with the date on which they ended", [(1, "2025-02-01"), (2, "2026-03-31"), (3, "2026-01-10"),
                                                     (4, "2023-09-09")]),
        ("best paid agent", [("Bo Haas",)]),
        ("Could you break down the units by status?", [("let", 2), ("vacant", 2)]),
        ("How many leases ended between 1 January and 31 March 2025?", [(1,)]),
        ("leases that run out between 1 january and 31 march 2026", [(2,), (3,)]),
        ("leases starting after may 2024", [(3,)]),
        ("On what date does lease 2 come to an end?", [("2026-03-31",)]),
        ("when did lease 4 start", [("2023-05-05",)]),
        ("lease 2 end date", [("2026-03-31",)]),
        ("What is the telephone number of the Forge house?", [("222",)]),
        ("How many apartments are marked as vacant in our records?", [(2,)]),
        ("two-bedroom units", [("1A",), ("2A",)]),
        ("Did we have more leases in 2023 or in 2024? Please show the number for each of the two years.",
         [("2023", 2), ("2024", 2)]),
        ("Which agent has signed the largest number of leases, and how many are there?", [("Ann Lee", 3)]),
        ("which tenant has the most leases and how many do they have", [("Eli Ray", 3)]),
        ("tenants with at least 3 ratings", [("Eli Ray",)]),
        ("tenants rated under 3", [("Eli Ray",)]),
        ("leases over 30", [(3,), (4,)]),
        ("average total amount of leases, private vs company tenants", [("company", 36.0), ("private", 12.0)]),
    ],
)  # fmt: skip
def test_full_sentences(question: str, expected: Rows, rows: Callable[[str], Rows]) -> None:
    assert sorted(rows(question)) == expected


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("houses with a garage", [("Mill",)]),
        ("houses without a garage", [("Barn",), ("Forge",)]),
        ("houses built before 1950 without a garage", [("Barn",)]),
        ("units with a balcony", [("1A",), ("3A",)]),
        ("how many units have no balcony", [(2,)]),
    ],
)
def test_columns_that_say_yes_or_no(question: str, expected: Rows, rows: Callable[[str], Rows]) -> None:
    """`HasGarage` by its name, `balcony` by the numbers that it holds."""
    assert sorted(rows(question)) == expected


def test_people_behind_a_key_are_named_and_not_numbered(rows: Callable[[str], Rows]) -> None:
    assert rows("which agent signed the most leases") == [("Ann Lee",)]


@pytest.mark.parametrize("question", ["how much revenue will we make in 2026?", "What will our sales be next year?"])
def test_a_forecast_is_declined(question: str, reading: Callable[[str], Reading]) -> None:
    assert reading(question).abstained
    assert "forecast" in reading(question).interpretation


@pytest.mark.parametrize("question", ["how many new agents in 2024", "houses we got nothing from in 2024"])
def test_what_the_query_leaves_out_is_in_doubt(question: str, reading: Callable[[str], Reading]) -> None:
    assert reading(question).confidence < STATED_DOUBT


def test_a_number_of_things_is_no_yes_or_no(rows: Callable[[str], Rows]) -> None:
    """`children` holds 0 and 1, too, so far."""
    assert rows("total children") == [(2,)]


@pytest.mark.parametrize("question", ["which leases are open", "who runs the Mill"])
def test_a_word_that_only_resembles_a_column_is_not_ignored(question: str, reading: Callable[[str], Reading]) -> None:
    """`open` resembles `StartDate`; a query of all leases would leave it out."""
    assert reading(question).confidence < STATED_DOUBT

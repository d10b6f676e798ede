"""Forms that newcomers type: times between dates, busiest periods, kinds, amounts in a state; and what doubts say."""

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

TODAY = dt.date(2024, 6, 15)
HIRE = """
CREATE TABLE branches (id INTEGER PRIMARY KEY, name TEXT NOT NULL, town TEXT NOT NULL);
CREATE TABLE kinds (kind_id INTEGER PRIMARY KEY, name TEXT NOT NULL);
CREATE TABLE machines (
    id INTEGER PRIMARY KEY, kind_id INTEGER NOT NULL REFERENCES kinds(kind_id), maker TEXT NOT NULL,
    hazardous INTEGER NOT NULL, bought_on DATE NOT NULL, scrapped_on DATE);
CREATE TABLE clients (id INTEGER PRIMARY KEY, company TEXT NOT NULL, balance REAL NOT NULL);
CREATE TABLE hires (
    id INTEGER PRIMARY KEY, machine_id INTEGER NOT NULL REFERENCES machines(id),
    client_id INTEGER NOT NULL REFERENCES clients(id), branch_id INTEGER NOT NULL REFERENCES branches(id),
    started_at TIMESTAMP NOT NULL, ended_at TIMESTAMP);
CREATE TABLE invoices (
    id INTEGER PRIMARY KEY, hire_id INTEGER NOT NULL REFERENCES hires(id), issued_on DATE NOT NULL,
    amount REAL NOT NULL, paid_on DATE);
INSERT INTO branches VALUES (1, 'North', 'York'), (2, 'South', 'Hull');
INSERT INTO kinds VALUES (1, 'Crane'), (2, 'Digger');
INSERT INTO machines VALUES
    (1, 1, 'Acme', 1, '2015-01-01', NULL), (2, 1, 'Bolt', 0, '2021-05-01', '2024-01-01'),
    (3, 2, 'Acme', 0, '2023-05-01', NULL);
INSERT INTO clients VALUES (1, 'Alder Ltd', -5.0), (2, 'Birch Inc', 10.0), (3, 'Cedar Co', 0.0);
INSERT INTO hires VALUES
    (1, 1, 1, 1, '2024-01-03 08:00:00', '2024-01-03 10:00:00'),
    (2, 3, 1, 2, '2024-01-05 08:00:00', '2024-01-05 14:00:00'),
    (3, 3, 2, 2, '2024-03-05 09:00:00', '2024-03-05 10:00:00'), (4, 1, 2, 1, '2024-03-06 09:00:00', NULL);
INSERT INTO invoices VALUES
    (1, 1, '2024-01-04', 100.0, '2024-01-14'), (2, 2, '2024-01-06', 50.0, '2024-01-10'),
    (3, 3, '2024-03-06', 30.0, NULL);
"""


@pytest.fixture(scope="module")
def hire(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Database]:
    path = tmp_path_factory.mktemp("hire") / "hire.sqlite"
    connection = sqlite3.connect(path)
    connection.executescript(HIRE)
    connection.close()
    with open_database(str(path)) as database:
        yield database


@pytest.fixture
def reading(hire: Database) -> Callable[[str], Reading]:
    def _read(question: str) -> Reading:
        schema = hire.schema()
        return read(question, schema, value_index(hire, schema), today=TODAY, look=looker(hire), threshold=0.0)

    return _read


@pytest.fixture
def rows(hire: Database, reading: Callable[[str], Reading]) -> Callable[[str], list[tuple[object, ...]]]:
    def _rows(question: str) -> list[tuple[object, ...]]:
        statement = check(parse(reading(question).sql, "sqlite")).statement
        assert statement is not None
        result = hire.execute(statement)
        assert result.ok, result.error
        return [tuple(round(v, 4) if isinstance(v, float) else v for v in row) for row in result.rows]

    return _rows


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("average hire duration", [(3.0,)]),
        ("average hire time in minutes", [(180.0,)]),
        ("longest hire time by branch", [("South", 6.0), ("North", 2.0)]),
        ("how many hires lasted more than 90 minutes", [(2,)]),
        ("average days to pay", [(7.0,)]),
        ("average time between issued and paid by town", [("York", 10.0), ("Hull", 4.0)]),
        ("how long do people take to pay", [(7.0,)]),
        ("which month had the most invoices in 2024", [("2024-01", 2)]),
        ("quietest month for invoices", [("2024-03", 1)]),
        ("best month for revenue", [("2024-01", 150.0)]),
        ("busiest weekday", [("3", 2)]),
        ("average invoice by town", [("York", 100.0), ("Hull", 40.0)]),
        ("invoices from 2024 by month", [("2024-01", 2), ("2024-03", 1)]),
        ("how many hazardous machines vs not hazardous", [(0, 2), (1, 1)]),
        ("hires today", []),
        ("compare 2023 and 2024 revenue", [("2024", 180.0)]),
        ("how many cranes", [(2,)]),
        ("cranes by Acme", [(1,)]),
        ("hazardous machines", [(1,)]),
        ("how much is unpaid", [(30.0,)]),
        ("who owes us money", [("Birch Inc",)]),
        ("clients with a negative balance", [("Alder Ltd",)]),
        ("machines older than 5 years", [(1,)]),
        ("average hires per client", [(2.0,)]),
    ],
)
def test_newcomers_get_what_they_mean(
    question: str, expected: list[tuple[object, ...]], rows: Callable[[str], list[tuple[object, ...]]]
) -> None:
    assert rows(question) == expected


def test_a_result_that_only_repeats_the_question_is_no_answer(reading: Callable[[str], Reading]) -> None:
    assert reading("what did Birch Inc do").confidence < STATED_DOUBT


def test_a_similar_word_is_named_in_the_doubt(reading: Callable[[str], Reading]) -> None:
    doubted = reading("hires that were completed")
    assert "“completed” is assumed to mean ended_at is filled in" in doubted.interpretation


@pytest.mark.parametrize("question", ["average vorpling time by branch", "which month had the most vorplings"])
def test_a_word_that_a_rewording_would_lose_is_not_understood(question: str, reading: Callable[[str], Reading]) -> None:
    assert reading(question).confidence < STATED_DOUBT


@pytest.mark.parametrize(
    "question",
    ["top 2 clients by revenue in 2023", "client with the highest revenue in 2023", "revenue by client in 2023"],
)
def test_a_period_restricts_the_table_of_the_figure(question: str, reading: Callable[[str], Reading]) -> None:
    assert "issued_on >= '2023-01-01'" in " ".join(reading(question).sql.split())


def test_who_spends_most_is_the_client_with_the_highest_revenue(reading: Callable[[str], Reading]) -> None:
    assert reading("who spent the most").sql == reading("which client has the highest revenue").sql


def test_two_rows_with_one_name_are_not_the_same_row(
    rows: Callable[[str], list[tuple[object, ...]]], reading: Callable[[str], Reading]
) -> None:
    question = "clients who hired both a crane and a digger"
    sql = reading(question).sql
    assert "INTERSECT" not in sql
    assert "id IN (" in sql
    assert sorted(rows(question)) == [("Alder Ltd",), ("Birch Inc",)]

"""A database of one file: its rows may be called rows, entries or records, and a yes-or-no column selects of them."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest

from agent.knowledge.values import value_index
from agent.parser import read
from agent.parser.execution_probe import looker
from agent.runtime.probability import STATED_DOUBT
from eval.databases import open_database
from eval.sql import check, parse

_ROWS = """
CREATE TABLE {table} (member VARCHAR, plan VARCHAR, active BOOLEAN, fee DOUBLE, newsletter VARCHAR, is_paid BOOLEAN);
INSERT INTO {table} VALUES ('Ann', 'Gold', true, 30, 'Y', true), ('Bob', 'Silver', false, 20, 'N', true),
    ('Cy', 'Gold', true, 30, 'N', false), ('Di', 'Gold', true, 30, 'Y', true), ('Ed', 'Silver', NULL, 20, 'N', true)
"""


def _answer(path: Path, question: str) -> tuple[list[tuple[object, ...]], float, str]:
    with open_database(str(path)) as database:
        schema = database.schema()
        reading = read(question, schema, value_index(database, schema), look=looker(database), threshold=0.0)
        statement = check(parse(reading.sql, schema.dialect)).statement
        assert statement is not None, reading
        return list(database.execute(statement).rows), reading.confidence, reading.sql


@pytest.mark.parametrize("table", ["members", "t", "data", "members_export_2024"])
@pytest.mark.parametrize(
    ("question", "wanted"),
    [
        ("how many rows are active?", 3),
        ("how many entries are active", 3),
        ("how many records are not active", 1),
        ("how many active rows are there", 3),
        ("how many rows are unpaid", 1),
        ("how many records have newsletter", 2),
        ("total fee of active rows", 90.0),
        ("how many are active", 3),
        ("how many rows are there", 5),
        ("count of rows", 5),
        ("how many rows have the Gold plan", 3),
        ("how many different active values are there", 2),
    ],
)
def test_rows_of_a_file_are_counted_by_what_they_say(tmp_path: Path, table: str, question: str, wanted: float) -> None:
    path = tmp_path / "file.duckdb"
    with duckdb.connect(str(path)) as engine:
        engine.execute(_ROWS.format(table=table))
    rows, confidence, sql = _answer(path, question)
    assert rows == [(wanted,)], sql
    assert confidence >= STATED_DOUBT


_STAYS = """
CREATE TABLE hotel_stays (booking VARCHAR, guest VARCHAR, nights BIGINT);
INSERT INTO hotel_stays VALUES ('B1', 'Jones', 8), ('B2', 'Brown', 5), ('B3', 'Brown', 6), ('B4', 'Jones', 1),
    ('B5', 'Brown', 2)
"""
_CLAIMS = """
CREATE TABLE expense_claims_Q1 (claimed_by VARCHAR, amount DOUBLE, approved VARCHAR);
INSERT INTO expense_claims_Q1 VALUES ('Ann', 3, 'pending'), ('Ann', 4, 'pending'), ('Bob', 5, 'done')
"""


@pytest.mark.parametrize(
    ("made", "question", "wanted"),
    [
        (_STAYS, "which guest stayed the most nights?", "Brown"),
        (_CLAIMS, "how many claims are pending", 2),
    ],
)
def test_things_of_several_rows_are_ranked_by_all_of_them(
    tmp_path: Path, made: str, question: str, wanted: object
) -> None:
    path = tmp_path / "file.duckdb"
    with duckdb.connect(str(path)) as engine:
        engine.execute(made)
    rows, _, sql = _answer(path, question)
    assert rows[0][0] == wanted, sql

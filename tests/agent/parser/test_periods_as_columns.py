"""A file that has a column for each period: a column is named with its number, and the file's name is of the figure."""

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

_FILE = """
CREATE TABLE weekly_visitors (Store VARCHAR, Wk_1 BIGINT, Wk_2 BIGINT, Wk_3 BIGINT, Q1_Plan BIGINT, Q2_Plan BIGINT);
INSERT INTO weekly_visitors VALUES ('North', 10, 20, 30, 7, 1), ('South', 5, 50, 15, 2, 9), ('East', 1, 2, 3, 4, 5)
"""
_MATRIX = """
CREATE TABLE weekly_visitors (Store VARCHAR, Wk_1 BIGINT, Wk_2 BIGINT, Wk_3 BIGINT, Total BIGINT);
INSERT INTO weekly_visitors VALUES ('North', 10, 20, 30, 60), ('South', 5, 50, 15, 70)
"""


def _answer(path: Path, made: str, question: str) -> tuple[list[tuple[object, ...]], float]:
    with duckdb.connect(str(path)) as engine:
        engine.execute(made)
    with open_database(str(path)) as database:
        schema = database.schema()
        reading = read(question, schema, value_index(database, schema), look=looker(database), threshold=0.0)
        statement = check(parse(reading.sql, schema.dialect)).statement
        return list(database.execute(statement).rows) if statement else [], reading.confidence


@pytest.mark.parametrize(
    ("question", "wanted"),
    [
        ("total wk 3", [(48,)]),
        ("average of wk 1", [(16 / 3,)]),
        ("which store had the highest week 2?", [("South",)]),
        ("total Q2 plan", [(15,)]),
        ("wk 2 of North", [(20,)]),
    ],
)
def test_a_column_is_named_with_its_number(tmp_path: Path, question: str, wanted: list[tuple[object, ...]]) -> None:
    rows, confidence = _answer(tmp_path / "file.duckdb", _FILE, question)
    assert rows == wanted
    assert confidence >= STATED_DOUBT


def test_a_number_that_no_column_has_is_no_other_column(tmp_path: Path) -> None:
    _, confidence = _answer(tmp_path / "file.duckdb", _FILE, "total wk 9")
    assert confidence < STATED_DOUBT


def test_rows_of_a_matrix_are_no_units_of_its_figure(tmp_path: Path) -> None:
    _, confidence = _answer(tmp_path / "a.duckdb", _MATRIX, "how many visitors are there")
    assert confidence < STATED_DOUBT
    rows, confidence = _answer(tmp_path / "b.duckdb", _MATRIX, "how many stores are there")
    assert rows == [(2,)]
    assert confidence >= STATED_DOUBT

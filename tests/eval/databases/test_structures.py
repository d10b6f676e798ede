"""What each engine's catalogue reads as, and that every value survives and becomes strict JSON."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator
from dataclasses import asdict
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eval.databases import Database, open_database
from eval.databases.values import json_rows, json_value
from eval.schema import Column, Table
from eval.statement import ReadStatement
from tests.jsonl import read_lines
from tests.pairs import FIXTURES, sections
from tests.writing import sqlite_file, write

FOLDER = FIXTURES / "databases"
SETUPS = {"sqlite": "structure_sqlite", "duckdb": "setup_duckdb", "postgres": "setup_postgres", "mysql": "setup_mysql"}
VALUES = {line["engine"]: (line["sql"], line["row"]) for line in read_lines(FOLDER / "values_of_engines.jsonl")}


@pytest.fixture(scope="module", params=SETUPS)
def database(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Database]:
    engine, folder = request.param, tmp_path_factory.mktemp("structures")
    script = (FOLDER / f"{SETUPS[engine]}.sql").read_text(encoding="utf-8")
    if engine == "sqlite":
        url = f"sqlite:///{sqlite_file(folder / 'made', script)}"
    elif engine == "duckdb":
        write(url := f"duckdb:///{folder / 'made'}", script)
    else:
        url = request.getfixturevalue(f"{engine}_url")
        write(url, *(script.split(";") if engine == "mysql" else [script]))
    with open_database(url, infer_keys=False) as opened:
        yield opened


def _told(part: object, plain: object) -> dict[str, Any]:
    """The fields that are not as in a plain table or column."""
    usual = asdict(plain)  # type: ignore[call-overload]
    return {name: value for name, value in asdict(part).items() if value != usual[name]}  # type: ignore[call-overload]


def test_the_structure_reads_as_it_was_made(database: Database) -> None:
    tables = [
        _told(table, Table("", ())) | {"columns": [_told(column, Column("")) for column in table.columns]}
        for table in database.schema().tables
    ]
    if database.dialect == "mysql":
        pytest.skip("MySQL and MariaDB spell some of it differently: see test_mysql")
    assert json.loads(json.dumps(tables)) == read_lines(FOLDER / f"structure_{database.dialect}.jsonl")


def test_values_survive(database: Database) -> None:
    sql, row = VALUES[database.dialect]
    result = database.execute(ReadStatement(sql, database.dialect))
    assert result.error is None
    assert json_rows(result.rows) == [row]


@pytest.mark.parametrize(("written", "form"), sections("databases/values.txt")["forms"])
def test_forms(written: str, form: str) -> None:
    """Both as Python writes them."""
    names = {"UTC": UTC, "uuid": uuid} | {kind.__name__: kind for kind in (Decimal, date, datetime, time, timedelta)}
    value, expected = (eval(text, dict(names)) for text in (written, form))
    assert json_value(value) == expected
    assert type(json_value(value)) is type(expected)


cells = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.decimals()
    | st.text(st.characters(exclude_categories=()))
    | st.binary()
    | st.dates()
    | st.datetimes()
    | st.timedeltas(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)


@given(cells)
def test_any_value_is_strict_json_in_utf_8(value: object) -> None:
    text = json.dumps(json_value(value), ensure_ascii=False, allow_nan=False)
    assert json.loads(text.encode("utf-8")) == json_value(value)

"""Date functions, written for each dialect."""

from __future__ import annotations

from pathlib import Path

import pytest
from sqlglot import exp

from agent.parser.date_functions import DateFunctions
from eval.databases import open_database
from eval.sql import check, parse


@pytest.mark.parametrize("engine", ["sqlite", "duckdb", "postgres", "mysql", "clickhouse", "sail"])
def test_weekdays_count_from_sunday_on_every_engine(
    engine: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    """PostgreSQL's `D` counts from 1, and the names of the days in an answer were those of the day after."""
    if engine == "duckdb":
        pytest.importorskip("duckdb").connect(str(tmp_path / "empty.duckdb")).close()
    files = {"sqlite": "sqlite:///:memory:", "duckdb": f"duckdb:///{tmp_path / 'empty.duckdb'}"}
    url = files.get(engine) or request.getfixturevalue(f"{engine}_url")
    with open_database(url) as database:
        dialect = database.dialect
        day = exp.cast(exp.Literal.string("2024-06-16"), exp.DataType.Type.DATE)
        column = exp.Literal.string("2024-06-16") if dialect == "sqlite" else day
        part = DateFunctions(dialect).part(column, "DATE", "weekday").sql(dialect=dialect)
        statement = check(parse(f"SELECT {part} AS weekday", dialect)).statement
        assert statement is not None
        result = database.execute(statement)
        assert result.ok, result.error
        assert result.rows[0] == ("0",)

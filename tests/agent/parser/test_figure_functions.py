"""Figures kept as text are numbers on every engine, and what is no figure is NULL."""

from __future__ import annotations

from pathlib import Path

import pytest
from sqlglot import exp

from agent.parser.figure_functions import as_number
from eval.databases import open_database
from eval.language.numbers import text_figures
from eval.schema import DIALECTS, Dialect
from eval.sql import check, parse
from tests.writing import write

TEXTS = ("8", "$1,250.50", "n/a", "60", "")


@pytest.mark.parametrize("complete", [True, False])
@pytest.mark.parametrize("dialect", DIALECTS)
def test_the_expression_may_run(dialect: Dialect, complete: bool) -> None:
    figures = text_figures(TEXTS, complete)
    assert figures is not None
    sql = exp.select(as_number(exp.column("x"), figures, dialect)).from_("t").sql(dialect)

    assert check(parse(sql, dialect)).statement is not None


@pytest.mark.parametrize("engine", ["sqlite", "duckdb", "postgres", "mysql"])
def test_the_figures_are_numbers(tmp_path: Path, request: pytest.FixtureRequest, engine: Dialect) -> None:
    files = {"sqlite": f"sqlite:///{tmp_path / 'a.sqlite'}", "duckdb": f"duckdb:///{tmp_path / 'a.duckdb'}"}
    url = files[engine] if engine in files else request.getfixturevalue(f"{engine}_url")
    values = ", ".join(f"({k}, '{text}')" for k, text in enumerate(TEXTS))
    write(url, "CREATE TABLE kept (k INTEGER, x VARCHAR(20))", f"INSERT INTO kept VALUES {values}")

    with open_database(url) as database:
        for complete in (True, False):
            figures = text_figures(TEXTS, complete)
            assert figures is not None
            query = exp.select(as_number(exp.column("x"), figures, engine)).from_("kept").order_by("k").sql(engine)
            statement = check(parse(query, engine)).statement
            assert statement is not None
            result = database.execute(statement)
            assert result.ok, result.error
            assert [None if v is None else float(str(v)) for (v,) in result.rows] == [8.0, 1250.5, None, 60.0, None]

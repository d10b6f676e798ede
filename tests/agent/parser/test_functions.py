"""Dates and figures as engines keep them, read and counted alike on each."""

from __future__ import annotations

from pathlib import Path

import pytest
from sqlglot import exp

from agent.knowledge.stored_dates import date_form
from agent.parser.date_functions import DateFunctions
from agent.parser.figure_functions import as_number
from eval.databases import open_database
from eval.language.numbers import text_figures
from eval.schema import Dialect
from eval.sql import check, parsed_from_tree
from tests.asked import rows_of
from tests.pairs import rows
from tests.writing import url_on, write

TEXTS = ("8", "$1,250.50", "n/a", "60", "")


@pytest.mark.parametrize("engine", ["sqlite", "duckdb", "postgres", "mysql", "clickhouse", "sail"])
def test_weekdays_count_from_sunday_on_each_engine(engine: str, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    """PostgreSQL's `D` counts from 1, and the names of the days in an answer were those of the day after."""
    url = url_on(engine, request, tmp_path)
    if engine in ("sqlite", "duckdb"):
        write(url, "CREATE TABLE t (a INTEGER)")
    with open_database(url) as database:
        dialect = database.dialect
        day = exp.cast(exp.Literal.string("2024-06-16"), exp.DataType.Type.DATE)
        column = exp.Literal.string("2024-06-16") if dialect == "sqlite" else day
        part = DateFunctions(dialect).part(column, "DATE", "weekday").sql(dialect=dialect)
        assert rows_of(database, f"SELECT {part} AS weekday") == [("0",)]


@pytest.mark.parametrize(("values", "form"), rows("parser/date_forms.jsonl"))
def test_stored_forms_are_told_from_the_values(values: list[str], form: str) -> None:
    assert date_form(values, dated=True) == form


def test_numbers_are_dates_only_where_the_name_says_so() -> None:
    assert date_form(["20231103"], dated=False) == ""


@pytest.mark.parametrize("dialect", ["sqlite", "duckdb", "postgres", "mysql", "spark", "clickhouse"])
def test_every_dialect_reads_every_date_form(dialect: Dialect) -> None:
    for form in ("%d.%m.%Y", "%m/%d/%Y %H:%M", "%Y%m%d", "unix", "unix_ms"):
        moment = DateFunctions(dialect).moment(exp.column("d"), form)
        assert check(parsed_from_tree(exp.select(moment).from_("t"), dialect)).statement is not None, form


@pytest.mark.parametrize("engine", ["sqlite", "duckdb", "postgres", "mysql"])
def test_figures_kept_as_text_are_numbers(tmp_path: Path, request: pytest.FixtureRequest, engine: Dialect) -> None:
    url = url_on(engine, request, tmp_path)
    values = ", ".join(f"({k}, '{text}')" for k, text in enumerate(TEXTS))
    write(url, "CREATE TABLE kept (k INTEGER, x VARCHAR(20))", f"INSERT INTO kept VALUES {values}")
    with open_database(url) as database:
        for complete in (True, False):
            figures = text_figures(TEXTS, complete)
            assert figures is not None
            query = exp.select(as_number(exp.column("x"), figures, engine)).from_("kept").order_by("k").sql(engine)
            told = [None if v is None else float(str(v)) for (v,) in rows_of(database, query)]
            assert told == [8.0, 1250.5, None, 60.0, None]

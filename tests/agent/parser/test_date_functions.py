"""Date functions, written for each dialect."""

from __future__ import annotations

import datetime as dt

import pytest
from sqlglot import exp

from agent.parser.date_functions import DateFunctions
from eval.schema import Dialect

FORMATS: dict[Dialect, str] = {
    "sqlite": "%m-%d",
    "duckdb": "%m-%d",
    "mysql": "%m-%d",
    "clickhouse": "%m-%d",
    "spark": "MM-dd",
    "postgres": "MM-DD",
}


@pytest.mark.parametrize("dialect", FORMATS)
def test_a_birthday_is_written_in_the_engine_s_own_format(dialect: Dialect) -> None:
    age = DateFunctions(dialect).years_until(exp.column("dob"), "DATE", dt.date(2024, 6, 15))
    patterns = {e.name for e in age.find_all(exp.Literal) if e.is_string}
    assert FORMATS[dialect] in patterns
    assert "06-15" in patterns

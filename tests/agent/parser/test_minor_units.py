"""Amounts stored in cents are asked for and told in whole units, whoever wrote the query."""

from __future__ import annotations

import pytest

from agent.parser.minor_units import sql_in_whole_units
from tests.pairs import sections

PAIRS = sections("parser/minor_units.txt")


@pytest.mark.parametrize(("question", "sql", "whole"), PAIRS["in whole units"])
def test_cents_are_told_in_whole_units(question: str, sql: str, whole: str) -> None:
    assert sql_in_whole_units(sql, "sqlite", question) == whole


@pytest.mark.parametrize(("question", "sql"), PAIRS["as it is"])
def test_what_needs_no_change_stays(question: str, sql: str) -> None:
    assert sql_in_whole_units(sql, "sqlite", question) is None

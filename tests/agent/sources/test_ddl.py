"""CREATE TABLE statements as the tools of vendors write them, with the names that their engines keep."""

from __future__ import annotations

import pytest

from agent.parser import read
from agent.sources.ddl import read_ddl
from agent.sources.structure import read_structure
from eval.schema import Dialect
from tests.pairs import FIXTURES, sections

ORACLE = (FIXTURES / "imports/oracle.sql").read_text(encoding="utf-8")
TSQL = (FIXTURES / "imports/tsql.sql").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("text", "dialect", "tables"),
    [
        (ORACLE, "oracle", {"CUSTOMERS": ("ID", "CITY"), "orders": ("ID", "Total")}),
        (TSQL, "tsql", {"Customers": ("Id", "City")}),
    ],
)
def test_scripts_of_vendors_are_read(text: str, dialect: Dialect, tables: dict[str, tuple[str, ...]]) -> None:
    made = read_ddl(text, dialect)
    assert {t.name: tuple(c.name for c in t.columns) for t in made} == tables
    assert made[0].primary_key == (made[0].columns[0].name,)


@pytest.mark.parametrize(("made", "dialect", "question", "sql"), sections("imports/vendors.txt")["names and formats"])
def test_names_and_formats_are_those_of_the_engine(made: str, dialect: Dialect, question: str, sql: str) -> None:
    assert sql in read(question, read_structure(made, dialect), threshold=0.0).sql

"""A model's query gets the signs and the names that the engine has, and no others."""

from __future__ import annotations

import pytest

from agent.statements.spelling import as_stored, in_any_case, without_escapes
from eval.schema import Column, Dialect, Schema, Table
from tests.pairs import rows

PEOPLE = Table("AppUser", (Column("id", "int"), Column("displayName", "text")), namespace="Shop")
ORDERS = Table(
    "orders", (Column("id", "int"), Column("userId", "int"), Column("total", "numeric"), Column("paid", "money"))
)
TWINS = (Table("Log", (Column("at", "date"),)), Table("LOG", (Column("At", "date"),)))


@pytest.mark.parametrize(("dialect", "written", "stored"), rows("statements/spelled.jsonl"))
def test_names_and_signs(dialect: Dialect, written: str, stored: str | None) -> None:
    schema = Schema(dialect, (PEOPLE, ORDERS, *(TWINS if dialect == "postgres" else ())))
    assert as_stored(written, schema, "store") == (written if stored is None else stored)


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("a\\_b = 'x\\_y'", "a_b = 'x\\_y'"),
        ("“Name” = ‘Ann’", "\"Name\" = 'Ann'"),
        ("x \\>= 3 \\*", "x >= 3 *"),
    ],
)
def test_what_is_quoted_stays(text: str, plain: str) -> None:
    assert without_escapes(text) == plain


@pytest.mark.parametrize(("dialect", "written", "compared"), rows("statements/in_any_case.jsonl"))
def test_texts_in_any_case(dialect: Dialect, written: str, compared: str | None) -> None:
    columns = (Column("id", "int"), Column("s", "varchar(9)"), Column("kind", "order_enum"), Column("day", "date"))
    assert in_any_case(written, Schema(dialect, (Table("t", columns),))) == (compared or written)

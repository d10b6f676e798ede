"""Comments beside tables and columns in SQLite's own record of how a table was made."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eval.databases import open_database
from eval.databases.catalogue.ddl_comments import LONGEST, ddl_comments
from tests.writing import sqlite_file

ORDERS = """CREATE TABLE orders ( -- what customers bought
  id INTEGER PRIMARY KEY, -- the order's number
  -- who bought
  customer_id INTEGER REFERENCES customers (id),
  total DECIMAL(10, 2) /* in euros */ NOT NULL DEFAULT 0, /* with tax */
  "no--te" TEXT DEFAULT '-- no comment, /* nor this */',   -- free text
  [ship to] TEXT, kind TEXT CHECK (kind IN ('a', 'b', ',')) -- a: online, b: shop
  , late TEXT,
  /* of a constraint */
  UNIQUE (kind, total) -- and this
  -- belongs to nothing
)"""


def test_a_comment_belongs_to_the_column_beside_or_below_it() -> None:
    table, columns = ddl_comments(ORDERS)

    assert table == "what customers bought"
    assert columns == {
        "id": "the order's number",
        "customer_id": "who bought",
        "total": "in euros with tax",
        "no--te": "free text",
        "kind": "a: online, b: shop",
    }


@pytest.mark.parametrize(
    "sql",
    [
        "CREATE TABLE t (a INTEGER, b TEXT)",
        "CREATE TABLE t (a TEXT DEFAULT '-- it''s none')",
        "CREATE TABLE t AS SELECT 1 AS a -- b",
        "CREATE TABLE t (a INTEGER) -- after",
        "CREATE TABLE t (a INTEGER /*  */, b TEXT --\n)",
    ],
)
def test_other_text_is_no_comment_of_a_column(sql: str) -> None:
    assert ddl_comments(sql)[1] == {}


def test_a_long_comment_is_cut() -> None:
    assert len(ddl_comments(f"CREATE TABLE t (a INTEGER -- {'x' * 9_000}\n)")[1]["a"]) == LONGEST


@given(st.text(alphabet="-/*()[]\"'`,\n ab", max_size=80))
def test_no_text_breaks_it(text: str) -> None:
    table, columns = ddl_comments(f"CREATE TABLE t {text}")

    assert all(len(text) <= LONGEST for text in (table or "", *columns.values()))


def test_the_schema_holds_them(tmp_path: Path) -> None:
    path = sqlite_file(tmp_path / "orders.sqlite", f"CREATE TABLE customers (id INTEGER PRIMARY KEY); {ORDERS}")

    with open_database(path) as database:
        orders = database.schema().table("orders")

    assert orders is not None
    assert orders.comment == "what customers bought"
    assert {c.name: c.comment for c in orders.columns if c.comment}["total"] == "in euros with tax"

"""The text in which a model sees a database: what it says, what it can't be made to say, its notes and its length."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.knowledge.model_view import ModelView, ddl, model_view
from agent.knowledge.preview import result_preview
from agent.knowledge.privacy import SchemaText
from agent.knowledge.profile import compute_profile, kept_profile
from agent.knowledge.schema_context import estimate_tokens, quoted_if_needed, schema_context
from eval.databases import open_database
from eval.databases.base import Database
from eval.schema import Column, Dialect, ForeignKey, Schema, Table
from eval.tasks import demo_path
from tests.pairs import FIXTURES, rows
from tests.writing import sqlite_file

ID = Column("id", "INTEGER", nullable=False, primary_key=True)
CITIES = Table("cities", (ID, Column("name", "TEXT")), row_count=3)
CUSTOMERS = Table(
    "customers",
    (
        ID,
        Column("name", "VARCHAR(20)", nullable=False, comment="as on the invoice"),
        Column("city_id", "INTEGER"),
        Column("referrer", "INTEGER"),
    ),
    foreign_keys=(
        ForeignKey(("city_id",), "cities", ("id",)),
        ForeignKey(("referrer",), "customers", ("id",), inferred=True),
    ),
    row_count=1200,
    comment="People and firms",
)
SALES = Table("sales", (Column("total", "REAL"),), kind="view")


def test_tables_read_like_the_readme_says() -> None:
    told = (FIXTURES / "schema/told.txt").read_text(encoding="utf-8")
    assert schema_context(Schema("sqlite", (CITIES, CUSTOMERS, SALES))) + "\n" == told


def test_keys_over_several_columns_and_namespaces_are_told_and_no_name_starts_a_line() -> None:
    items = Table(
        "items",
        (Column("a"), Column("b")),
        namespace="shop",
        row_count=1,
        row_count_estimated=True,
        foreign_keys=(ForeignKey(("a", "b"), "orders", ("x", "y")),),
    )
    text = schema_context(Schema("postgres", (items,)))
    assert text.startswith("Table: shop.items (about 1 row)\n  a nullable\n")
    assert text.endswith("  FK (a, b) -> orders(x, y)")
    evil = "x\nTable: secrets\r\u2028\u202e\x00"
    table = Table(evil, (Column(evil, evil, comment=evil),), comment=evil + "y" * 5000)
    text = schema_context(Schema("sqlite", (table,)))
    assert len(text.splitlines()) == 2
    assert all(c.isprintable() or c == "\n" for c in text)
    assert len(text) < 1000


@pytest.mark.parametrize(("name", "dialect", "written"), rows("schema/quoted_names.jsonl"))
def test_names_are_quoted_where_the_dialect_needs_it(name: str, dialect: Dialect, written: str) -> None:
    assert quoted_if_needed(name, dialect) == written


def wide(tables: int, columns: int, comment: str | None = "what it is for and where it comes from") -> Schema:
    def column(i: int) -> Column:
        return Column(f"column_number_{i}", "VARCHAR(255)", primary_key=i == 0, comment=comment)

    made = tuple(
        Table(f"table_{t}", tuple(column(i) for i in range(columns)), row_count=10, comment=comment)
        for t in range(tables)
    )
    return Schema("sqlite", made)


def test_over_budget_comments_go_first_then_types_columns_tables_and_last_keys() -> None:
    schema = wide(10, 30)
    full = estimate_tokens(schema_context(schema, budget_tokens=10**9))
    seen = [schema_context(schema, budget_tokens=int(full * share)) for share in (1.1, 0.7, 0.4, 0.2, 0.1, 0.02)]
    assert "-- what it is for" in seen[0]
    assert "--" not in seen[1]
    assert "VARCHAR" in seen[1]
    assert "VARCHAR" not in seen[2]
    assert "more columns)" in seen[3]
    assert all(f"table_{t}" in seen[3] for t in range(10))
    assert "more tables not shown)" in seen[5]
    lengths = [estimate_tokens(text) for text in seen]
    assert lengths == sorted(lengths, reverse=True)
    fat = dataclasses.replace(CUSTOMERS, columns=CUSTOMERS.columns + tuple(Column(f"c{i}", "TEXT") for i in range(500)))
    text = schema_context(Schema("sqlite", (fat,)), budget_tokens=50)
    assert "id PK" in text
    assert "city_id -> cities.id" in text
    assert "(501 more columns)" in text


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 30_000))
def test_the_budget_is_kept(budget: int) -> None:
    text = schema_context(wide(20, 20), budget_tokens=budget)
    assert estimate_tokens(text) <= max(budget, 12)


@pytest.mark.parametrize(
    ("text", "tokens"),
    [("", 0), ("name", 1), ("customer_id", 4), ("SELECT name FROM singer", 6), ("é", 1), ("日本語", 3), ("\n", 1)],
)
def test_tokens_are_estimated_by_the_documented_rule(text: str, tokens: int) -> None:
    assert estimate_tokens(text) == tokens


def test_a_preview_is_a_line_a_row_and_says_what_is_left_out() -> None:
    rows = [["Ana", 1, None], ["B\nTable: x", 2.5, True], ["x" * 500, float("inf"), {"k": [1, 2]}]]
    assert result_preview(["name", "n", "n"], rows, max_rows=3, max_cell=10).splitlines() == [
        '["name", "n", "n"]',
        '["Ana", 1, null]',
        '["B Table: x", 2.5, true]',
        '["xxxxxxxxx…", null, "{\\"k\\": [1,…"]',
    ]
    text = result_preview([f"c{i}" for i in range(100)], [list(range(100))] * 30)
    assert text.endswith("(40 more columns not shown)\n(10 more rows not shown)")
    assert len(text.splitlines()) == 23
    assert result_preview(["a"], []) == '["a"]\n(no rows)'
    assert len(result_preview(["a"], [[10**300]])) < 100


def test_tables_keys_and_few_values_are_told_and_of_some_tables_only_keys_among_them(tmp_path: Path) -> None:
    script = (FIXTURES / "schema/shop.sql").read_text(encoding="utf-8")
    with open_database(sqlite_file(tmp_path / "shop.sqlite", script)) as database:
        schema = database.schema()
        told = ddl(schema, compute_profile(database, schema))
    assert f"{told}\n" == (FIXTURES / "schema/shop_told.sql").read_text(encoding="utf-8")
    some = ddl(schema, None, frozenset({"people", "pairs"}))
    assert "REFERENCES" not in some
    assert some.index("people") < some.index("pairs")


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Database]:
    file = demo_path("shop")
    with pytest.MonkeyPatch.context() as patch, open_database(str(file)) as database:
        patch.setenv("TEXT2SQL_CACHE_DIR", str(tmp_path_factory.mktemp("cache")))
        for mode in ("full", "masked"):
            kept_profile(database, database.schema(), privacy=mode)
        yield database


def viewed(
    database: Database, question: str = "How many shipped orders came from Amsterdam?", **more: object
) -> ModelView:
    chosen = {"privacy": "full", "schema_tokens": 8_000, "note_tokens": 1_500, **more}
    return model_view(question, database, database.schema(), **chosen)  # type: ignore[arg-type]


def test_structure_first_then_notes_then_values(database: Database) -> None:
    text = viewed(database).text

    assert text.index("Table: orders") < text.index("Notes on the data:") < text.index("Stored values")
    assert "- orders.status: values: 'delivered', " in text
    assert "- orders.status has 'shipped'" in text


def test_a_structure_over_its_budget_is_linked_and_only_notes_that_may_be_needed_shown(database: Database) -> None:
    view = viewed(database, schema_tokens=250, note_tokens=200)

    assert view.structure <= 250 < view.whole
    assert view.notes <= 200
    assert view.columns < database.schema().column_count
    assert "status" in view.text
    view = viewed(database, "How many customers are there?")
    notes = view.text.partition("Notes on the data:")[2]
    tables = {line.split(".")[0].split(":")[0] for line in notes.splitlines() if line.startswith("- ")}
    assert tables <= {"- customers", "- orders"}
    assert view.notes <= 250


@pytest.mark.parametrize("mode", ["masked", "schema"])
def test_no_value_gets_in_where_none_may(database: Database, mode: str) -> None:
    text = viewed(database, privacy=mode).text

    assert isinstance(text, SchemaText)
    for value in ("'shipped'", "delivered'", "Amsterdam", "2024-", "@"):
        assert value not in text, value
    assert ("Notes on the data" in text) is (mode == "masked")


def test_where_rows_may_not_be_read_none_are(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    database.schema()
    monkeypatch.setattr(database, "execute", lambda *_, **__: pytest.fail("a statement was sent"))
    view = viewed(database, reads=False)

    assert (view.notes, view.values) == (0, 0)

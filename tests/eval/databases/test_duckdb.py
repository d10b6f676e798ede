"""DuckDB: structure, values, stopping, and an instance that reaches nothing but its file."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from eval.databases import DatabaseError, open_database
from eval.databases.values import json_rows
from eval.schema import ForeignKey, Index
from eval.statement import ReadStatement
from tests.pairs import sections

duckdb = pytest.importorskip("duckdb")


def read(sql: str) -> ReadStatement:
    return ReadStatement(sql, "duckdb")


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    path = tmp_path / "shop.duckdb"
    with duckdb.connect(str(path)) as made:
        made.execute(
            """
            CREATE TABLE people (id INTEGER PRIMARY KEY, "full ""name" VARCHAR UNIQUE DEFAULT 'x', g AS (id + 1));
            CREATE TABLE "Ü uses" (x INTEGER REFERENCES people (id), "select" DECIMAL(10, 2));
            CREATE INDEX by_x ON "Ü uses" (x, "select");
            CREATE VIEW v AS SELECT id FROM people;
            CREATE SCHEMA "other one"; CREATE TABLE "other one".people (a INTEGER[]);
            COMMENT ON TABLE people IS 'who works here'; COMMENT ON COLUMN people.id IS 'a number';
            INSERT INTO people (id) VALUES (1);
            """
        )
    return path


def test_structure(shop: Path) -> None:
    with open_database(shop) as database:
        schema = database.schema()
        assert database.schema() is schema
    people, uses, other, view = schema.tables
    assert [(t.name, t.namespace, t.kind) for t in schema.tables] == [
        ("people", None, "table"),
        ("Ü uses", None, "table"),
        ("people", "other one", "table"),
        ("v", None, "view"),
    ]
    assert [c.name for c in people.columns] == ["id", 'full "name', "g"]
    assert (people.comment, people.columns[0].comment, people.row_count) == ("who works here", "a number", 1)
    assert people.columns[1].default == "'x'"
    assert not people.columns[0].nullable
    assert uses.foreign_keys == (ForeignKey(("x",), "people", ("id",)),)
    assert Index("by_x", ("x", "select")) in uses.indexes
    assert other.columns[0].type == "INTEGER[]"
    assert view.row_count is None


def test_values_survive(shop: Path) -> None:
    sql = (
        "SELECT [1, NULL], {'a': 1.5}, MAP {'k': 2}, 12.50::DECIMAL(10, 2), 'nan'::DOUBLE, '-inf'::DOUBLE,"
        " 170141183460469231731687303715884105727::HUGEINT, '\\xFF'::BLOB, INTERVAL 1 DAY, 'x' AS a, 'y' AS a,"
        " TIMESTAMPTZ '2024-02-29 00:00:00+00', '99999-01-01'::DATE"
    )
    with open_database(shop) as database:
        result = database.execute(read(sql))
    assert result.error is None
    assert result.columns[9:11] == ("a", "a")
    row = json_rows(result.rows)[0]
    assert row[:11] == [
        [1, None],
        {"a": 1.5},
        {"k": 2},
        12.5,
        "NaN",
        "-Infinity",
        2**127 - 1,
        {"$blob": "/w==", "size": 1},
        "1 day 00:00:00",
        "x",
        "y",
    ]
    assert str(row[11]).startswith("2024-02-2")
    assert row[12] == "99999-01-01"


@pytest.mark.parametrize(
    ("sql", "words"),
    sections("databases/refusals.txt")["duckdb"],
)
def test_nothing_but_a_query_of_the_file(shop: Path, sql: str, words: str) -> None:
    canary = duckdb.sql("SELECT 1")  # a variable of the caller, which DuckDB would read by its name
    assert canary is not None
    with open_database(shop) as database:
        result = database.execute(read(sql))
    assert result.status == "error"
    assert words in (result.error or "")


def test_another_configuration_in_this_process_is_explained(shop: Path) -> None:
    with duckdb.connect(str(shop), read_only=True), pytest.raises(DatabaseError) as caught:
        open_database(shop)
    assert "already has the file open with another configuration" in str(caught.value)


def test_a_damaged_file_is_explained(shop: Path) -> None:
    whole = shop.read_bytes()
    shop.write_bytes(whole[:12_288] + b"\0" * 4096)
    with pytest.raises(DatabaseError) as caught, open_database(shop) as database:
        database.schema(ttl=0)
    assert str(shop) in str(caught.value)


def test_a_program_that_ends_with_a_database_open_says_nothing(shop: Path) -> None:
    """The driver complains on standard error of connections that a thread still refers to at the end."""
    program = f"""
import threading, time
from eval.databases.duckdb import DuckDBDatabase
from eval.databases.urls import parse_target
database = DuckDBDatabase(parse_target({str(shop)!r}))
database.schema()
threading.Thread(target=lambda kept=database: time.sleep(99), daemon=True).start()
"""
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert (ended.stdout, ended.stderr) == ("", "")

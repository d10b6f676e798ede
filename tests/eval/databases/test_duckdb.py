"""DuckDB: structure, values, stopping, and an instance that reaches nothing but its file."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from eval.databases import DatabaseError, open_database
from eval.statement import ReadStatement
from tests.pairs import FIXTURES, sections

duckdb = pytest.importorskip("duckdb")


def read(sql: str) -> ReadStatement:
    return ReadStatement(sql, "duckdb")


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    path = tmp_path / "shop.duckdb"
    with duckdb.connect(str(path)) as made:
        made.execute((FIXTURES / "databases/setup_duckdb.sql").read_text(encoding="utf-8"))
    return path


@pytest.mark.parametrize(("sql", "words"), sections("databases/refusals.txt")["duckdb"])
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


def test_times_with_zones_are_text_and_the_order_stays(shop: Path) -> None:
    sql = "SELECT range AS i, TIMESTAMPTZ '2024-03-01 12:00:00+00' AS i FROM range(5000) ORDER BY range DESC"
    with open_database(shop) as database:
        result = database.execute(read(sql))
    assert result.columns == ("i", "i")
    assert [row[0] for row in result.rows] == list(range(4999, -1, -1))
    assert {str(row[1])[:9] for row in result.rows} == {"2024-03-0"}

"""SQLite and DuckDB files: how statements on them run and stop, and that an instance reaches nothing but its file."""

from __future__ import annotations

import asyncio
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eval.databases import DatabaseError, Limits, open_database
from eval.databases.sqlite import LONGEST, SQLiteDatabase, ddl_comments
from eval.statement import ReadStatement
from tests.pairs import FIXTURES, rows, sections
from tests.writing import sqlite_file, write

BOMB = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT count(*) FROM c"
SLACK_MS = 200
ROOT = Path(__file__).parents[3]


def read(sql: str) -> ReadStatement:
    return ReadStatement(sql, "sqlite")


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    script = (FIXTURES / "databases/setup_sqlite.sql").read_text(encoding="utf-8")
    return sqlite_file(tmp_path / "shop.sqlite", script)


def test_an_error_is_a_result_with_the_engines_words(shop: Path) -> None:
    with open_database(shop) as database:
        for sql, words in rows("databases/errors_of_sqlite.jsonl"):
            result = database.execute(read(sql))
            assert (result.status, result.rows) == ("error", ())
            assert words in (result.error or "")
        wrong = database.execute(ReadStatement("SELECT 1", "mysql"))
        assert "given to a sqlite database" in (wrong.error or "")


def test_long_values_can_be_read_and_measured_and_a_long_definition_is_none(tmp_path: Path) -> None:
    path = sqlite_file(tmp_path / "long.sqlite", "CREATE TABLE d (x); INSERT INTO d VALUES (zeroblob(2000000))")
    with open_database(path, isolation="none") as database:
        result = database.execute(read("SELECT length(x), substr(x, 1, 2), x FROM d"))
        refused = database.execute(read("SELECT instr(x, x'00') FROM d"))
    assert result.rows[0][:2] == (2_000_000, b"\0\0")
    assert result.truncated
    assert "with values of more than 131,072 bytes a query may not call" in (refused.error or "")
    words = " || ".join(["'a word'"] * 400)
    path = sqlite_file(
        tmp_path / "v.sqlite", f"CREATE TABLE t (a); CREATE VIEW v AS SELECT {words} /* {'x' * 200_000} */ AS w FROM t"
    )
    with open_database(path) as database:
        assert database.execute(read("SELECT count(w), trim(' a ') FROM v")).rows == ((0, "a"),)


async def test_cancelling_the_task_interrupts_the_statement(shop: Path) -> None:
    with open_database(shop, isolation="none") as database:
        assert (await database.execute_async(read("SELECT 1"))).rows == ((1,),)
        task = asyncio.create_task(database.execute_async(read(BOMB)))
        await asyncio.sleep(0.1)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert isinstance(database, SQLiteDatabase)
        await asyncio.sleep(SLACK_MS / 1000)
        assert database._free  # the connection is back: nothing runs any more


def test_a_locked_database_is_told_and_a_reader_frees_a_writer(shop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("sqlite", "sqlite_connection"):
        monkeypatch.setattr(f"eval.databases.{module}.LOCK_SECONDS", 0.2)
    with open_database(shop, isolation="none") as database, closing(sqlite3.connect(shop, timeout=0)) as writer:
        assert database.execute(read("SELECT n FROM many"), limits=Limits(rows=1)).truncated
        writer.execute("BEGIN EXCLUSIVE")  # would fail at once if the reader still held its lock
        result = database.execute(read("SELECT 1 FROM t"))
        assert "a writer has held it" in (result.error or "")
        writer.execute("ROLLBACK")
        assert database.execute(read("SELECT 1 FROM t LIMIT 1")).ok


def test_a_file_put_in_its_place_is_noticed(shop: Path, tmp_path: Path) -> None:
    with open_database(shop) as database:
        assert database.execute(read("SELECT count(*) FROM t")).rows == ((3,),)
        assert database.schema().table("other") is None
        sqlite_file(tmp_path / "new.sqlite", "CREATE TABLE t (a); CREATE TABLE other (a)").replace(shop)
        assert database.execute(read("SELECT count(*) FROM t")).rows == ((0,),)
        assert database.schema().table("other") is not None


def test_wal_mode_is_read(tmp_path: Path) -> None:
    path = tmp_path / "wal.sqlite"
    with closing(sqlite3.connect(path)) as writer:
        writer.executescript("PRAGMA journal_mode=WAL; CREATE TABLE t (a); INSERT INTO t VALUES (1)")
        with open_database(path) as database:
            assert database.execute(read("SELECT a FROM t")).rows == ((1,),)
            before = database.data_version()
            writer.execute("INSERT INTO t VALUES (2)")
            writer.commit()
            assert database.data_version() != before
            assert database.execute(read("SELECT count(*) FROM t")).rows == ((2,),)


def test_a_hidden_authorizer_hole_stays_shut(shop: Path) -> None:
    """A statement let through for long values is not let through again under the other rule."""
    with open_database(shop) as database:
        sql = "SELECT replace(b, 'o', '0') FROM t WHERE a = 1"
        assert database.execute(read(sql)).rows == (("0ne",),)
        assert database.execute(read("SELECT zeroblob(1000000)"), limits=Limits(cell_bytes=1)).ok
        assert database.execute(read(sql)).rows == (("0ne",),)
        for _ in range(2):
            assert "not authorized" in (database.execute(read("SELECT * FROM pragma_table_info('t')")).error or "")


def test_virtual_tables_and_table_functions(tmp_path: Path) -> None:
    script = (FIXTURES / "databases/virtual_tables.sql").read_text(encoding="utf-8")
    path = sqlite_file(tmp_path / "virtual.sqlite", script)
    expected = {
        "SELECT a FROM f5 WHERE f5 MATCH 'wor*' ORDER BY rank": ("hello",),
        "SELECT highlight(f5, 1, '<', '>') FROM f5 WHERE f5 MATCH 'world'": ("<world>",),
        "SELECT a FROM f4 WHERE f4 MATCH 'abc'": ("abc",),
        "SELECT id FROM boxes WHERE low < 2": (1,),
        "SELECT sum(value) FROM json_each('[1, 2]')": (3,),
    }
    with open_database(path) as database:
        for sql, row in expected.items():
            result = database.execute(read(sql))
            assert (result.error, result.rows) == (None, (row,))
        for sql in (
            "UPDATE sqlite_master SET sql = 'x'",
            "INSERT INTO f5 (f5) VALUES ('optimize')",
            "DELETE FROM boxes",
            "CREATE TABLE evil (x)",
        ):
            assert database.execute(read(sql)).status == "error"
    with open_database(":memory:") as memory:
        assert "may not be modified" in (memory.execute(read("UPDATE sqlite_master SET sql = 'x'")).error or "")


@pytest.mark.skipif(os.getuid() != 0, reason="needs root, to read as a user who may not write")
def test_a_wal_database_in_a_folder_that_cannot_be_written(tmp_path: Path) -> None:
    folder = Path(tempfile.mkdtemp(prefix="text2sql-"))
    try:
        path = sqlite_file(
            folder / "wal.sqlite", "PRAGMA journal_mode=WAL; CREATE TABLE t (a); INSERT INTO t VALUES (1)"
        )
        folder.chmod(0o555)
        ask = (
            "import os, sys\n"
            "from eval.databases import DatabaseError, open_database\n"
            "import eval.databases.sqlite\n"
            "os.setuid(65534)\n"
            "try:\n"
            "    open_database(sys.argv[1])\n"
            "except DatabaseError as e:\n"
            "    print(e)\n"
        )
        done = subprocess.run(
            [sys.executable, "-c", ask, str(path)], capture_output=True, text=True, check=True, cwd=ROOT
        ).stdout
        assert "the database is in WAL mode and its folder is read-only" in done
        assert [p.name for p in folder.iterdir()] == ["wal.sqlite"]
    finally:
        folder.chmod(0o755)
        shutil.rmtree(folder)


@pytest.mark.parametrize("function", ["printf", "format", "PRINTF"])
def test_a_long_formatted_text_is_not_lost(tmp_path: Path, function: str) -> None:
    """SQLite's own function gives NULL for a text over its limit, without an error."""
    path = sqlite_file(tmp_path / "f.sqlite", "CREATE TABLE d (x); INSERT INTO d VALUES (hex(zeroblob(10000)))")
    with open_database(path) as database:
        assert database.execute(read(f"SELECT length({function}('%s%s', x, x)) FROM d")).rows == ((40_000,),)
        both = f"SELECT {function}('%d', 7), replace('aXb', 'X', '-') FROM d"
        assert database.execute(read(both)).rows == (("7", "a-b"),)


def test_a_comment_belongs_to_the_column_beside_or_below_it() -> None:
    table, columns = ddl_comments((FIXTURES / "databases/comments.sql").read_text(encoding="utf-8").rstrip())

    assert table == "what customers bought"
    assert columns == {
        "id": "the order's number",
        "customer_id": "who bought",
        "total": "in euros with tax",
        "no--te": "free text",
        "kind": "a: online, b: shop",
    }


@pytest.mark.parametrize("sql", [value for (value,) in rows("databases/no_comments.jsonl")])
def test_other_text_is_no_comment_of_a_column(sql: str) -> None:
    assert ddl_comments(sql)[1] == {}


@given(st.text(alphabet="-/*()[]\"'`,\n ab", max_size=80))
def test_no_text_breaks_it(text: str) -> None:
    table, columns = ddl_comments(f"CREATE TABLE t {text}")

    assert all(len(text) <= LONGEST for text in (table or "", *columns.values()))


@pytest.fixture
def duckdb_shop(tmp_path: Path) -> Path:
    path = tmp_path / "shop.duckdb"
    write(f"duckdb:///{path}", (FIXTURES / "databases/setup_duckdb.sql").read_text(encoding="utf-8"))
    return path


@pytest.mark.parametrize(("sql", "words"), sections("databases/refusals.txt")["duckdb"])
def test_nothing_but_a_query_of_a_duckdb_file(duckdb_shop: Path, sql: str, words: str) -> None:
    canary = pytest.importorskip("duckdb").sql(
        "SELECT 1"
    )  # a variable of the caller, which DuckDB would read by its name
    assert canary is not None
    with open_database(duckdb_shop) as database:
        result = database.execute(ReadStatement(sql, "duckdb"))
    assert result.status == "error"
    assert words in (result.error or "")


def test_another_configuration_and_a_damaged_duckdb_file_are_explained(duckdb_shop: Path) -> None:
    duckdb = pytest.importorskip("duckdb")
    with duckdb.connect(str(duckdb_shop), read_only=True), pytest.raises(DatabaseError) as caught:
        open_database(duckdb_shop)
    assert "already has the file open with another configuration" in str(caught.value)
    whole = duckdb_shop.read_bytes()
    duckdb_shop.write_bytes(whole[:12_288] + b"\0" * 4096)
    with pytest.raises(DatabaseError) as caught, open_database(duckdb_shop) as database:
        database.schema(ttl=0)
    assert str(duckdb_shop) in str(caught.value)


def test_a_program_that_ends_with_a_database_open_says_nothing(duckdb_shop: Path) -> None:
    """The driver complains on standard error of connections that a thread still refers to at the end."""
    program = f"""
import threading, time
from eval.databases.duckdb import DuckDBDatabase
from eval.databases.urls import parse_target
database = DuckDBDatabase(parse_target({str(duckdb_shop)!r}))
database.schema()
threading.Thread(target=lambda kept=database: time.sleep(99), daemon=True).start()
"""
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert (ended.stdout, ended.stderr) == ("", "")


def test_times_with_zones_are_text_and_the_order_stays(duckdb_shop: Path) -> None:
    sql = "SELECT range AS i, TIMESTAMPTZ '2024-03-01 12:00:00+00' AS i FROM range(5000) ORDER BY range DESC"
    with open_database(duckdb_shop) as database:
        result = database.execute(ReadStatement(sql, "duckdb"))
    assert result.columns == ("i", "i")
    assert [row[0] for row in result.rows] == list(range(4999, -1, -1))
    assert {str(row[1])[:9] for row in result.rows} == {"2024-03-0"}

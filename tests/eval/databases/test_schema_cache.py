"""A kept schema really saves the statements, and a changed structure is noticed at once."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from eval.databases import open_database
from eval.databases.base import Database
from eval.databases.sqlite import SQLiteDatabase
from eval.databases.urls import parse_target
from tests.pairs import sections
from tests.writing import sqlite_file, write


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    return sqlite_file(tmp_path / "shop.sqlite", "CREATE TABLE t (a INTEGER PRIMARY KEY, b TEXT); CREATE TABLE u (c)")


def traced(database: Database) -> list[str]:
    """Every statement that SQLite really runs for the catalogue, as the engine itself reports it."""
    ran: list[str] = []
    database._catalogue_connection().set_trace_callback(ran.append)
    return ran


def test_a_kept_schema_saves_the_statements_until_its_time_ends(shop: Path) -> None:
    with SQLiteDatabase(parse_target(shop)) as database:
        ran = traced(database)
        first = database.schema()
        assert len(ran) > 5
        ran.clear()
        assert database.schema() is first
        assert ran == ["PRAGMA schema_version"]
    with SQLiteDatabase(parse_target(shop)) as again:
        ran = traced(again)
        assert again.schema() is first
        assert ran == ["PRAGMA schema_version"]
        late = again.schema(ttl=0)
        assert late is not first
        assert late.fingerprint == first.fingerprint


def test_a_change_is_noticed_at_once(shop: Path) -> None:
    with open_database(shop) as database, closing(sqlite3.connect(shop)) as writer:
        before = database.schema()
        writer.execute("INSERT INTO u VALUES (1)")
        writer.commit()
        assert database.schema() is before  # rows are no structure
        writer.execute("ALTER TABLE t ADD COLUMN more TEXT")
        after = database.schema()
        assert [c.name for c in after.tables[0].columns] == ["a", "b", "more"]
        assert after.fingerprint != before.fingerprint


def test_with_and_without_inferred_keys_are_kept_apart(tmp_path: Path) -> None:
    script = "CREATE TABLE customers (id INTEGER PRIMARY KEY); CREATE TABLE orders (customer_id INTEGER)"
    path = sqlite_file(tmp_path / "k.sqlite", script)
    with open_database(path) as inferring, open_database(path, infer_keys=False) as plain:
        assert len(inferring.schema().tables[1].foreign_keys) == 1
        assert plain.schema().tables[1].foreign_keys == ()


def test_postgres_asks_one_statement(postgres_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from eval.databases.postgres import PostgresDatabase

    asked: list[str] = []
    really = PostgresDatabase._catalogue

    def counted(self: PostgresDatabase, sql: str, seconds: float = 30.0) -> list[tuple[object, ...]]:
        asked.append(sql)
        return really(self, sql, seconds)

    monkeypatch.setattr(PostgresDatabase, "_catalogue", counted)
    write(postgres_url, "DROP TABLE IF EXISTS cached", "CREATE TABLE cached (a int)")
    with open_database(postgres_url) as database, open_database(postgres_url) as second:
        first = database.schema()
        asked.clear()
        assert database.schema() is first
        assert len(asked) == 1
        assert second.schema() is first
        assert len(asked) == 2


@pytest.mark.parametrize("server", ["postgres", "mysql"])
def test_a_server_notices_ddl(server: str, request: pytest.FixtureRequest) -> None:
    url = request.getfixturevalue(f"{server}_url")
    write(url, "DROP TABLE IF EXISTS cached", "CREATE TABLE cached (a int)")
    with open_database(url) as database:
        for change in sections("databases/changes.txt")[server][0]:
            before = database.schema().fingerprint
            write(url, change)
            assert database.schema().fingerprint != before, change
        write(url, "DROP TABLE cached")
        assert database.schema().table("cached") is None

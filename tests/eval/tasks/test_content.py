"""The same content on every engine and every machine: one pinned checksum for each demo."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from pathlib import Path

import pytest
from sqlglot import exp

from eval.tasks import DEMOS, Demo, demo_named
from eval.tasks.archive import TableDef
from eval.tasks.load import LoadError, Progress, mysql_arguments
from experiments.demo_databases import generated
from experiments.demo_databases.canonical import checksum
from tests.samples import sampled
from tests.writing import sqlite_file, write

by_demo = pytest.mark.parametrize("demo", DEMOS, ids=lambda demo: demo.id)
on_servers = pytest.mark.parametrize("demo", sampled(DEMOS, 2), ids=lambda demo: demo.id)
"""Loading the large one takes a server long."""
Fetch = Callable[[str], Iterable[Sequence[object]]]


def _read(demo: Demo, fetch: Fetch, dialect: str) -> str:
    def tables() -> Iterable[tuple[TableDef, Iterable[Sequence[object]]]]:
        for table in demo.tables:
            columns = [exp.column(column.name, quoted=True) for column in table.table.columns]
            query = exp.select(*columns).from_(exp.to_table(table.table.name))
            yield table, fetch(query.sql(dialect=dialect, identify=True))

    return checksum(tables())


@by_demo
def test_the_shipped_rows_are_the_generated_ones(demo: Demo) -> None:
    assert checksum(generated(demo.id)) == demo.checksum


@by_demo
def test_sqlite_holds_them(demo: Demo, request: pytest.FixtureRequest) -> None:
    connection: sqlite3.Connection = request.getfixturevalue(demo.id)
    assert _read(demo, connection.execute, "sqlite") == demo.checksum


@by_demo
def test_duckdb_holds_them(demo: Demo, tmp_path: Path) -> None:
    duckdb = pytest.importorskip("duckdb")
    target = tmp_path / "demo.duckdb"
    demo.build(str(target))
    with duckdb.connect(str(target), read_only=True) as connection:
        assert _read(demo, lambda sql: connection.execute(sql).fetchall(), "duckdb") == demo.checksum
        commented = connection.execute("SELECT count(*) FROM duckdb_columns() WHERE comment IS NOT NULL").fetchone()
        assert commented == (sum(len(table.table.columns) for table in demo.tables),)


@on_servers
def test_postgres_holds_them(demo: Demo, postgres_url: str) -> None:
    import psycopg

    demo.build(postgres_url)
    with psycopg.connect(postgres_url) as connection:
        assert _read(demo, lambda sql: connection.execute(sql).fetchall(), "postgres") == demo.checksum
        names = [table.name for table in demo.tables]
        commented = connection.execute(
            "SELECT count(*) FROM pg_class WHERE relname = ANY(%s) AND obj_description(oid) IS NOT NULL", (names,)
        ).fetchone()
        assert commented == (len(names),)


@on_servers
def test_mysql_holds_them(demo: Demo, mysql_url: str) -> None:
    import pymysql

    demo.build(mysql_url)
    connection = pymysql.connect(**mysql_arguments(mysql_url))
    with connection, connection.cursor() as cursor:

        def fetch(sql: str) -> Iterable[Sequence[object]]:
            cursor.execute(sql)
            return cursor.fetchall()

        assert _read(demo, fetch, "mysql") == demo.checksum


def test_a_table_that_is_there_already_is_not_touched(tmp_path: Path) -> None:
    script = "CREATE TABLE customers (note TEXT); INSERT INTO customers VALUES ('keep me')"
    target = sqlite_file(tmp_path / "mine.sqlite", script)
    with pytest.raises(LoadError, match="customers exists already"):
        demo_named("shop").build(str(target))
    with closing(sqlite3.connect(target)) as mine:
        assert mine.execute("SELECT * FROM customers").fetchall() == [("keep me",)]
        assert mine.execute("SELECT COUNT(*) FROM sqlite_master").fetchone() == (1,)


def test_a_failed_mysql_load_leaves_nothing_behind(mysql_url: str) -> None:
    import pymysql

    def break_off(step: Progress) -> None:
        if step.done == 4:
            raise KeyboardInterrupt

    place, _, name = mysql_url.rpartition("/")
    write(mysql_url, f"CREATE DATABASE {name}_b CHARACTER SET utf8mb4")
    with pytest.raises(KeyboardInterrupt):
        demo_named("shop").build(f"{place}/{name}_b", break_off)
    connection = pymysql.connect(**mysql_arguments(f"{place}/{name}_b"))
    with connection, connection.cursor() as cursor:
        cursor.execute("SHOW TABLES")
        assert cursor.fetchall() == ()
        cursor.execute(f"DROP DATABASE {name}_b")


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ("ftp://somewhere/shop", "cannot load a demo into ftp://"),
        ("", "name a file"),
        ("sqlite:///:memory:", "name a file"),
        ("no/such/folder/shop.sqlite", "SQLite refused to write no/such/folder/shop.sqlite"),
        ("duckdb:///no/such/folder/shop.duckdb", "DuckDB refused to write no/such/folder/shop.duckdb"),
    ],
)
def test_a_target_that_cannot_be_is_refused(target: str, message: str) -> None:
    with pytest.raises(LoadError, match=message):
        demo_named("shop").build(target)

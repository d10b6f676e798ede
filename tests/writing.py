"""Databases for tests, written over their owner's connection."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from eval.databases import Database, Limits
from eval.sql import check, parse
from eval.tasks.load import mysql_arguments


def sqlite_file(path: Path, script: str) -> Path:
    """A file on which the script has run; an existing one is changed by it."""
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(script)
    return path


def connected(url: str) -> Any:
    """The driver's own connection to SQLite, DuckDB, PostgreSQL or MySQL; a file that is missing is made."""
    scheme, _, path = url.partition(":///")
    if scheme == "sqlite":
        return sqlite3.connect(path, isolation_level=None)
    if scheme == "duckdb":
        return pytest.importorskip("duckdb").connect(path)
    if url.startswith("postgresql:"):
        return pytest.importorskip("psycopg").connect(url, autocommit=True)
    return pytest.importorskip("pymysql").connect(**mysql_arguments(url), autocommit=True)


def url_on(engine: str, request: pytest.FixtureRequest, folder: Path) -> str:
    """A database to write: a file in the folder, or the scratch database on the engine's server."""
    return f"{engine}:///{folder}/made" if engine in ("sqlite", "duckdb") else request.getfixturevalue(f"{engine}_url")


def rows_of(database: Database, sql: str, limits: Limits | None = None) -> list[tuple[object, ...]]:
    """What a query returns that the guard lets through."""
    statement = check(parse(sql, database.dialect), database.schema()).statement
    assert statement is not None, sql
    result = database.execute(statement, limits=limits)
    assert result.ok, (sql, result.error)
    return list(result.rows)


def write(url: str, *statements: str) -> None:
    """Run statements on a database."""
    with closing(connected(url)) as connection:
        runs = connection if hasattr(connection, "execute") else connection.cursor()
        for sql in statements:
            runs.execute(sql)

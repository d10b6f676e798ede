"""Databases for tests, written over their owner's connection."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

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


def write(url: str, *statements: str) -> None:
    """Run statements on a database."""
    with closing(connected(url)) as connection:
        runs = connection if hasattr(connection, "execute") else connection.cursor()
        for sql in statements:
            runs.execute(sql)

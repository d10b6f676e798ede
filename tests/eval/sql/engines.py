"""The real engines as judges: open connections that run the text of a test directly, past the guard.

In: a dialect and a place (an empty database). Out: an `Engine` that runs a text and says what the engine says.
"""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from eval.schema import Dialect
from eval.tasks.load import mysql_arguments
from tests.conftest import chdb_client
from tests.eval.sql.fixture_files import FIXTURES

SETUP = FIXTURES / "guard" / "setup_common.sql"


@dataclass(frozen=True)
class Engine:
    dialect: Dialect
    connection: Any

    def rows(self, sql: str) -> list[tuple[Any, ...]]:
        """All rows of a statement; the driver's own error where it fails."""
        if self.dialect == "duckdb":
            return list(self.connection.execute(sql).fetchall())
        if self.dialect == "spark":
            return list(self.connection.catalogue(sql, 60))
        if self.dialect == "clickhouse":
            return list(self.connection.query(sql).result_rows)
        with contextlib.closing(self.connection.cursor()) as cursor:
            cursor.execute(sql)
            return list(cursor.fetchall())

    def error(self, sql: str) -> str | None:
        """What the engine says against a statement, None where it runs."""
        try:
            self.rows(sql)
        except Exception as problem:  # noqa: BLE001 - each driver has its own family of errors
            return str(problem)
        return None


@contextmanager
def engine(dialect: Dialect, url: str | None = None) -> Iterator[Engine]:
    """An engine that holds the tables of the guard's corpora; `url` names the scratch database of a server."""
    opened = Engine(dialect, _connect(dialect, url))
    with contextlib.closing(opened.connection):
        for table in ("customers", "orders", "secrets"):
            _run(opened, f"DROP TABLE IF EXISTS {table}")
        for statement in SETUP.read_text(encoding="utf-8").split(";\n"):
            if statement.strip():
                _run(opened, statement)
        yield opened


def _run(engine: Engine, statement: str) -> None:
    if engine.dialect == "spark":  # no keys, and two quotes are the end of a text and the start of the next
        engine.connection.catalogue(statement.replace("INTEGER PRIMARY KEY", "INT").replace("''", "\\'"), 60)
        return
    if engine.dialect == "duckdb":
        engine.connection.execute(statement)
        return
    if engine.dialect == "clickhouse":
        engine.connection.command(statement.replace("INTEGER PRIMARY KEY", "Int32 NOT NULL PRIMARY KEY"))
        return
    with contextlib.closing(engine.connection.cursor()) as cursor:
        cursor.execute(statement)


def _connect(dialect: Dialect, url: str | None) -> Any:
    if dialect == "sqlite":
        return sqlite3.connect(":memory:", isolation_level=None)
    if dialect == "duckdb":
        import duckdb

        return duckdb.connect(":memory:")
    if dialect == "postgres":
        import psycopg

        return psycopg.connect(url or "", autocommit=True)
    if dialect == "spark":
        from tests.spark_servers import writer

        return writer(url or "")
    if dialect == "clickhouse":
        from eval.databases.clickhouse import STANDARD_SETTINGS

        client = chdb_client(url or "")
        settings = {**STANDARD_SETTINGS, "data_type_default_nullable": "1"}
        client.command("SET " + ", ".join(f"{name} = '{value}'" for name, value in settings.items()))
        return client
    import pymysql

    return pymysql.connect(**mysql_arguments(url or ""), autocommit=True)

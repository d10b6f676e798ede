"""The door: from a path or URL to an open `Database` of the right engine.

In: a target as the user wrote it. Out: a `Database`, or a `DatabaseError` for the user. Only the engine that is
needed is imported.
"""

from __future__ import annotations

from pathlib import Path

from eval.databases.base import Database
from eval.databases.urls import Target, parse_target


def open_database(target: str | Path | Target, *, infer_keys: bool = True, connect_seconds: float = 5.0) -> Database:
    """Open a database for reading.

    `target` is a path to a SQLite or DuckDB file (told apart by content), `:memory:` (an empty SQLite), or a URL:
    `sqlite:///path`, `duckdb:///path`, `postgresql://user:password@host:port/database`, `mysql://…`, `mariadb://…`.
    A `Target` is one that was parsed, and maybe checked, before.
    `infer_keys` adds foreign keys that the database does not declare, marked `inferred`.
    `connect_seconds` bounds each attempt to reach a server.

    Raises DatabaseNotFound (no such file or database; none is created), DatabaseUnreachable (no answer, wrong
    password), DriverMissing (names the extra to install), DatabaseError (anything else). No message holds a password.
    """
    place = target if isinstance(target, Target) else parse_target(target)
    if place.dialect == "sqlite":
        from eval.databases.sqlite import SQLiteDatabase

        return SQLiteDatabase(place, infer_keys=infer_keys)
    if place.dialect == "duckdb":
        from eval.databases.duckdb import DuckDBDatabase

        return DuckDBDatabase(place, infer_keys=infer_keys)
    if place.dialect == "postgres":
        from eval.databases.postgres import PostgresDatabase

        return PostgresDatabase(place, infer_keys=infer_keys, connect_seconds=connect_seconds)
    from eval.databases.mysql import MySQLDatabase

    return MySQLDatabase(place, infer_keys=infer_keys, connect_seconds=connect_seconds)

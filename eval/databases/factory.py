"""Open a database: from a path or URL to a `Database` of the right engine.

In: a target as the user wrote it. Out: a `Database`, or a `DatabaseError` for the user. Only the engine that is needed
is imported.
"""

from __future__ import annotations

import os
import socket
from pathlib import Path
from typing import Literal

from eval.databases.base import Database
from eval.databases.urls import Target, parse_target

Isolation = Literal["process", "none"]


def open_database(
    target: str | Path | Target,
    *,
    infer_keys: bool = True,
    connect_seconds: float = 5.0,
    isolation: Isolation = "none",
) -> Database:
    """Open a database for reading.

    `target` is a path to a SQLite or DuckDB file (distinguished by content), `:memory:` (an empty SQLite), or a URL:
    `sqlite:///path`, `duckdb:///path`, `postgresql://user:password@host:port/database`, `mysql://…`, `mariadb://…`.
    It may also be a `Target` that was already parsed, and possibly checked.
    `infer_keys` adds foreign keys that the database does not declare, marked `inferred`.
    `connect_seconds` bounds each attempt to reach a server.
    `isolation="process"` runs statements on files in confined child processes (on platforms that can fork). It is meant
    for servers, where one statement must not hang, starve or crash the others. With "none" they run in this process.

    Raises DatabaseNotFound (no such file or database; none is created), DatabaseUnreachable (no answer, wrong
    password), DriverMissing (names the extra to install), DatabaseError (anything else). No message holds a password.
    """
    place = target if isinstance(target, Target) else parse_target(target)
    database = _opened(place, infer_keys, connect_seconds)
    if isolation == "none" or not _can_be_isolated(place):
        return database
    from eval.databases.isolation.database import IsolatedDatabase

    return IsolatedDatabase(place, database)


def _opened(place: Target, infer_keys: bool, connect_seconds: float) -> Database:
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


def _can_be_isolated(place: Target) -> bool:
    return place.dialect in ("sqlite", "duckdb") and hasattr(os, "fork") and hasattr(socket, "send_fds")

"""The only package that opens a connection: every engine of `eval.engines` that runs here, behind one interface.

In: a path or URL as the user wrote it (`open_database`). Out: a `Database` that introspects, plans and runs statements
read-only, or a `DatabaseError` for the user. A driver is imported when a database of its engine is opened, never
earlier.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Literal

from eval.databases.base import Database, in_statement_thread
from eval.databases.statement_run import RowStream
from eval.databases.types import (
    CancelToken,
    DatabaseError,
    DatabaseNotFound,
    DatabaseUnreachable,
    DriverMissing,
    ExecutionResult,
    Limits,
)
from eval.databases.urls import Target, parse_target
from eval.engines import ENGINES

__all__ = [
    "CancelToken",
    "Database",
    "DatabaseError",
    "DatabaseNotFound",
    "DatabaseUnreachable",
    "DriverMissing",
    "ExecutionResult",
    "Isolation",
    "Limits",
    "RowStream",
    "can_fork",
    "in_statement_thread",
    "open_database",
]

Isolation = Literal["process", "none"]


def open_database(
    target: str | Path | Target,
    *,
    infer_keys: bool = True,
    connect_seconds: float = 5.0,
    isolation: Isolation = "process",
) -> Database:
    """Open a database for reading.

    `target` is a path to a SQLite or DuckDB file (distinguished by content), `:memory:` (an empty SQLite), or a URL:
    `sqlite:///path`, `duckdb:///path`, `postgresql://user:password@host:port/database`, or one of the other schemes in
    `eval.engines`.
    It may also be a `Target` that was already parsed, and possibly checked.
    `infer_keys` adds foreign keys that the database does not declare, marked `inferred`.
    `connect_seconds` bounds each attempt to reach a server.
    `isolation="process"` runs statements on files in confined child processes (on platforms that can fork), so that no
    statement can hang, starve or crash this one. With "none" they run in this process: for statements of our own.

    Raises DatabaseNotFound (no such file or database; none is created), DatabaseUnreachable (no answer, wrong
    password), DriverMissing (names the extra to install), DatabaseError (anything else). No message holds a password.
    """
    place = target if isinstance(target, Target) else parse_target(target)
    engine = ENGINES[place.dialect]
    module, _, name = engine.opened_by.partition(":")
    opener: Callable[..., Database] = getattr(import_module(module), name)
    reached = {} if engine.is_file else {"connect_seconds": connect_seconds}
    database = opener(place, infer_keys=infer_keys, **reached)
    if isolation == "none" or not (engine.is_file or place.path is not None) or not can_fork():
        return database
    from eval.databases.isolation.workers import IsolatedDatabase

    return IsolatedDatabase(place, database)


def can_fork() -> bool:
    """Whether the platform has what `eval.databases.isolation` needs."""
    return hasattr(os, "fork") and hasattr(socket, "send_fds")

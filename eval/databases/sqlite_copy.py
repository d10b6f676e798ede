"""A consistent, read-only copy of a SQLite database, for work that must not touch the original."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from urllib.parse import quote

from eval.databases.base import Database
from eval.databases.types import DatabaseError
from eval.databases.urls import parse_target

__all__ = ["copy_sqlite"]


def copy_sqlite(database: Database, path: Path) -> None:
    """Copy the database into a new file that nobody may write. Raises DatabaseError, also for other engines."""
    source = parse_target(database.url).path if database.dialect == "sqlite" else None
    if source is None:
        raise DatabaseError("Only a SQLite file can be copied.")
    try:
        with (
            closing(sqlite3.connect(f"file:{quote(str(source))}?mode=ro", uri=True)) as original,
            closing(sqlite3.connect(path)) as copy,
        ):
            original.backup(copy)
            copy.execute("PRAGMA journal_mode = DELETE")
    except sqlite3.Error as error:
        raise DatabaseError(f"The database cannot be copied: {error}") from None
    path.chmod(0o444)

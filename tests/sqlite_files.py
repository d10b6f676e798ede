"""SQLite files for tests."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path


def sqlite_file(path: Path, script: str) -> Path:
    """A file on which the script has run; an existing one is changed by it."""
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(script)
    return path

"""Read the original database and write a replica; the only module here that opens SQLite files.

In: the path of a SQLite database. Out: its `Original` (statements that create its tables and views, a sample of rows),
or a new file that holds given rows. Rows that violate a constraint are left out, never forced in.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from eval.databases.table_drafts import quoted
from eval.databases.types import DatabaseError

SAMPLED_ROWS = 2_000
"""Rows read from each table, spread over it."""

Row = tuple[object, ...]


@dataclass(frozen=True, slots=True)
class Original:
    """The parts that a replica shares with its original, and the rows from which its values are drawn."""

    tables: dict[str, str]
    """Name → CREATE TABLE, in the order of the file."""
    views: tuple[str, ...]
    rows: dict[str, list[Row]]
    """Name → a sample of its rows, in column order."""
    unique: dict[str, tuple[tuple[str, ...], ...]]
    """Name → the column groups that a primary key or a UNIQUE constraint keeps unique."""


def read_original(path: Path) -> Original:
    """Read structure and sample. Raises DatabaseError for a file that is not a SQLite database."""
    try:
        with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as connection:
            connection.text_factory = lambda raw: raw.decode("utf-8", "replace")
            made = connection.execute("SELECT type, name, sql FROM sqlite_master WHERE sql IS NOT NULL").fetchall()
            tables = {
                name: sql
                for kind, name, sql in made
                if kind == "table" and not name.startswith("sqlite_") and "VIRTUAL" not in sql[:20].upper()
            }
            return Original(
                tables,
                tuple(sql for kind, _, sql in made if kind == "view"),
                {name: _sample(connection, name) for name in tables},
                {name: _unique(connection, name) for name in tables},
            )
    except sqlite3.Error as error:
        raise DatabaseError(f"{path.name} cannot be read: {error}") from None


def write_replica(original: Original, rows: Mapping[str, Sequence[Row]], path: Path) -> None:
    """Write a new database with these rows; a row that violates a constraint is dropped. The file must not exist."""
    if path.exists():
        raise DatabaseError(f"{path.name} exists already")
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA journal_mode = OFF")
        connection.execute("PRAGMA synchronous = OFF")
        connection.execute("BEGIN")
        for name, statement in original.tables.items():
            connection.execute(statement)
            if rows.get(name):
                marks = ", ".join("?" * len(rows[name][0]))
                connection.executemany(f"INSERT OR IGNORE INTO {_name(name)} VALUES ({marks})", rows[name])
        _drop_orphans(connection)
        for statement in original.views:
            connection.execute(statement)
        connection.execute("COMMIT")


def _name(name: str) -> str:
    return quoted((name,), "sqlite")


def _drop_orphans(connection: sqlite3.Connection) -> None:
    """Delete rows whose declared reference has no target, until there are none: deleting one may orphan another."""
    while broken := connection.execute("PRAGMA foreign_key_check").fetchall():
        rows = [(table, rowid) for table, rowid, *_ in broken if rowid is not None]
        if not rows:  # rows of tables without rowids cannot be identified
            return
        for table, rowid in rows:
            connection.execute(f"DELETE FROM {_name(table)} WHERE rowid = ?", (rowid,))


def _sample(connection: sqlite3.Connection, name: str) -> list[Row]:
    table = _name(name)
    (count,) = connection.execute(f"SELECT count(*) FROM {table}").fetchone()
    step = max(1, count // SAMPLED_ROWS)
    rows = connection.execute(f"SELECT * FROM {table} LIMIT {SAMPLED_ROWS * step}")
    return [row for at, row in enumerate(rows) if at % step == 0]


def _unique(connection: sqlite3.Connection, name: str) -> tuple[tuple[str, ...], ...]:
    groups = []
    columns = connection.execute("SELECT name, pk FROM pragma_table_info(?)", (name,)).fetchall()
    if key := tuple(column for column, place in sorted(columns, key=lambda c: c[1]) if place):
        groups.append(key)
    for index, is_unique in connection.execute('SELECT name, "unique" FROM pragma_index_list(?)', (name,)).fetchall():
        if is_unique:
            group = tuple(c for (c,) in connection.execute("SELECT name FROM pragma_index_info(?)", (index,)))
            if None not in group and group not in groups:
                groups.append(group)
    return tuple(groups)

"""A SQLite file copied into a chDB folder as one database, for measuring the same questions on ClickHouse.

In: a SQLite file, a folder and a name. Out: the URL of the copy. A column gets the narrowest type that holds all its
values: Int64, Float64 or String, Nullable where it holds NULL or may hold it; a table is ordered by its primary key.
Foreign keys are not copied, because ClickHouse has none.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

from eval.databases.table_drafts import quoted

_BATCH = 50_000


def copy_to_chdb(path: Path, folder: Path, name: str) -> str:
    """Copy all tables of a SQLite file into the database `name`, which is replaced."""
    import clickhouse_connect

    with (
        closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as source,
        clickhouse_connect.get_client(interface="chdb", path=str(folder)) as client,
    ):
        source.text_factory = lambda raw: raw.decode("utf-8", "replace")
        client.command(f"DROP DATABASE IF EXISTS {quoted((name,), 'clickhouse')} SYNC")
        client.command(f"CREATE DATABASE {quoted((name,), 'clickhouse')}")
        tables = source.execute(
            "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'"
        )
        for (table,) in tables.fetchall():
            _copy_table(source, client, table, name)
    return f"chdb:///{folder}?database={name}"


def _copy_table(source: sqlite3.Connection, client: Any, table: str, database: str) -> None:
    columns = source.execute(f"PRAGMA table_info({quoted((table,), 'sqlite')})").fetchall()
    names = [column[1] for column in columns]
    key = [column[1] for column in sorted(columns, key=lambda c: c[5]) if column[5]]
    rows = [list(row) for row in source.execute(f"SELECT * FROM {quoted((table,), 'sqlite')}")]
    kinds = []
    for place, column in enumerate(columns):
        kind, convert = _kind([row[place] for row in rows], str(column[2]))
        for row in rows:
            row[place] = None if row[place] is None else convert(row[place])
        filled = column[1] in key and all(row[place] is not None for row in rows)
        kinds.append(kind if filled else f"Nullable({kind})")
    defined = ", ".join(f"{quoted((n,), 'clickhouse')} {kind}" for n, kind in zip(names, kinds, strict=True))
    order = ", ".join(quoted((n,), "clickhouse") for n in key)
    client.command(
        f"CREATE TABLE {quoted((database, table), 'clickhouse')} ({defined}) ENGINE = MergeTree ORDER BY ({order}) "
        "SETTINGS allow_nullable_key = 1"
    )
    for start in range(0, len(rows), _BATCH):
        client.insert(quoted((table,), "clickhouse"), rows[start : start + _BATCH], names, database=database)


def _kind(values: list[object], declared: str) -> tuple[str, Any]:
    kinds = {type(value) for value in values if value is not None}
    if not kinds:
        words = declared.upper()
        if "INT" in words:
            return "Int64", int
        return (
            ("Float64", float) if any(w in words for w in ("REAL", "FLOA", "DOUB", "NUM", "DEC")) else ("String", str)
        )
    if kinds == {int}:
        return "Int64", int
    if kinds <= {int, float}:
        return "Float64", float
    return "String", _text


def _text(value: object) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)

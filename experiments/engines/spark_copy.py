"""Copy a SQLite file into a database of a Spark Connect server: `copy_to_spark`.

In: a file and a URL. Out: one table a table. SQLite's columns hold values of any type; a column becomes BIGINT or
DOUBLE where all its values are numbers, else STRING with the text that SQLite shows.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from eval.databases.spark_connect import SparkConnection
from eval.databases.urls import parse_target
from eval.tasks.load import arrow_table, save_table

_CONNECT_SECONDS = 30.0


def copy_to_spark(path: Path, server: str, name: str, session: str) -> str:
    """Copy into a new database `name`; returns its URL, in a session that others may join."""
    options = f";session_id={session}"
    with closing(SparkConnection(parse_target(f"{server}/{options}"), _CONNECT_SECONDS)) as connection:
        connection.catalogue(f"CREATE DATABASE `{name}`", 120)
    url = f"{server}/{name}{options}"
    with (
        closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as source,
        closing(SparkConnection(parse_target(url), _CONNECT_SECONDS)) as target,
    ):
        source.text_factory = lambda raw: raw.decode("utf-8", "replace")
        for (table,) in source.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name").fetchall():
            if not table.startswith("sqlite_"):
                _copy_table(source, target, table)
    return url


def _copy_table(source: sqlite3.Connection, target: SparkConnection, table: str) -> None:
    quoted = '"' + table.replace('"', '""') + '"'
    declared = [(str(row[1]), str(row[2])) for row in source.execute(f"PRAGMA table_info({quoted})")]
    rows = source.execute(f"SELECT * FROM {quoted}").fetchall()
    columns, kept = [], []
    for i, (name, kind) in enumerate(declared):
        arrow, values = _column(kind, [row[i] for row in rows])
        columns.append((name, arrow))
        kept.append(values)
    save_table(target, table, arrow_table(columns, list(zip(*kept, strict=True))))


def _column(declared: str, values: list[object]) -> tuple[str, list[object]]:
    kinds = {type(value) for value in values if value is not None}
    if kinds and kinds <= {int, float}:
        return (
            ("int64", values)
            if kinds == {int}
            else ("double", [float(v) if isinstance(v, int | float) else None for v in values])
        )
    if kinds == {bytes}:
        return "binary", values
    if not kinds:
        number = any(word in declared.upper() for word in ("INT", "REAL", "NUM", "DEC", "FLOA", "DOUB"))
        return ("double" if number and "INT" not in declared.upper() else "int64" if number else "string"), values
    return "string", [None if value is None else str(value) for value in values]

"""A statement's rows on disk: the statement runs once and its rows are streamed into a SQLite file without loss.

In: a database, a statement that the guard let through, limits. Out: a finished file, or a `ResultError` and no file.
The file has a table `answer` with the rows in order (`c0, c1, …` hold comparison values and `x0, …` exact forms, see
`agent.results.cells`), and a table `about` with one JSON text of facts about the rows.
"""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
from collections.abc import Sequence
from contextlib import closing, suppress
from pathlib import Path

from agent.results.cells import stored_column
from agent.results.facts import FactGatherer
from agent.results.result_errors import ResultError, StatementFailed
from eval.databases.base import Database
from eval.databases.statement_run import RowStream
from eval.databases.types import CancelToken, Limits, Value
from eval.statement import ReadStatement

MAX_COLUMNS = 900
"""SQLite holds 2,000 columns in a table, and a column may need two."""
FREE_BYTES = 256 * 1024 * 1024
"""Disk space that is left free."""


def spool(database: Database, statement: ReadStatement, path: Path, limits: Limits, cancel: CancelToken) -> None:
    """Run the statement once and write the file at `path`, which must not exist. Memory is bounded by one batch.

    Raises StatementFailed (the engine's error, the deadline, cancelled) and ResultError (no room, too many columns).
    """
    os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY | getattr(os, "O_NOFOLLOW", 0), 0o600))
    try:
        with database.stream(statement, limits=limits, cancel=cancel) as stream:
            _check_status(stream)
            if len(stream.columns) > MAX_COLUMNS:
                raise ResultError(f"a result of {len(stream.columns):,} columns cannot be kept; at most {MAX_COLUMNS}")
            with closing(sqlite3.connect(path, isolation_level=None)) as file:
                writer = SpoolWriter(file, stream.columns)
                for batch in stream:
                    if shutil.disk_usage(path.parent).free < FREE_BYTES:
                        raise ResultError("there is no room on the disk to keep this result")
                    writer.add(batch)
                _check_status(stream)
                writer.finish(truncated=stream.truncated)
    except sqlite3.Error as e:
        path.unlink(missing_ok=True)
        raise ResultError(f"the result cannot be kept: {e}") from None
    except BaseException:
        with suppress(OSError):
            path.unlink(missing_ok=True)
        raise


class SpoolWriter:
    """Writes batches of rows. A column gets a second column for exact forms when its first such value appears."""

    def __init__(self, file: sqlite3.Connection, columns: tuple[str, ...]) -> None:
        self._file = file
        self._names = columns
        self._gatherers = [FactGatherer(name) for name in columns]
        self._exact: list[int] = []
        self._rows = 0
        for pragma in ("journal_mode = OFF", "synchronous = OFF", "page_size = 8192"):
            file.execute(f"PRAGMA {pragma}")
        file.execute(f"CREATE TABLE answer ({', '.join(f'c{i}' for i in range(len(columns)))})")
        file.execute("CREATE TABLE about (json TEXT)")
        file.execute("BEGIN")
        self._insert = self._insertion()

    def add(self, batch: Sequence[Sequence[Value]]) -> None:
        stored, exact = [], {}
        for i, column in enumerate(zip(*batch, strict=True)):
            types = set(map(type, column))
            self._gatherers[i].add(column, types)
            values, forms = stored_column(column, types)
            stored.append(values)
            if forms is not None:
                exact[i] = forms
        if new := [i for i in exact if i not in self._exact]:
            for i in new:
                self._file.execute(f"ALTER TABLE answer ADD COLUMN x{i}")
            self._exact += new
            self._insert = self._insertion()
        nothing = [None] * len(batch)
        stored += [exact.get(i, nothing) for i in self._exact]
        self._file.executemany(self._insert, zip(*stored, strict=True))
        self._rows += len(batch)

    def finish(self, *, truncated: bool = False) -> None:
        about = {
            "row_count": self._rows,
            "truncated": truncated,
            "columns": [gatherer.facts().model_dump(mode="json") for gatherer in self._gatherers],
            "exact": sorted(self._exact),
        }
        self._file.execute("INSERT INTO about VALUES (?)", (json.dumps(about),))
        self._file.execute("COMMIT")

    def _insertion(self) -> str:
        names = [f"c{i}" for i in range(len(self._names))] + [f"x{i}" for i in self._exact]
        return f"INSERT INTO answer ({', '.join(names)}) VALUES ({', '.join('?' * len(names))})"


def _check_status(stream: RowStream) -> None:
    if stream.status not in (None, "success"):
        raise StatementFailed(stream.status, stream.error or "the statement failed")

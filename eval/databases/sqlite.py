"""SQLite: the file as a `Database`, whose statements run on connections that can only read (`sqlite_connection`).

In: a `Target` with a path (or none: an empty database in memory). Out: a `Database`.
"""

from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager
from pathlib import Path
from typing import TypeVar
from urllib.parse import quote

from eval.databases.base import Database
from eval.databases.catalogue.sqlite import read_schema
from eval.databases.opened import OpenedDatabase
from eval.databases.sqlite_connection import LOCK_SECONDS, Connection, Reading, connect
from eval.databases.statement_run import OpenStatement, StatementRun
from eval.databases.types import DatabaseError, Limits, Value, Workspace
from eval.databases.urls import Target, file_identity, file_signs, parse_target
from eval.schema import Dialect, Schema
from eval.statement import ReadStatement

_T = TypeVar("_T")


class SQLiteDatabase(OpenedDatabase):
    dialect: Dialect = "sqlite"

    def __init__(self, target: Target, *, infer_keys: bool = True, workspace: Workspace | None = None) -> None:
        """With a `workspace`, the engine has this process to itself."""
        super().__init__(target, infer_keys)
        self._workspace = workspace
        self._free: list[Connection] = []
        self._file = file_identity(target)
        self._catalogue: sqlite3.Connection | None = None
        self._catalogue_file = self._file
        self._catalogue_lock = threading.Lock()
        try:
            self._catalogue_sign()
        except sqlite3.Error as e:
            self.close()
            raise DatabaseError(f"cannot open {target.path}: {self._explain(str(e))}") from None

    def schema(self, *, ttl: float = 300.0) -> Schema:
        try:
            return self._schema_cache.get(ttl, sign=self._catalogue_sign, read=self._read_schema)
        except sqlite3.Error as e:
            raise DatabaseError(f"cannot read the structure of {self.url}: {self._explain(str(e))}") from None

    def refusal(self, statement: ReadStatement) -> str | None:
        """EXPLAIN compiles the statement with the same authorizer and returns the program instead of running it."""
        explained = ReadStatement(sql=f"EXPLAIN {statement.sql}", dialect=statement.dialect)
        result = self.execute(explained, limits=Limits(seconds=5.0, rows=1))
        return result.error if result.status == "error" else None

    def data_version(self) -> str:
        """The signs of the file and of its write-ahead log, and the file's change counter."""
        path = self._target.path
        if path is None:
            return "memory"
        head = _first_bytes(path, 28)
        return f"{file_signs(path, '-wal')}/{'unreadable' if head is None else head[24:].hex()}"

    def close(self) -> None:
        with self._lock:
            self._closed = True
            free, self._free = self._free, []
        for connection in free:
            connection.close()
        with self._catalogue_lock:
            if self._catalogue is not None:
                self._catalogue.close()
                self._catalogue = None

    # How a statement runs

    @contextmanager
    def _open(self, run: StatementRun) -> Iterator[OpenStatement]:
        connection = self._borrow()
        healthy = False
        try:
            with connection.reading(run):
                reading = Reading(connection, run)
                try:
                    yield OpenStatement(reading.begin(), reading.rows())
                finally:
                    reading.end()
            healthy = True
        except Exception:
            healthy = not connection.raw.in_transaction
            raise
        finally:
            with self._lock:
                kept = healthy and not self._closed and len(self._free) < 8
                if kept:
                    self._free.append(connection)
            if not kept:
                connection.close()

    def _open_plan(self, run: StatementRun) -> AbstractContextManager[OpenStatement]:
        run.sql = f"EXPLAIN QUERY PLAN {run.sql}"
        return self._open(run)

    def _plan_text(self, columns: Sequence[str], rows: Sequence[Sequence[Value]]) -> tuple[str, ...]:  # noqa: ARG002
        """The plan's lines, indented by the depth of each node."""
        depth = {0: -1}
        lines = []
        for row in rows:
            node, parent, text = int(str(row[0])), int(str(row[1])), str(row[3])
            depth[node] = depth.get(parent, -1) + 1
            lines.append("  " * depth[node] + text)
        return tuple(lines)

    def _explain(self, message: str) -> str:
        """SQLite's own message, with the likely cause when the message alone misleads."""
        if message == "database is locked":
            return f"database is locked: a writer has held it for {LOCK_SECONDS:g} s"
        if message == "not authorized":
            return "not authorized: only queries that read tables and call harmless functions may run"
        unreachable_wal = message in ("unable to open database file", "attempt to write a readonly database")
        path = self._target.path
        if unreachable_wal and path is not None and (_first_bytes(path, 20) or b"")[18:] == b"\x02\x02":
            return (
                f"{message}: the database is in WAL mode and its folder is read-only, so that its -shm file cannot be "
                "made; copy it elsewhere, or run PRAGMA journal_mode=DELETE on it where it can be written"
            )
        return message

    def _borrow(self) -> Connection:
        identity = file_identity(self._target)
        with self._lock:
            self._require_open()
            stale: list[Connection] = []
            if identity != self._file:  # another file was moved to this path
                self._file = identity
                stale, self._free = self._free, []
            connection = self._free.pop() if self._free else None
        for old in stale:
            old.close()
        return connection or Connection(self._target, self._workspace)

    # How the structure is read: on a separate connection, which runs our own statements only

    def _catalogue_connection(self) -> sqlite3.Connection:
        if self._catalogue is None:
            self._require_open()
            self._catalogue = connect(self._target)
        return self._catalogue

    def _catalogue_sign(self) -> str:
        """The file's identity and its schema version, which every change of structure increments."""
        identity = file_identity(self._target)
        with self._catalogue_lock:
            if identity != self._catalogue_file and self._catalogue is not None:
                self._catalogue.close()
                self._catalogue = None
            self._catalogue_file = identity
            version = _patiently(lambda: self._catalogue_connection().execute("PRAGMA schema_version").fetchone())
        return f"{identity}/{version[0]}"

    def _read_schema(self) -> Schema:
        with self._catalogue_lock:
            connection = self._catalogue_connection()
            return self._with_keys(_patiently(lambda: read_schema(connection)), connection)


def _patiently(read: Callable[[], _T]) -> _T:
    """Try again while a writer holds the lock, for at most `LOCK_SECONDS`."""
    until = time.monotonic() + LOCK_SECONDS
    while True:
        try:
            return read()
        except sqlite3.OperationalError as e:
            if str(e) != "database is locked" or time.monotonic() > until:
                raise
            time.sleep(0.01)


def _first_bytes(path: Path, count: int) -> bytes | None:
    """None where the file cannot be read."""
    try:
        with path.open("rb") as f:
            return f.read(count)
    except OSError:
        return None


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

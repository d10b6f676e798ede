"""Results kept on disk for paging and export, so that a second page does not run the query again.

In: a database, a checked statement, an owner. Out: a `KeptResult` that reads pages from its file. Files are kept in one
private folder, bounded by total size and by time since last use. Several processes can share them: a file appears
complete, by a rename, and a removed file stays readable for processes that have it open. A file has a table `answer`
with the rows in order (`c0, c1, …` hold comparison values and `x0, …` exact forms, see `agent.results.cells`), and a
table `about` with one JSON text of facts about the rows.
"""

from __future__ import annotations

import hashlib
import json
import os
import secrets
import shutil
import sqlite3
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, suppress
from pathlib import Path
from typing import Any
from urllib.parse import quote

from pydantic import BaseModel, PrivateAttr

from agent.config import LimitSettings
from agent.results.cells import ColumnFacts, FactGatherer, stored_column
from agent.results.pages import Filter, Page, Sort, count_rows, holds, read_rows, selection
from agent.results.result_errors import ResultError, ResultGone, StatementFailed
from agent.runtime.private_folder import private_folder
from eval.databases.base import Database, in_statement_thread
from eval.databases.statement_run import RowStream
from eval.databases.types import CancelToken, DatabaseError, Limits, Value
from eval.databases.values import json_value
from eval.statement import ReadStatement

_ABANDONED_SECONDS = 3600.0
_SWEEP_SECONDS = 30.0
MAX_COLUMNS = 900
"""SQLite holds 2,000 columns in a table, and a column may need two."""
FREE_BYTES = 256 * 1024 * 1024
"""Disk space that is left free."""
_GONE = "this result is no longer kept; run the query again"


class KeptResult(BaseModel, frozen=True):
    """One result on disk. Reading it blocks for some ms: call it from a thread."""

    columns: list[ColumnFacts]
    row_count: int
    """Rows kept."""
    truncated: bool
    """True when the statement had more rows, or a cell was cut, at a limit."""
    exact: list[int]
    """The columns that have exact forms besides their comparison values."""
    _path: Path = PrivateAttr()

    def page(
        self, offset: int = 0, limit: int = 100, sort: Sequence[Sort] = (), filters: Sequence[Filter] = ()
    ) -> Page:
        """Rows `offset` to `offset + limit`, filtered, then sorted. Raises BadRequest, ResultGone."""
        chosen = selection(self.columns, self.exact, sort, filters)
        with self.opened() as file:
            total, exact = count_rows(file, chosen, self.row_count)
            stored = read_rows(
                file, len(self.columns), self.exact, chosen, offset=min(offset, 2**62), limit=limit, batch=limit
            )
            columns = next(stored, None)
            stored.close()  # type: ignore[attr-defined]
        cells = ([json_value(value) for value in column] for column in columns or ())
        rows = [list(row) for row in zip(*cells, strict=True)]
        return Page(offset=offset, rows=rows, total=total, total_exact=exact and not self.truncated)

    def batches(
        self, sort: Sequence[Sort] = (), filters: Sequence[Filter] = (), size: int = 2000
    ) -> Iterator[list[Sequence[Value]]]:
        """All rows that the filters keep, as exact values, column by column, in batches of `size` rows."""
        chosen = selection(self.columns, self.exact, sort, filters)
        with self.opened() as file:
            yield from read_rows(file, len(self.columns), self.exact, chosen, batch=size)

    @property
    def folder(self) -> Path:
        """The private folder that the result is in, for an export's temporary files."""
        return self._path.parent

    def opened(self) -> closing[sqlite3.Connection]:
        """The file, opened read-only. Raises ResultGone."""
        return _opened(self._path)

    @classmethod
    def read(cls, path: Path) -> KeptResult:
        """Raises ResultGone."""
        with _opened(path) as file:
            about = json.loads(file.execute("SELECT json FROM about").fetchone()[0])
        result = cls(**about)
        result._path = path
        return result


def _opened(path: Path) -> closing[sqlite3.Connection]:
    try:
        file = sqlite3.connect(
            f"file:{quote(os.fsencode(path))}?mode=ro&immutable=1", uri=True, check_same_thread=False
        )
        file.execute("PRAGMA temp_store = MEMORY" if path.stat().st_size < 1 << 26 else "PRAGMA temp_store = FILE")
    except (sqlite3.Error, OSError):
        raise ResultGone(_GONE) from None
    file.create_function("holds", 2, holds, deterministic=True)
    return closing(file)


class ResultStore:
    """The results in one folder. Safe to use from several threads and processes."""

    def __init__(
        self, folder: Path, *, limits: Limits, total_bytes: int = 4 << 30, seconds_kept: float = 3600.0
    ) -> None:
        """`limits` bound one result, `total_bytes` all results together, `seconds_kept` the time since a result's last
        use. Raises ResultError when the folder cannot be made private."""
        self._folder = folder
        self._limits = limits
        self._total_bytes = total_bytes
        self._seconds_kept = seconds_kept
        self._lock = threading.Lock()
        self._running: dict[str, threading.Lock] = {}
        self._swept = 0.0
        try:
            private_folder(folder)
        except OSError as e:
            raise ResultError(f"the folder for results cannot be used: {e.strerror}") from None

    @classmethod
    def from_settings(cls, folder: Path, settings: LimitSettings) -> ResultStore:
        """Raises ResultError."""
        return cls(
            folder,
            limits=Limits(seconds=settings.export_seconds, rows=settings.export_rows, bytes=settings.result_mb << 20),
            total_bytes=settings.results_mb << 20,
            seconds_kept=settings.result_seconds,
        )

    async def keep(self, database: Database, statement: ReadStatement, *, owner: str = "") -> KeptResult:
        """The statement's result: the kept one while the data is unchanged, else the result of a new run. Cancelling
        the awaiting task interrupts the statement. Raises StatementFailed, ResultError."""
        return await in_statement_thread(lambda cancel: self._keep_now(database, statement, owner, cancel))

    def _keep_now(self, database: Database, statement: ReadStatement, owner: str, cancel: CancelToken) -> KeptResult:
        try:
            version = database.data_version()
        except DatabaseError as e:
            raise ResultError(str(e)) from None
        if version == "memory":  # identifies nothing: two in-memory databases are not the same
            version = f"memory {id(database)}"
        limits = self._limits
        parts: list[Any] = [owner, database.dialect, database.url, version, statement.sql, limits.rows, limits.bytes]
        key = hashlib.sha256(json.dumps(parts).encode("utf-8", "surrogatepass")).hexdigest()[:40]
        path = self._folder / f"{key}.result"
        with self._lock:
            running = self._running.setdefault(key, threading.Lock())
        try:
            with running:  # two simultaneous requests for the same query cause one run
                with suppress(ResultGone):
                    return self._kept(path)
                self.sweep()
                part = self._folder / f".{secrets.token_hex(16)}.part"
                spool(database, statement, part, self._limits, cancel)
                result = KeptResult.read(part)  # before another process may sweep it away
                part.replace(path)
                result._path = path
        finally:
            with self._lock:
                self._running.pop(key, None)
        self.sweep()
        return result

    def _kept(self, path: Path) -> KeptResult:
        """The result at this path; counts as a use of it. Raises ResultGone."""
        try:
            if time.time() - path.stat().st_mtime > self._seconds_kept:
                raise ResultGone(_GONE)
            os.utime(path)
        except OSError:
            raise ResultGone(_GONE) from None
        if time.monotonic() - self._swept > _SWEEP_SECONDS:
            self.sweep()
        return KeptResult.read(path)

    def sweep(self) -> None:
        """Remove results that were unused for too long, then the least recently used ones until the rest fits."""
        self._swept = time.monotonic()
        now, kept = time.time(), []
        for entry in os.scandir(self._folder):
            with suppress(OSError):
                s = entry.stat(follow_symlinks=False)
                age = now - s.st_mtime
                if entry.name.endswith(".result") and age <= self._seconds_kept:
                    kept.append((s.st_mtime, s.st_size, entry.path))
                elif entry.name.endswith(".result") or (entry.name.startswith(".") and age > _ABANDONED_SECONDS):
                    if entry.is_dir(follow_symlinks=False):  # left behind by a killed export
                        shutil.rmtree(entry.path, ignore_errors=True)
                    else:
                        os.unlink(entry.path)  # noqa: PTH108
        total = sum(size for _, size, _ in kept)
        for _, size, name in sorted(kept)[:-1]:  # the newest stays, whatever its size
            if total <= self._total_bytes:
                return
            with suppress(OSError):
                os.unlink(name)  # noqa: PTH108
            total -= size


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

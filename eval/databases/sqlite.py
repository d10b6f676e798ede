"""SQLite: the file is opened with `mode=ro`, and each connection has a deny-by-default authorizer.

In: a `Target` with a path (or none: an empty database in memory). Out: a `Database`. These protections apply even when
the guard is bypassed. The authorizer lets a statement only read tables and call listed functions, so nothing is
written, attached, set or loaded. `SQLITE_LIMIT_ATTACHED` is 0. A progress handler ends a statement at its deadline or
when it is cancelled. Values above the size at which a single C function becomes slow are refused to such functions.
"""

from __future__ import annotations

import os
import re
import sqlite3
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import TypeVar
from urllib.parse import quote

from eval.databases.base import Database
from eval.databases.catalogue.sqlite import read_schema
from eval.databases.catalogue.table_drafts import quoted
from eval.databases.inference import with_inferred_keys
from eval.databases.schema_cache import SchemaCache
from eval.databases.statement_run import OpenStatement, StatementRun
from eval.databases.types import DatabaseError, DatabaseNotFound, Limits, Value
from eval.databases.urls import Target, file_identity
from eval.databases.workspace import Workspace
from eval.schema import Dialect, Schema
from eval.sql.types import ReadStatement

_FUNCTIONS = frozenset(
    (  # noqa: SIM905
        "abs char coalesce concat concat_ws format glob hex ifnull iif if instr length like likelihood likely lower "
        "ltrim max min nullif octet_length printf quote random randomblob replace round rtrim sign soundex "
        "sqlite_version substr substring subtype trim typeof unhex unicode unistr unistr_quote unlikely upper zeroblob "
        "acos acosh asin asinh atan atan2 atanh ceil ceiling cos cosh degrees exp floor ln log log10 log2 mod pi pow "
        "power radians sin sinh sqrt tan tanh trunc "
        "current_date current_time current_timestamp date datetime julianday strftime time timediff unixepoch "
        "avg count group_concat median percentile percentile_cont percentile_disc string_agg sum total "
        "cume_dist dense_rank first_value lag last_value lead nth_value ntile percent_rank rank row_number "
        "-> ->> json json_array json_array_insert json_array_length json_error_position json_extract json_group_array "
        "json_group_object json_insert json_object json_patch json_pretty json_quote json_remove json_replace json_set "
        "json_type json_valid jsonb jsonb_array jsonb_extract jsonb_group_array jsonb_group_object jsonb_insert "
        "jsonb_object jsonb_patch jsonb_remove jsonb_replace jsonb_set "
        "bm25 highlight match matchinfo offsets snippet"
    ).split(" ")
)
"""Functions that only compute. Excluded: load_extension, fts3_tokenizer (takes pointers), sqlite_log, readfile, …"""

_HIDDEN_TABLES = frozenset({"sqlite_stmt", "sqlite_dbpage", "fts3tokenize", "bytecode", "tables_used"})
_READ_PRAGMAS = frozenset({"data_version", "page_size", "page_count", "encoding"})
"""Pragmas that full-text and R-Tree modules use internally; allowed only without a value."""

_RTREES = "SELECT name FROM sqlite_schema WHERE type = 'table' AND sql LIKE 'CREATE VIRTUAL TABLE%rtree%'"

_SLOWEST = frozenset({"trim", "ltrim", "rtrim", "json_patch", "jsonb_patch"})
_SLOW = _SLOWEST | {"instr", "replace", "glob"}
_TIERS: tuple[tuple[int, int, frozenset[str]], ...] = (
    (16 * 1024, 1000, frozenset()),
    (128 * 1024, 1000, _SLOWEST),
    (32 * 1024 * 1024, 10, _SLOW),
)
"""Longest value in bytes, longest LIKE pattern, functions denied. Nothing interrupts a single call of a function
written in C, and the time of some grows with the product of two argument lengths. A statement therefore starts in the
first tier. If it meets a longer value, it starts again in the next tier, without the functions that would be slow
there."""
_ONE_TIER: tuple[tuple[int, int, frozenset[str]], ...] = ((32 * 1024 * 1024, 50_000, frozenset()),)
"""In a separate process, a call that does not end is killed with the process."""
_FORMATTING = re.compile(r"\b(printf|format)\b", re.IGNORECASE)
"""Functions that return NULL instead of an error when their result is too long. A statement that calls one starts in
the last tier, and goes to the first one when it also calls a function that the last one denies."""
_SQL_BYTES = 1_000_000
_STEPS = 10_000
_LOOK_SECONDS = 0.05
_LOCK_SECONDS = 5.0
_INFER_SECONDS = 3.0
_TOO_BIG = "string or blob too big"
_DISK_MESSAGE = "the query needs more room for temporary files than it may use"
_T = TypeVar("_T")


class _Connection:
    """One hardened connection, used by one thread at a time."""

    def __init__(self, target: Target, workspace: Workspace | None) -> None:
        self.tier = 0
        self.tiers = _TIERS if workspace is None else _ONE_TIER
        self._workspace = workspace
        self._next_look = 0.0
        self._run: StatementRun | None = None
        self.raw = _connect(target)
        raw = self.raw
        if target.path is not None:
            raw.execute("PRAGMA query_only=ON")
        raw.execute("PRAGMA trusted_schema=OFF")
        raw.execute("PRAGMA cell_size_check=ON")
        if hasattr(raw, "enable_load_extension"):  # absent in a Python built without it; off by default
            raw.enable_load_extension(False)
        raw.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 0)
        raw.setlimit(sqlite3.SQLITE_LIMIT_SQL_LENGTH, _SQL_BYTES)
        raw.setlimit(sqlite3.SQLITE_LIMIT_EXPR_DEPTH, 500)
        raw.setlimit(sqlite3.SQLITE_LIMIT_WORKER_THREADS, 0)
        raw.setlimit(sqlite3.SQLITE_LIMIT_TRIGGER_DEPTH, 0)
        if sys.version_info >= (3, 12):
            raw.setconfig(sqlite3.SQLITE_DBCONFIG_DEFENSIVE, True)
        self._connect_rtrees()
        self.enter_tier(0)
        raw.set_progress_handler(self._stop, _STEPS)

    def _connect_rtrees(self) -> None:
        """Use the R-Tree module once in advance: it prepares its own INSERTs on first use, which the authorizer would
        deny."""
        with suppress(sqlite3.Error):
            for (name,) in self.raw.execute(_RTREES).fetchall():
                self.raw.execute(f"SELECT 1 FROM {quoted((name,), 'sqlite')} LIMIT 0").close()

    def enter_tier(self, tier: int) -> None:
        """Switch tiers. Setting the authorizer again expires the prepared statements that another tier allowed."""
        self.tier = tier
        length, pattern, _ = self.tiers[tier]
        self.raw.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, length)
        self.raw.setlimit(sqlite3.SQLITE_LIMIT_LIKE_PATTERN_LENGTH, pattern)
        self.raw.set_authorizer(self._authorize)

    def _authorize(self, action: int, one: str | None, two: str | None, _db: str | None, _by: str | None) -> int:
        if action == sqlite3.SQLITE_READ:
            return sqlite3.SQLITE_DENY if (one or "").lower() in _HIDDEN_TABLES else sqlite3.SQLITE_OK
        if action in (sqlite3.SQLITE_SELECT, sqlite3.SQLITE_RECURSIVE):
            return sqlite3.SQLITE_OK
        if action == sqlite3.SQLITE_FUNCTION:
            name = (two or "").lower()
            if name in _FUNCTIONS and name not in self.tiers[self.tier][2]:
                return sqlite3.SQLITE_OK
        elif action == sqlite3.SQLITE_UPDATE and one == "sqlite_master":
            # A virtual table declares its columns with a CREATE TABLE that is parsed and never run. A real UPDATE of
            # sqlite_master still fails: only PRAGMA writable_schema allows it, and that is denied.
            return sqlite3.SQLITE_OK
        elif action == sqlite3.SQLITE_TRANSACTION:
            return sqlite3.SQLITE_OK if one in ("BEGIN", "ROLLBACK") else sqlite3.SQLITE_DENY
        elif action == sqlite3.SQLITE_PRAGMA and two is None and (one or "").lower() in _READ_PRAGMAS:
            return sqlite3.SQLITE_OK
        return sqlite3.SQLITE_DENY

    @contextmanager
    def reading(self, run: StatementRun) -> Iterator[None]:
        """One snapshot of the data for all attempts of a statement; interrupted when the run must stop."""
        self._run = run
        self.filled_the_disk = False
        self.raw.execute("BEGIN")
        try:
            with run.interrupting(self.raw.interrupt):
                yield
        finally:
            self._run = None
            self.raw.text_factory = str
            if self.tier:
                self.enter_tier(0)
            if self.raw.in_transaction:  # a full disk has already ended it
                self.raw.execute("ROLLBACK")  # writers can continue

    def _stop(self) -> bool:
        return self._run is not None and (self._run.expired() or self._fills_the_disk())

    def _fills_the_disk(self) -> bool:
        if self._workspace is None or (now := time.monotonic()) < self._next_look:
            return False
        self._next_look = now + _LOOK_SECONDS
        self.filled_the_disk = self._workspace.temp_bytes_used() > self._workspace.temp_bytes
        return self.filled_the_disk

    def close(self) -> None:
        with suppress(sqlite3.Error):
            self.raw.close()


class SQLiteDatabase(Database):
    dialect: Dialect = "sqlite"

    def __init__(self, target: Target, *, infer_keys: bool = True, workspace: Workspace | None = None) -> None:
        """With a `workspace`, the engine has this process to itself."""
        self.name = target.name
        self.url = target.url
        self._target = target
        self._infer_keys = infer_keys
        self._workspace = workspace
        self._lock = threading.Lock()
        self._free: list[_Connection] = []
        self._closed = False
        self._file = file_identity(target)
        self._catalogue: sqlite3.Connection | None = None
        self._catalogue_file = self._file
        self._catalogue_lock = threading.Lock()
        try:
            self._catalogue_sign()
        except sqlite3.Error as e:
            self.close()
            raise DatabaseError(f"cannot open {target.path}: {_explained(target, str(e))}") from None

    @cached_property
    def _schema_cache(self) -> SchemaCache:
        """Created on first use: a database whose structure is never read takes no slot in the shared cache."""
        return SchemaCache.shared(("sqlite", self.url, self._infer_keys) if self._target.path else None)

    def schema(self, *, ttl: float = 300.0) -> Schema:
        try:
            return self._schema_cache.get(ttl, sign=self._catalogue_sign, read=self._read_schema)
        except sqlite3.Error as e:
            raise DatabaseError(
                f"cannot read the structure of {self.url}: {_explained(self._target, str(e))}"
            ) from None

    def refusal(self, statement: ReadStatement) -> str | None:
        """EXPLAIN compiles the statement with the same authorizer and returns the program instead of running it."""
        explained = ReadStatement(sql=f"EXPLAIN {statement.sql}", dialect=statement.dialect)
        result = self.execute(explained, limits=Limits(seconds=5.0, rows=1))
        return result.error if result.status == "error" else None

    def data_version(self) -> str:
        """Inode, size and modification time of the file and of its write-ahead log, and the file's change counter."""
        path = self._target.path
        if path is None:
            return "memory"
        signs = []
        for name in (str(path), f"{path}-wal"):
            try:
                s = os.stat(name)  # noqa: PTH116 (os.stat is what Path.stat calls, twice as slow)
                signs.append(f"{s.st_ino}-{s.st_size}-{s.st_mtime_ns}")
            except OSError:
                signs.append("none")
        try:
            with path.open("rb") as f:
                signs.append(f.read(28)[24:].hex())
        except OSError:
            signs.append("unreadable")
        return "/".join(signs)

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
                reading = _Reading(connection, run)
                try:
                    yield OpenStatement(reading.begin(), reading.rows())
                finally:
                    reading.end()
            healthy = True
        except Exception:
            healthy = not connection.raw.in_transaction
            raise
        finally:
            self._give_back(connection, healthy)

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
        return _explained(self._target, message)

    def _borrow(self) -> _Connection:
        identity = file_identity(self._target)
        with self._lock:
            if self._closed:
                raise DatabaseError("the database has been closed")
            stale: list[_Connection] = []
            if identity != self._file:  # another file was moved to this path
                self._file = identity
                stale, self._free = self._free, []
            connection = self._free.pop() if self._free else None
        for old in stale:
            old.close()
        return connection or _Connection(self._target, self._workspace)

    def _give_back(self, connection: _Connection, healthy: bool) -> None:
        with self._lock:
            if healthy and not self._closed and len(self._free) < 8:
                self._free.append(connection)
                return
        connection.close()

    # How the structure is read: on a separate connection, which runs our own statements only

    def _catalogue_connection(self) -> sqlite3.Connection:
        if self._catalogue is None:
            if self._closed:
                raise DatabaseError("the database has been closed")
            self._catalogue = _connect(self._target)
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
            schema = _patiently(lambda: read_schema(connection))
            if not self._infer_keys:
                return schema
            with StatementRun.of_ours("sqlite", _INFER_SECONDS).interrupting(connection.interrupt):
                return with_inferred_keys(schema, lambda sql: connection.execute(sql).fetchall())


def _connect(target: Target) -> sqlite3.Connection:
    if target.path is None:
        return sqlite3.connect(":memory:", timeout=0, isolation_level=None, check_same_thread=False)
    if not target.path.is_file():
        raise DatabaseNotFound(f"no database file at {target.path} (none was created)")
    uri = f"file:{quote(os.fsencode(target.path))}?mode=ro"
    return sqlite3.connect(uri, uri=True, timeout=0, isolation_level=None, check_same_thread=False)


class _Reading:
    """One statement's rows. A lock is waited for. A value that is too long for the first tier, or that is not UTF-8,
    restarts the statement in a mode that can hold it, on the same snapshot of the data."""

    def __init__(self, connection: _Connection, run: StatementRun) -> None:
        self._connection = connection
        self._run = run
        self._cursor: sqlite3.Cursor | None = None
        self._lock_until = time.monotonic() + _LOCK_SECONDS
        self._given = 0
        self._formatting = len(connection.tiers) > 1 and _FORMATTING.search(run.sql) is not None
        if self._formatting:
            connection.enter_tier(len(connection.tiers) - 1)

    def begin(self) -> tuple[str, ...]:
        while True:
            try:
                self._cursor = self._connection.raw.execute(self._run.sql)
                break
            except sqlite3.DatabaseError as e:
                self._overcome(e)
        if self._cursor.description is None:
            raise DatabaseError("this is not a query: it returns no columns")
        return tuple(str(d[0]) for d in self._cursor.description)

    def rows(self) -> Iterator[tuple[Value, ...]]:
        while True:
            try:
                assert self._cursor is not None
                for row in self._cursor:
                    self._given += 1
                    yield row
                return
            except sqlite3.DatabaseError as e:
                self.end()
                self._overcome(e)
            self.begin()
            self._skip_given()

    def end(self) -> None:
        if self._cursor is not None:
            self._cursor.close()
            self._cursor = None

    def _skip_given(self) -> None:
        """After a restart, skip the rows that were already delivered."""
        if self._given and self._run.start_over is not None:
            self._run.start_over()
            self._given = 0
        if self._given and "random" in self._run.sql.lower():
            raise DatabaseError("the rows changed while they were read; run the query again")
        assert self._cursor is not None
        for _ in islice(self._cursor, self._given):
            pass

    def _overcome(self, problem: sqlite3.DatabaseError) -> None:
        """Prepare for another attempt, or raise when the problem cannot be overcome."""
        connection, message = self._connection, str(problem)
        if connection.filled_the_disk or message in ("database or disk is full", "disk I/O error"):
            raise DatabaseError(_DISK_MESSAGE) from None
        if "Could not decode to UTF-8" in message and connection.raw.text_factory is str:
            connection.raw.text_factory = _decode_tolerantly
        elif message == "database is locked" and time.monotonic() < self._lock_until and not self._run.expired():
            time.sleep(0.01)
        elif message == _TOO_BIG and connection.tier + 1 < len(connection.tiers):
            connection.enter_tier(connection.tier + 1)
        elif self._formatting and ("not authorized" in message or "pattern too complex" in message):
            self._formatting = False
            connection.enter_tier(0)
        elif connection.tier and ("not authorized" in message or "pattern too complex" in message):
            _, pattern, denied = connection.tiers[connection.tier]
            raise DatabaseError(
                f"{_TOO_BIG}: with values of more than {connection.tiers[connection.tier - 1][0]:,} bytes a query "
                f"may not call {', '.join(sorted(denied))}, nor match a pattern of more than {pattern} "
                "characters"
            ) from None
        else:
            raise problem


def _patiently(read: Callable[[], _T]) -> _T:
    """Try again while a writer holds the lock, for at most `_LOCK_SECONDS`."""
    until = time.monotonic() + _LOCK_SECONDS
    while True:
        try:
            return read()
        except sqlite3.OperationalError as e:
            if str(e) != "database is locked" or time.monotonic() > until:
                raise
            time.sleep(0.01)


def _explained(target: Target, message: str) -> str:
    """SQLite's own message, with the likely cause when the message alone misleads."""
    if message == "database is locked":
        return f"database is locked: a writer has held it for {_LOCK_SECONDS:g} s"
    if message == "not authorized":
        return "not authorized: only queries that read tables and call harmless functions may run"
    unreachable_wal = message in ("unable to open database file", "attempt to write a readonly database")
    if unreachable_wal and target.path is not None and _is_wal(target.path):
        return (
            f"{message}: the database is in WAL mode and its folder is read-only, so that its -shm file cannot be "
            "made; copy it elsewhere, or run PRAGMA journal_mode=DELETE on it where it can be written"
        )
    return message


def _is_wal(path: Path) -> bool:
    try:
        with path.open("rb") as f:
            return f.read(20)[18:20] == b"\x02\x02"
    except OSError:
        return False


def _decode_tolerantly(text: bytes) -> str:
    return text.decode("utf-8", "surrogateescape")

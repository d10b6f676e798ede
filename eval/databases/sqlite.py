"""SQLite: the file opened `mode=ro`, each connection behind a deny-by-default authorizer.

In: a `Target` with a path (or none: an empty database in memory). Out: a `Database`. What holds even when the
guard is bypassed: the authorizer lets a statement only read tables and call listed functions, so nothing is
written, attached, set or loaded; `SQLITE_LIMIT_ATTACHED` is 0; a progress handler ends a statement at its deadline
or when it is cancelled; values over a size that makes a single C function slow are refused to such functions.
"""

from __future__ import annotations

import os
import sqlite3
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cached_property, partial
from pathlib import Path
from typing import TypeVar
from urllib.parse import quote

from eval.databases.base import CancelToken, Database, DatabaseError, DatabaseNotFound, ExecutionResult, Limits
from eval.databases.catalogue.assembling import quoted
from eval.databases.catalogue.sqlite import read_schema
from eval.databases.inference import with_inferred_keys
from eval.databases.running import Answer, Watch, run_statement
from eval.databases.schema_cache import SchemaCache
from eval.databases.streaming import RowStream
from eval.databases.urls import Target
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
"""Functions that only compute. Not here: load_extension, fts3_tokenizer (takes pointers), sqlite_log, readfile, …"""

_HIDDEN_TABLES = frozenset({"sqlite_stmt", "sqlite_dbpage", "fts3tokenize", "bytecode", "tables_used"})
_READ_PRAGMAS = frozenset({"data_version", "page_size", "page_count", "encoding"})
"""Pragmas that full-text and R-Tree modules ask internally; allowed only without a value."""

_RTREES = "SELECT name FROM sqlite_schema WHERE type = 'table' AND sql LIKE 'CREATE VIRTUAL TABLE%rtree%'"

_SLOWEST = frozenset({"trim", "ltrim", "rtrim", "json_patch", "jsonb_patch"})
_SLOW = _SLOWEST | {"instr", "replace", "glob"}
_TIERS: tuple[tuple[int, int, frozenset[str]], ...] = (
    (16 * 1024, 1000, frozenset()),
    (128 * 1024, 1000, _SLOWEST),
    (32 * 1024 * 1024, 10, _SLOW),
)
"""Longest value in bytes, longest LIKE pattern, functions denied. Nothing interrupts a single call of a function
written in C, and the time of some grows with the product of two argument lengths. So a statement starts in the first
tier, and one that meets a longer value starts again in the next, without the functions that would be slow there."""
_SQL_BYTES = 1_000_000
_STEPS = 10_000
_LOCK_SECONDS = 5.0
_INFER_SECONDS = 3.0
_TOO_BIG = "string or blob too big"
_T = TypeVar("_T")


class _Connection:
    """One hardened connection, used by one thread at a time."""

    def __init__(self, target: Target) -> None:
        self.tier = 0
        self.watch: Watch | None = None
        self.raw = _connect(target)
        raw = self.raw
        if target.path is not None:
            raw.execute("PRAGMA query_only=ON")
        raw.execute("PRAGMA trusted_schema=OFF")
        raw.execute("PRAGMA cell_size_check=ON")
        if hasattr(raw, "enable_load_extension"):  # absent where Python was built without it; off by default
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
        """An R-Tree prepares its own INSERTs when it is first used, which the authorizer would deny."""
        with suppress(sqlite3.Error):
            for (name,) in self.raw.execute(_RTREES).fetchall():
                self.raw.execute(f"SELECT 1 FROM {quoted((name,), 'sqlite')} LIMIT 0").close()

    def enter_tier(self, tier: int) -> None:
        """Setting the authorizer anew expires the prepared statements that another tier let through."""
        self.tier = tier
        length, pattern, _ = _TIERS[tier]
        self.raw.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, length)
        self.raw.setlimit(sqlite3.SQLITE_LIMIT_LIKE_PATTERN_LENGTH, pattern)
        self.raw.set_authorizer(self._authorize)

    def _authorize(self, action: int, one: str | None, two: str | None, _db: str | None, _by: str | None) -> int:
        if action == sqlite3.SQLITE_READ:
            return sqlite3.SQLITE_DENY if (one or "").lower() in _HIDDEN_TABLES else sqlite3.SQLITE_OK
        if action == sqlite3.SQLITE_SELECT or action == sqlite3.SQLITE_RECURSIVE:
            return sqlite3.SQLITE_OK
        if action == sqlite3.SQLITE_FUNCTION:
            name = (two or "").lower()
            if name in _FUNCTIONS and name not in _TIERS[self.tier][2]:
                return sqlite3.SQLITE_OK
        elif action == sqlite3.SQLITE_UPDATE and one == "sqlite_master":
            # A virtual table declares its columns by a CREATE TABLE that is parsed and never run. A real UPDATE of
            # sqlite_master fails all the same: only PRAGMA writable_schema allows it, and that is denied.
            return sqlite3.SQLITE_OK
        elif action == sqlite3.SQLITE_PRAGMA and two is None and (one or "").lower() in _READ_PRAGMAS:
            return sqlite3.SQLITE_OK
        return sqlite3.SQLITE_DENY

    def _stop(self) -> bool:
        return self.watch is not None and self.watch.expired()

    def close(self) -> None:
        with suppress(sqlite3.Error):
            self.raw.close()


class SQLiteDatabase(Database):
    dialect: Dialect = "sqlite"

    def __init__(self, target: Target, *, infer_keys: bool = True) -> None:
        self.name = target.name
        self.url = target.url
        self._target = target
        self._infer_keys = infer_keys
        self._lock = threading.Lock()
        self._free: list[_Connection] = []
        self._closed = False
        self._file = _file_identity(target)
        self._catalogue: sqlite3.Connection | None = None
        self._catalogue_file = self._file
        self._catalogue_lock = threading.Lock()
        try:
            self._catalogue_sign()
        except sqlite3.Error as e:
            self.close()
            raise DatabaseError(f"cannot open {target.path}: {_explain(target, str(e))}") from None

    @cached_property
    def _schema_cache(self) -> SchemaCache:
        """Looked up on first use: a database that is never asked for its structure takes no place among the shared."""
        return SchemaCache.shared(("sqlite", self.url, self._infer_keys) if self._target.path else None)

    def schema(self, *, ttl: float = 300.0) -> Schema:
        try:
            return self._schema_cache.get(ttl, sign=self._catalogue_sign, read=self._read_schema)
        except sqlite3.Error as e:
            raise DatabaseError(f"cannot read the structure of {self.url}: {_explain(self._target, str(e))}") from None

    def execute(
        self, statement: ReadStatement, *, limits: Limits | None = None, cancel: CancelToken | None = None
    ) -> ExecutionResult:
        return run_statement(statement, self.dialect, limits, cancel, self._open, partial(_explain, self._target))

    def stream(
        self, statement: ReadStatement, *, limits: Limits | None = None, cancel: CancelToken | None = None
    ) -> RowStream:
        return RowStream(statement, self.dialect, limits, cancel, self._open, partial(_explain, self._target))

    def refusal(self, statement: ReadStatement) -> str | None:
        """EXPLAIN compiles the statement behind the same authorizer and returns the program instead of running it."""
        explained = ReadStatement(sql=f"EXPLAIN {statement.sql}", dialect=statement.dialect)
        limits = Limits(seconds=5.0, rows=1)
        result = run_statement(explained, self.dialect, limits, None, self._open, partial(_explain, self._target))
        return result.error if result.status == "error" else None

    def plan_lines(self, statement: ReadStatement) -> tuple[str, ...]:
        plan = ReadStatement(sql=f"EXPLAIN QUERY PLAN {statement.sql}", dialect="sqlite")
        result = self.execute(plan, limits=Limits(seconds=5.0))
        depth = {0: -1}
        lines = []
        for row in result.rows:
            node, parent, text = int(str(row[0])), int(str(row[1])), str(row[3])
            depth[node] = depth.get(parent, -1) + 1
            lines.append("  " * depth[node] + text)
        return tuple(lines)

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
    def _open(self, sql: str, watch: Watch, start_over: Callable[[], None] | None) -> Iterator[Answer]:
        connection = self._borrow()
        connection.watch = watch
        reading = _Reading(connection, sql, start_over)
        try:
            yield Answer(reading.begin(), reading.fetch)
        finally:
            reading.end()
            connection.raw.text_factory = str
            if connection.tier:
                connection.enter_tier(0)
            connection.watch = None
            self._give_back(connection)

    def _borrow(self) -> _Connection:
        identity = _file_identity(self._target)
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
        return connection or _Connection(self._target)

    def _give_back(self, connection: _Connection) -> None:
        with self._lock:
            if not self._closed and len(self._free) < 8:
                self._free.append(connection)
                return
        connection.close()

    # How the structure is read: on a connection of its own, which runs our own statements only

    def _catalogue_connection(self) -> sqlite3.Connection:
        if self._catalogue is None:
            if self._closed:
                raise DatabaseError("the database has been closed")
            self._catalogue = _connect(self._target)
        return self._catalogue

    def _catalogue_sign(self) -> str:
        """The file's identity and its schema version, which every change of structure raises."""
        identity = _file_identity(self._target)
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
            watch = Watch(_INFER_SECONDS, None)
            connection.set_progress_handler(watch.expired, _STEPS)
            try:
                return with_inferred_keys(schema, lambda sql: connection.execute(sql).fetchall())
            finally:
                connection.set_progress_handler(None, 0)


def _connect(target: Target) -> sqlite3.Connection:
    if target.path is None:
        return sqlite3.connect(":memory:", timeout=0, isolation_level=None, check_same_thread=False)
    if not target.path.is_file():
        raise DatabaseNotFound(f"no database file at {target.path} (none was created)")
    uri = f"file:{quote(os.fsencode(target.path))}?mode=ro"
    return sqlite3.connect(uri, uri=True, timeout=0, isolation_level=None, check_same_thread=False)


class _Reading:
    """One statement's rows. A lock is waited for; a value that is too long for the first tier, or that is no UTF-8,
    begins the statement again in a way that can hold it."""

    def __init__(self, connection: _Connection, sql: str, start_over: Callable[[], None] | None) -> None:
        self._connection = connection
        self._sql = sql
        self._start_over = start_over
        self._cursor: sqlite3.Cursor | None = None
        self._lock_until = time.monotonic() + _LOCK_SECONDS
        self._given = 0
        self._given_hash = 0
        self._steps: list[int] = []

    def begin(self) -> tuple[str, ...]:
        while True:
            try:
                self._cursor = self._connection.raw.execute(self._sql)
                break
            except sqlite3.DatabaseError as e:
                self._overcome(e)
        if self._cursor.description is None:
            raise DatabaseError("this is not a query: it returns no columns")
        return tuple(str(d[0]) for d in self._cursor.description)

    def fetch(self, count: int) -> Sequence[Sequence[object]]:
        while True:
            try:
                if self._cursor is None:
                    self.begin()
                    self._pass_over()
                assert self._cursor is not None
                rows = self._cursor.fetchmany(count)
                break
            except sqlite3.DatabaseError as e:
                self.end()
                self._overcome(e)
        self._given += len(rows)
        if self._start_over is None and rows:
            self._steps.append(len(rows))
            self._given_hash = hash((self._given_hash, *rows))
        return rows

    def end(self) -> None:
        """Ends the read transaction, so that writers go on."""
        if self._cursor is not None:
            self._cursor.close()
            self._cursor = None

    def _pass_over(self) -> None:
        """After a second beginning, come to where the first one stopped; the rows must be the same."""
        if not self._given:
            return
        if self._start_over is not None:
            self._start_over()
            self._given = 0
            return
        assert self._cursor is not None
        left, seen = self._given, 0
        for count in self._steps:
            rows = self._cursor.fetchmany(count)
            left -= len(rows)
            seen = hash((seen, *rows))
        if left or seen != self._given_hash:
            raise DatabaseError("the rows changed while they were read; run the query again")

    def _overcome(self, problem: sqlite3.DatabaseError) -> None:
        """Make ready for another beginning, or raise what cannot be overcome."""
        connection, message = self._connection, str(problem)
        expired = connection.watch is not None and connection.watch.expired()
        if "Could not decode to UTF-8" in message and connection.raw.text_factory is str:
            connection.raw.text_factory = _decode_tolerantly
        elif message == "database is locked" and time.monotonic() < self._lock_until and not expired:
            time.sleep(0.01)
        elif message == _TOO_BIG and connection.tier + 1 < len(_TIERS):
            connection.enter_tier(connection.tier + 1)
        elif connection.tier and ("not authorized" in message or "pattern too complex" in message):
            _, pattern, denied = _TIERS[connection.tier]
            raise DatabaseError(
                f"{_TOO_BIG}: with values of more than {_TIERS[connection.tier - 1][0]:,} bytes a query "
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


def _explain(target: Target, message: str) -> str:
    """SQLite's own message, with the likely cause where the message alone misleads."""
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


def _file_identity(target: Target) -> str:
    if target.path is None:
        return "memory"
    try:
        s = os.stat(target.path)  # noqa: PTH116
    except OSError:
        return "missing"
    return f"{s.st_dev}-{s.st_ino}"

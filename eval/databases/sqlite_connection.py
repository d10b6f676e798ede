"""One connection to a SQLite file, on which a statement can only read, and one statement's rows.

These protections apply even when the guard is bypassed. The file is opened with `mode=ro`. A deny-by-default authorizer
lets a statement only read tables and call listed functions, so nothing is written, attached, set or loaded;
`SQLITE_LIMIT_ATTACHED` is 0. A progress handler ends a statement at its deadline or when it is cancelled. Values above
the size at which a single C function becomes slow are refused to such functions.
"""

from __future__ import annotations

import os
import re
import sqlite3
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import islice
from urllib.parse import quote

from eval.databases.statement_run import StatementRun
from eval.databases.table_drafts import quoted
from eval.databases.types import DatabaseError, DatabaseNotFound, Value, Workspace
from eval.databases.urls import Target
from eval.language.lexicon import word_set

_FUNCTIONS = word_set(
    """
    abs char coalesce concat concat_ws format glob hex ifnull iif if instr length like likelihood likely lower
    ltrim max min nullif octet_length printf quote random randomblob replace round rtrim sign soundex
    sqlite_version substr substring subtype trim typeof unhex unicode unistr unistr_quote unlikely upper zeroblob
    acos acosh asin asinh atan atan2 atanh ceil ceiling cos cosh degrees exp floor ln log log10 log2 mod pi pow
    power radians sin sinh sqrt tan tanh trunc
    current_date current_time current_timestamp date datetime julianday strftime time timediff unixepoch
    avg count group_concat median percentile percentile_cont percentile_disc string_agg sum total
    cume_dist dense_rank first_value lag last_value lead nth_value ntile percent_rank rank row_number
    -> ->> json json_array json_array_insert json_array_length json_error_position json_extract json_group_array
    json_group_object json_insert json_object json_patch json_pretty json_quote json_remove json_replace json_set
    json_type json_valid jsonb jsonb_array jsonb_extract jsonb_group_array jsonb_group_object jsonb_insert
    jsonb_object jsonb_patch jsonb_remove jsonb_replace jsonb_set
    bm25 highlight match matchinfo offsets snippet
    """
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
LOCK_SECONDS = 5.0
_TOO_BIG = "string or blob too big"
_DISK_MESSAGE = "the query needs more room for temporary files than it may use"


def connect(target: Target) -> sqlite3.Connection:
    if target.path is None:
        return sqlite3.connect(":memory:", timeout=0, isolation_level=None, check_same_thread=False)
    if not target.path.is_file():
        raise DatabaseNotFound(f"no database file at {target.path} (none was created)")
    uri = f"file:{quote(os.fsencode(target.path))}?mode=ro"
    return sqlite3.connect(uri, uri=True, timeout=0, isolation_level=None, check_same_thread=False)


class Connection:
    """One hardened connection, used by one thread at a time."""

    def __init__(self, target: Target, workspace: Workspace | None) -> None:
        self.tier = 0
        self.tiers = _TIERS if workspace is None else _ONE_TIER
        self._workspace = workspace
        self._next_look = 0.0
        self._run: StatementRun | None = None
        self.raw = connect(target)
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
        # Use the R-Tree module once in advance: it prepares its own INSERTs on first use, which the authorizer
        # would deny
        with suppress(sqlite3.Error):
            for (name,) in self.raw.execute(_RTREES).fetchall():
                self.raw.execute(f"SELECT 1 FROM {quoted((name,), 'sqlite')} LIMIT 0").close()
        self.enter_tier(0)
        raw.set_progress_handler(self._stop, _STEPS)

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


class Reading:
    """One statement's rows. A lock is waited for. A value that is too long for the first tier, or that is not UTF-8,
    restarts the statement in a mode that can hold it, on the same snapshot of the data."""

    def __init__(self, connection: Connection, run: StatementRun) -> None:
        self._connection = connection
        self._run = run
        self._cursor: sqlite3.Cursor | None = None
        self._lock_until = time.monotonic() + LOCK_SECONDS
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
            # After a restart, skip the rows that were already delivered
            if self._given and self._run.start_over is not None:
                self._run.start_over()
                self._given = 0
            if self._given and "random" in self._run.sql.lower():
                raise DatabaseError("the rows changed while they were read; run the query again")
            assert self._cursor is not None
            for _ in islice(self._cursor, self._given):
                pass

    def end(self) -> None:
        if self._cursor is not None:
            self._cursor.close()
            self._cursor = None

    def _overcome(self, problem: sqlite3.DatabaseError) -> None:
        """Prepare for another attempt, or raise when the problem cannot be overcome."""
        connection, message = self._connection, str(problem)
        if connection.filled_the_disk or message in ("database or disk is full", "disk I/O error"):
            raise DatabaseError(_DISK_MESSAGE) from None
        if "Could not decode to UTF-8" in message and connection.raw.text_factory is str:
            connection.raw.text_factory = lambda text: text.decode("utf-8", "surrogateescape")
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

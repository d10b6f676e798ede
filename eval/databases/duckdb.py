"""DuckDB: the file opened read-only in a locked-down instance, one cursor a statement.

In: a `Target` with a path. Out: a `Database`. What holds even when the guard is bypassed: exactly one statement,
and of type SELECT, is prepared; the instance has no access to files, network, extensions or the caller's variables,
its configuration is locked and its memory bounded; `interrupt()` ends a statement at its deadline.

DuckDB holds a shared lock on the file while it is open: other readers may open it, a writer in another process may
not. Within one process all connections to a file share one configuration.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cached_property
from typing import TYPE_CHECKING

from eval.databases.base import CancelToken, Database, DatabaseError, DriverMissing, ExecutionResult, Limits
from eval.databases.catalogue.duckdb import read_schema
from eval.databases.collecting import RowCollector
from eval.databases.inference import with_inferred_keys
from eval.databases.running import Answer, Watch, run_statement
from eval.databases.schema_cache import SchemaCache
from eval.databases.streaming import RowStream
from eval.databases.urls import Target
from eval.schema import Dialect, Schema
from eval.sql.types import ReadStatement

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

_INFER_SECONDS = 3.0


class DuckDBDatabase(Database):
    dialect: Dialect = "duckdb"

    def __init__(self, target: Target, *, infer_keys: bool = True) -> None:
        self.name = target.name
        self.url = target.url
        self._target = target
        self._infer_keys = infer_keys
        self._lock = threading.Lock()
        self._closed = False
        self._file = _file_sign(target)
        self._instance = _open(target)

    @cached_property
    def _schema_cache(self) -> SchemaCache:
        """Looked up on first use: a database that is never asked for its structure takes no place among the shared."""
        return SchemaCache.shared(("duckdb", self.url, self._infer_keys))

    def schema(self, *, ttl: float = 300.0) -> Schema:
        """The cache's sign is the file's identity, size and time: while it is open here, no one can change it."""
        return self._schema_cache.get(ttl, sign=lambda: _file_sign(self._target), read=self._read_schema)

    def execute(
        self, statement: ReadStatement, *, limits: Limits | None = None, cancel: CancelToken | None = None
    ) -> ExecutionResult:
        return run_statement(statement, self.dialect, limits, cancel, self._open, str)

    def stream(
        self, statement: ReadStatement, *, limits: Limits | None = None, cancel: CancelToken | None = None
    ) -> RowStream:
        return RowStream(statement, self.dialect, limits, cancel, self._open, str)

    def refusal(self, statement: ReadStatement) -> str | None:
        """EXPLAIN binds names, types and functions, and plans without running."""
        limits = Limits(seconds=5.0)
        result = run_statement(statement, self.dialect, limits, None, self._explain, str)
        return result.error if result.status == "error" else None

    def plan_lines(self, statement: ReadStatement) -> tuple[str, ...]:
        rows = RowCollector(Limits())
        try:
            with self._explain(statement.sql, Watch(5.0, None), None) as plan:
                rows.fill(plan.fetch)
        except Exception:  # noqa: BLE001 (no plan to be had)
            return ()
        return tuple(line.rstrip() for row in rows.rows for line in str(row[-1]).splitlines() if line.strip())

    def data_version(self) -> str:
        """Inode, size and modification time of the file and its write-ahead log."""
        return _file_sign(self._target)

    def close(self) -> None:
        with self._lock:
            if not self._closed:
                self._closed = True
                _shut(self._instance)

    @contextmanager
    def _open(self, sql: str, watch: Watch, start_over: Callable[[], None] | None) -> Iterator[Answer]:
        with self._cursor() as cursor, watch.interrupting(cursor.interrupt):
            _only_select(cursor, sql)
            if watch.expired():
                yield Answer((), lambda _: ())
                return
            cursor.execute(sql)  # streams: rows are computed as they are fetched
            described = [(str(d[0]), str(d[1])) for d in cursor.description or ()]
            if any(_is_beyond_python(kind) for _, kind in described):
                cursor.execute(_times_as_text(sql, [kind for _, kind in described]))
            yield Answer(tuple(name for name, _ in described), cursor.fetchmany)

    @contextmanager
    def _explain(self, sql: str, watch: Watch, start_over: Callable[[], None] | None) -> Iterator[Answer]:
        with self._cursor() as cursor, watch.interrupting(cursor.interrupt):
            _only_select(cursor, sql)
            yield Answer(("plan",), cursor.execute(f"EXPLAIN {sql}").fetchmany)

    def _cursor(self) -> DuckDBPyConnection:
        """A connection of its own on the shared instance, which is opened anew when another file took its place."""
        with self._lock:
            if self._closed:
                raise DatabaseError("the database has been closed")
            sign = _file_sign(self._target)
            if sign != self._file:
                _shut(self._instance)
                self._instance = _open(self._target)
                self._file = sign
            return self._instance.cursor()

    def _read_schema(self) -> Schema:
        with self._cursor() as cursor:
            try:
                schema = read_schema(cursor)
                if not self._infer_keys:
                    return schema
                watch = Watch(_INFER_SECONDS, None)
                with watch.interrupting(cursor.interrupt):
                    return with_inferred_keys(schema, lambda sql: cursor.execute(sql).fetchall())
            except Exception as e:  # noqa: BLE001 (duckdb.Error, whatever its module is called in this version)
                raise DatabaseError(f"cannot read the structure of {self.url}: {e}") from None


def _only_select(cursor: DuckDBPyConnection, sql: str) -> None:
    """One SELECT, or an error; parsing alone runs nothing. (`FROM t`, VALUES, DESCRIBE and SHOW are SELECTs too.)"""
    statements = cursor.extract_statements(sql)
    if len(statements) != 1:
        raise DatabaseError(f"exactly one statement may run, not {len(statements)}")
    kind = str(statements[0].type).rpartition(".")[2]
    if kind != "SELECT":
        raise DatabaseError(f"only a SELECT may run, not a statement of type {kind}")


def _is_beyond_python(kind: str) -> bool:
    """Types whose values the driver cannot always turn into Python's: a time zone needs a package of its own."""
    return "WITH TIME ZONE" in kind


def _times_as_text(sql: str, kinds: list[str]) -> str:
    """The same query with the columns of such types as text; the order of the rows is kept."""
    names = [f"c{i}" for i in range(len(kinds))]
    shown = (f"CAST({n} AS VARCHAR)" if _is_beyond_python(kind) else n for n, kind in zip(names, kinds, strict=True))
    return f"SELECT {', '.join(shown)} FROM (\n{sql}\n) AS answer({', '.join(names)})"


def _open(target: Target) -> DuckDBPyConnection:
    try:
        import duckdb
    except ImportError:
        raise DriverMissing("DuckDB needs its driver: pip install 'text2sql[duckdb]'") from None
    try:
        return duckdb.connect(str(target.path), read_only=True, config=_configuration())
    except duckdb.Error as e:
        message = str(e)
        if "different configuration" in message:
            message = (
                "this process already has the file open with another configuration; close that connection first "
                "(DuckDB allows one configuration per file and process)"
            )
        elif "Conflicting lock" in message or "Could not set lock" in message:
            message = "another process has the file open for writing; DuckDB lets nobody read it meanwhile"
        raise DatabaseError(f"cannot open {target.path}: {message}") from None


def _shut(instance: DuckDBPyConnection) -> None:
    """Close the instance; a statement that was just interrupted may need a moment to let go of it."""
    import duckdb

    for _ in range(100):
        try:
            instance.close()
            return
        except duckdb.Error:  # busy: DuckDB refuses instead of waiting
            time.sleep(0.01)


def _configuration() -> dict[str, str | bool | int | float | list[str]]:
    """The same for every connection of this machine: DuckDB refuses a second configuration for an open file."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2
    return {
        "enable_external_access": "false",
        "autoinstall_known_extensions": "false",
        "autoload_known_extensions": "false",
        "allow_community_extensions": "false",
        "allow_unsigned_extensions": "false",
        "allow_persistent_secrets": "false",
        "python_enable_replacements": "false",
        "temp_directory": "",
        "memory_limit": f"{min(memory, 4 << 30) >> 20}MiB",
        "threads": str(min(4, os.cpu_count() or 1)),
        "lock_configuration": "true",
    }


def _file_sign(target: Target) -> str:
    signs = []
    for name in (str(target.path), f"{target.path}.wal"):
        try:
            s = os.stat(name)  # noqa: PTH116
            signs.append(f"{s.st_dev}-{s.st_ino}-{s.st_size}-{s.st_mtime_ns}")
        except OSError:
            signs.append("none")
    return "/".join(signs)

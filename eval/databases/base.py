"""`Database`: the one interface to all engines; and `OpenedDatabase`: what all engines share that open a `Target`.

In: a `ReadStatement` that the guard allowed. Out: always an `ExecutionResult`; a failing, slow or cancelled statement
is a result with a status, never an exception. Opening and introspection raise `DatabaseError`.

`SchemaCache`, in: a time to live, a cheap sign of the structure's state, and a function that reads the structure. Out:
the `Schema`. Caches are shared within the process by the database's identity, so that opening a database again costs
nothing.
"""

from __future__ import annotations

import asyncio
import contextvars
import threading
import time
from abc import ABC, abstractmethod
from collections import OrderedDict
from collections.abc import Callable, Hashable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from eval.databases.inference import with_inferred_keys
from eval.databases.statement_run import OpenStatement, RowStream, StatementRun
from eval.databases.types import CancelToken, DatabaseError, ExecutionResult, Limits, Value
from eval.databases.urls import Target
from eval.schema import Dialect, Schema
from eval.statement import ReadStatement
from eval.threads import waiting

if TYPE_CHECKING:
    from eval.sql import ParsedQuery


_T = TypeVar("_T")
_PLAN_LIMITS = Limits(seconds=5.0)


class Database(ABC):
    """A database opened for reading. Safe to use from several threads; each statement has its own connection state, and
    no statement can write, attach, load or reach outside the database."""

    dialect: Dialect
    name: str
    """Short name for people: the file's stem or the database's name."""
    url: str
    """Its location, without credentials."""
    executes: bool = True
    """False when only the structure is known and no engine is there: statements are written and checked."""
    holds_rows: bool = True
    """False when only the structure is known: value look-ups are pointless, and an empty result means nothing."""

    @property
    def sees_all(self) -> bool:
        """False where the one whom it was opened for sees only a part of it."""
        return True

    def may_show(self, parsed: ParsedQuery, text: str = "") -> bool:  # noqa: ARG002
        """Whether that one may see a query of others with its constants, and the text that goes with it."""
        return True

    @abstractmethod
    def schema(self, *, ttl: float = 300.0) -> Schema:
        """The structure, introspected once and cached for `ttl` seconds. A change in the database is noticed earlier
        when the engine has a cheap sign of it (SQLite's schema_version). Raises DatabaseError."""

    def execute(
        self, statement: ReadStatement, *, limits: Limits | None = None, cancel: CancelToken | None = None
    ) -> ExecutionResult:
        """Run one statement read-only within the limits. Blocking; never raises."""
        rows: list[tuple[Value, ...]] = []
        stream = RowStream(statement, self.dialect, limits, cancel, self._open, self._explain, start_over=rows.clear)
        with waiting(), stream:
            for batch in stream:
                rows += batch
        return ExecutionResult(
            status=stream.status or "error",
            columns=stream.columns if stream.ok else (),
            rows=tuple(rows) if stream.ok else (),
            truncated=stream.truncated,
            error=stream.error,
            execution_time_ms=stream.execution_time_ms,
            sql=statement.sql,
        )

    def stream(
        self, statement: ReadStatement, *, limits: Limits | None = None, cancel: CancelToken | None = None
    ) -> RowStream:
        """Run one statement read-only and read its rows batch by batch, with the columns known first. Use as a context
        manager; blocking; never raises. The caller sets its own `limits`, often larger than those of `execute`."""
        return RowStream(statement, self.dialect, limits, cancel, self._open, self._explain)

    def plan_lines(self, statement: ReadStatement) -> tuple[str, ...]:
        """The engine's query plan (EXPLAIN, never ANALYZE) as text lines; empty when it is not available."""
        with RowStream(statement, self.dialect, _PLAN_LIMITS, None, self._open_plan, self._explain) as plan:
            rows = [row for batch in plan for row in batch]
        return self._plan_text(plan.columns, rows) if plan.ok else ()

    def refusal(self, statement: ReadStatement) -> str | None:  # noqa: ARG002
        """The engine's own message when it refuses to prepare the statement, which is not run. None when the engine
        accepts it, and for engines that are not asked (PostgreSQL and MySQL, where a dry run should save the round
        trip)."""
        return None

    @abstractmethod
    def data_version(self) -> str:
        """A cheap sign of the data's state (file size and mtime, a change counter): equal means unchanged, as far as
        the engine can tell. It is the key for caches of values and profiles."""

    def write_privileges(self) -> tuple[str, ...]:
        """What the login could write outside this package ("may write to 3 tables"), for a warning; empty for files.
        Nothing that runs through this package writes in any case. Raises DatabaseError."""
        return ()

    @abstractmethod
    def close(self) -> None: ...

    async def execute_async(self, statement: ReadStatement, *, limits: Limits | None = None) -> ExecutionResult:
        """`execute` off the event loop. Cancelling the awaiting task interrupts the statement in the engine."""
        return await in_statement_thread(lambda cancel: self.execute(statement, limits=limits, cancel=cancel))

    async def refusal_async(self, statement: ReadStatement) -> str | None:
        """`refusal` off the event loop."""
        return await asyncio.get_running_loop().run_in_executor(_statement_threads(), self.refusal, statement)

    def __enter__(self) -> Database:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # What each engine implements

    @abstractmethod
    def _open(self, run: StatementRun) -> AbstractContextManager[OpenStatement]:
        """Begin the statement; leaving the context ends it. Raises whatever the driver raises."""

    @abstractmethod
    def _open_plan(self, run: StatementRun) -> AbstractContextManager[OpenStatement]:
        """Begin the statement's EXPLAIN, which runs nothing."""

    def _plan_text(self, columns: Sequence[str], rows: Sequence[Sequence[Value]]) -> tuple[str, ...]:  # noqa: ARG002
        """The rows of EXPLAIN as text lines: the last column, for engines that write a text."""
        return tuple(line.rstrip() for row in rows for line in str(row[-1]).splitlines() if line.strip())

    def _explain(self, message: str) -> str:
        """The engine's message, made fit for the user."""
        return message


async def in_statement_thread(work: Callable[[CancelToken], _T]) -> _T:
    """Run blocking work on statements off the event loop. Cancelling the awaiting task cancels the token."""
    cancel = CancelToken()
    run_context = contextvars.copy_context()  # the run that the statement belongs to
    running = asyncio.get_running_loop().run_in_executor(_statement_threads(), run_context.run, work, cancel)
    try:
        return await asyncio.shield(running)
    except asyncio.CancelledError:
        cancel.cancel()
        running.add_done_callback(lambda done: done.cancelled() or done.exception())  # nobody waits for it any more
        raise


@cache
def _statement_threads() -> ThreadPoolExecutor:
    """Threads for statements only, so that slow SQL cannot starve the loop's default executor."""
    return ThreadPoolExecutor(max_workers=64, thread_name_prefix="statement")


_MAX_SHARED = 64
_INFER_SECONDS = 3.0


class SchemaCache:
    """One database's schema. Threads that ask at the same time wait for the same reading."""

    _shared: ClassVar[OrderedDict[Hashable, SchemaCache]] = OrderedDict()
    _shared_lock = threading.Lock()

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept: tuple[Schema, str | None, float] | None = None

    @classmethod
    def shared(cls, identity: Hashable | None) -> SchemaCache:
        """The process's cache for this identity; a cache with identity None is never shared."""
        if identity is None:
            return cls()
        with cls._shared_lock:
            cache = cls._shared.pop(identity, None) or cls()
            cls._shared[identity] = cache
            if len(cls._shared) > _MAX_SHARED:
                cls._shared.popitem(last=False)
            return cache

    def get(self, ttl: float, *, sign: Callable[[], str | None], read: Callable[[], Schema]) -> Schema:
        """The cached schema if it is younger than `ttl` seconds and the sign is unchanged, otherwise a fresh reading.

        The sign is taken before the reading, so that a change in between is noticed next time.
        """
        with self._lock:
            now = time.monotonic()
            current = sign()
            if self._kept is not None:
                schema, then, read_at = self._kept
                if now - read_at < ttl and then == current:
                    return schema
            schema = read()
            self._kept = (schema, current, now)
            return schema


class OpenedDatabase(Database):
    """A database that this process has opened itself."""

    def __init__(self, target: Target, infer_keys: bool) -> None:
        self.name = target.name
        self.url = target.url
        self._target = target
        self._infer_keys = infer_keys
        self._lock = threading.Lock()
        self._closed = False

    @cached_property
    def _schema_cache(self) -> SchemaCache:
        """Created on first use: a database whose structure is never read takes no slot in the shared cache."""
        target = self._target
        identity = (self.dialect, self.url, target.address, target.options, self._infer_keys)
        return SchemaCache.shared(identity if target.path is not None or target.host else None)

    def _require_open(self) -> None:
        """Raises DatabaseError once the database is closed."""
        if self._closed:
            raise DatabaseError("the database has been closed")

    def _with_keys(self, schema: Schema, connection: Any) -> Schema:
        """The schema of a file with the keys that it implies, looked up on a connection that can be interrupted."""
        if not self._infer_keys:
            return schema
        with StatementRun.of_ours(self.dialect, _INFER_SECONDS).interrupting(connection.interrupt):
            return with_inferred_keys(schema, lambda sql: connection.execute(sql).fetchall())

    def _explain(self, message: str) -> str:
        return self._target.redact(message)

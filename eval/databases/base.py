"""The one interface over all engines: `Database`, its limits, its result, its errors.

In: a `ReadStatement` that the guard let through. Out: an `ExecutionResult` in every case; a failing, slow or
cancelled statement is a result with a status, never an exception. Opening and introspection raise `DatabaseError`.
"""

from __future__ import annotations

import asyncio
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeVar

from eval.schema import Dialect, Schema
from eval.sql.types import ReadStatement

if TYPE_CHECKING:
    from eval.databases.streaming import RowStream

_T = TypeVar("_T")

Value = object
"""A cell as Python sees it: None, bool, int, float, str, bytes, Decimal, date(time), time, timedelta, list, dict."""


class DatabaseError(Exception):
    """A database could not be opened or read. The message is for the user and holds no credentials."""


class DatabaseNotFound(DatabaseError):
    """The file, server or database named does not exist; nothing was created."""


class DatabaseUnreachable(DatabaseError):
    """The server did not answer or refused the login."""


class DriverMissing(DatabaseError):
    """The optional package for this engine is not installed; the message names the extra to install."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds on one statement."""

    seconds: float = 30.0
    """Deadline; the statement is interrupted in the engine when it passes."""
    rows: int = 10_000
    """Rows kept; one more is fetched to know whether there were more."""
    bytes: int = 32 * 1024 * 1024
    """Bytes of all kept cells together, roughly as JSON."""
    cell_bytes: int = 1024 * 1024
    """Bytes of one cell; a longer text or BLOB is cut and the result marked truncated."""


class CancelToken:
    """Lets another thread stop a running statement. Cancelling twice, or after the end, does nothing."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._cancelled = False
        self._interrupts: list[Callable[[], None]] = []

    @property
    def cancelled(self) -> bool:
        return self._cancelled

    def cancel(self) -> None:
        with self._lock:
            self._cancelled = True
            interrupts = list(self._interrupts)
        for interrupt in interrupts:
            interrupt()

    def on_cancel(self, interrupt: Callable[[], None]) -> Callable[[], None]:
        """Register what stops the statement (called at once if already cancelled); returns how to unregister it."""
        with self._lock:
            self._interrupts.append(interrupt)
            cancelled = self._cancelled
        if cancelled:
            interrupt()

        def forget() -> None:
            with self._lock:
                if interrupt in self._interrupts:
                    self._interrupts.remove(interrupt)

        return forget


Status = Literal["success", "error", "timeout", "cancelled"]


@dataclass(frozen=True, slots=True)
class ExecutionResult:
    """What came of one statement. `rows` are native values; `eval.databases.values.json_rows` makes them JSON."""

    status: Status
    columns: tuple[str, ...] = ()
    """Names as the engine gives them, duplicates kept."""
    rows: tuple[tuple[Value, ...], ...] = ()
    truncated: bool = False
    """True when rows, bytes or a cell were cut at a limit."""
    error: str | None = None
    """The engine's own message, verbatim but for credentials; set exactly when status is not `success`."""
    execution_time_ms: float = 0.0
    sql: str = ""
    """What was sent."""

    @property
    def ok(self) -> bool:
        return self.status == "success"


class Database(ABC):
    """A database opened for reading. Safe to use from several threads; each statement has its own connection
    state, and no statement can write, attach, load or reach outside the database."""

    dialect: Dialect
    name: str
    """Short name for people: the file's stem or the database's name."""
    url: str
    """Where it is, without credentials."""
    holds_rows: bool = True
    """False where only the structure is known: no value is worth looking up, and an empty result says nothing."""

    @abstractmethod
    def schema(self, *, ttl: float = 300.0) -> Schema:
        """The structure, introspected once and kept for `ttl` seconds; a change in the database is noticed earlier
        where the engine has a cheap sign of it (SQLite's schema_version). Raises DatabaseError."""

    @abstractmethod
    def execute(
        self, statement: ReadStatement, *, limits: Limits | None = None, cancel: CancelToken | None = None
    ) -> ExecutionResult:
        """Run one statement read-only within the limits. Blocking; never raises."""

    @abstractmethod
    def stream(
        self, statement: ReadStatement, *, limits: Limits | None = None, cancel: CancelToken | None = None
    ) -> RowStream:
        """Run one statement read-only and read its rows batch by batch, with the columns known first. Use as a
        context manager; blocking; never raises. `limits` are the caller's own, often larger than `execute`'s."""

    @abstractmethod
    def plan_lines(self, statement: ReadStatement) -> tuple[str, ...]:
        """The engine's query plan (EXPLAIN, never ANALYZE) as text lines; empty where it cannot be had."""

    def refusal(self, statement: ReadStatement) -> str | None:
        """The engine's own message where it refuses to prepare the statement, which is not run. None where it takes
        it, and where the engine is not asked (PostgreSQL and MySQL: a round trip that a dry run can do without)."""
        return None

    @abstractmethod
    def data_version(self) -> str:
        """A cheap sign of the data's state (file size and mtime, a change counter): equal means unchanged as far as
        the engine can tell. Keys caches of values and profiles."""

    def write_privileges(self) -> tuple[str, ...]:
        """What the login could write if it were asked outside of here ("may write to 3 tables"), for a warning; empty
        for files. Nothing that runs through here writes either way. Raises DatabaseError."""
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


async def in_statement_thread(work: Callable[[CancelToken], _T]) -> _T:
    """Run blocking work on statements off the event loop. Cancelling the awaiting task cancels the token."""
    cancel = CancelToken()
    running = asyncio.get_running_loop().run_in_executor(_statement_threads(), work, cancel)
    try:
        return await asyncio.shield(running)
    except asyncio.CancelledError:
        cancel.cancel()
        running.add_done_callback(lambda done: done.cancelled() or done.exception())  # nobody waits for it any more
        raise


_threads_lock = threading.Lock()
_threads: ThreadPoolExecutor | None = None


def _statement_threads() -> ThreadPoolExecutor:
    """Threads for statements alone, so that slow SQL cannot starve the loop's default executor."""
    global _threads
    with _threads_lock:
        if _threads is None:
            _threads = ThreadPoolExecutor(max_workers=64, thread_name_prefix="statement")
        return _threads

"""Types that every engine and every caller share: values, limits, resources, cancellation, results and errors.

A leaf module: it imports nothing from this package.
"""

from __future__ import annotations

import os
import stat
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from eval.errors import Text2SQLError
from eval.schema import Dialect

Value = object
"""A cell as Python sees it: None, bool, int, float, str, bytes, Decimal, date(time), time, timedelta, list, dict."""


class DatabaseError(Text2SQLError):
    """A database could not be opened or read. The message is for the user and holds no credentials."""


class DatabaseNotFound(DatabaseError):
    """The named file, server or database does not exist; nothing was created."""


class DatabaseUnreachable(DatabaseError):
    """The server did not answer or refused the login."""


class DriverMissing(DatabaseError):
    """The optional package for this engine is not installed; the message names the extra to install."""


@contextmanager
def driver_needed(message: str) -> Iterator[None]:
    """Around the import of a driver. Raises DriverMissing with the message."""
    try:
        yield
    except ImportError:
        raise DriverMissing(message) from None


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds on one statement."""

    seconds: float = 30.0
    """Deadline; the statement is interrupted in the engine when it passes."""
    spent: float = 0.0
    """Seconds of the deadline that have passed before the statement comes here, while it was read and checked."""
    rows: int = 10_000
    """Rows kept; one more is fetched to detect whether there were more."""
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
        """Register a function that stops the statement (called at once if already cancelled); returns a function that
        unregisters it."""
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
    """The result of one statement. `rows` are native values; `eval.databases.values.json_rows` makes them JSON."""

    status: Status
    columns: tuple[str, ...] = ()
    """Column names as the engine returns them, with duplicates."""
    rows: tuple[tuple[Value, ...], ...] = ()
    truncated: bool = False
    """True when rows, bytes or a cell were cut at a limit."""
    error: str | None = None
    """The engine's own message, verbatim except for credentials; set exactly when status is not `success`."""
    execution_time_ms: float = 0.0
    sql: str = ""
    """The SQL that was sent."""

    @property
    def ok(self) -> bool:
        return self.status == "success"


@dataclass(frozen=True, slots=True)
class Workspace:
    folder: Path
    memory_bytes: int
    """Memory for one statement."""
    temp_bytes: int
    """Disk space for all temporary files together."""

    def process_bytes(self, dialect: Dialect) -> int:
        """Address space above the idle process. DuckDB and chDB bound their own memory, and reserve more; chDB's
        library alone takes 3 GiB."""
        return self.memory_bytes * {"sqlite": 1, "clickhouse": 12}.get(dialect, 3)

    def temp_bytes_used(self) -> int:
        """Bytes of open files that no longer have a name, as SQLite's temporary files have none."""
        used = 0
        for handle in range(3, 64):
            try:
                s = os.fstat(handle)
            except OSError:
                continue
            if s.st_nlink == 0 and stat.S_ISREG(s.st_mode):
                used += s.st_size
        return used

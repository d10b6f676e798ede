"""One run of a statement: its limits, its deadline, its cancellation, and the stream of its rows.

`StatementRun`, in: SQL, limits and a token. An engine receives it and runs it, and returns an `OpenStatement`. While a
statement runs, a thread of its own waits for its deadline or cancellation, and then interrupts it repeatedly until it
has ended.

`RowStream`, for results that are paged, kept or exported and may not fit in memory: it knows its columns first, then
yields batches, and has a status at the end. Every failure is a status, never an exception. It keeps the caps on rows,
bytes and cells, and makes every cell one of the plain Python types that `types.Value` lists.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from datetime import time as time_of_day
from decimal import Decimal
from typing import Literal

from eval.databases.types import CancelToken, DatabaseError, Limits, Status, Value
from eval.schema import Dialect
from eval.statement import ReadStatement

_log = logging.getLogger("text2sql.databases")
_REPEAT_SECONDS = 0.05
SERVER_PATIENCE_SECONDS = 0.15
"""A server ends a statement at the deadline by its own clock. After this time it is interrupted from outside, which
costs the connection."""
_NEAR_DEADLINE_SECONDS = 0.25
_GIVE_UP_SECONDS = 0.5
"""A server that does not react to interrupts for this long loses its connection, so that the caller is free within a
second."""


class _Counter:
    """Counts statements that were abandoned since the start of this process; a server may still run them."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.count = 0

    def add(self) -> None:
        with self._lock:
            self.count += 1
        _log.warning("a statement did not stop when it was interrupted and was given up (%d so far)", self.count)


abandoned = _Counter()


class StatementRun:
    """Holds what to run, when it must stop, and why it stopped."""

    def __init__(
        self,
        statement: ReadStatement,
        limits: Limits | None = None,
        cancel: CancelToken | None = None,
        start_over: Callable[[], None] | None = None,
    ) -> None:
        self.statement = statement
        self.sql = statement.sql
        self.limits = limits or Limits()
        self.started = time.monotonic()
        self.deadline = self.started + self.limits.seconds - self.limits.spent
        self.stopped: Literal["timeout", "cancelled"] | None = None
        self.interrupted = False
        """Whether an interrupt was sent, which may still be on its way. Final once the block of `interrupting` has
        ended."""
        self.given_up = False
        """Whether the connection was closed on a statement that did not react."""
        self.settings: tuple[tuple[str, str], ...] = ()
        """Settings of the transaction, for engines that have row-level security (PostgreSQL)."""
        self.start_over = start_over
        """An engine that must begin a statement a second time calls it to forget all rows read so far. Where it is
        None, rows were handed on already, and the engine skips as many of them."""
        self._cancel = cancel
        self._lock = threading.Lock()
        self._deciding = threading.Lock()
        """Held while the end of the block or `interrupted` is set: a connection goes back to its pool if the block has
        ended and no interrupt was sent, so one of the two must come first."""

    @classmethod
    def of_ours(cls, dialect: Dialect, seconds: float) -> StatementRun:
        """A deadline for statements that this package writes itself, such as catalogue queries."""
        return cls(ReadStatement(sql="", dialect=dialect), Limits(seconds=seconds))

    @property
    def seconds_left(self) -> float:
        return max(0.0, self.deadline - time.monotonic())

    @property
    def stop_message(self) -> str:
        return "cancelled" if self.stopped == "cancelled" else f"stopped at the deadline of {self.limits.seconds:g} s"

    def expired(self) -> bool:
        """True when the statement must stop now; remembers the reason."""
        if self.stopped is None:
            if self._cancel is not None and self._cancel.cancelled:
                self.stopped = "cancelled"
            elif time.monotonic() > self.deadline:
                self.stopped = "timeout"
        return self.stopped is not None

    def ended_by_server(self) -> None:
        """A server's own limit has ended the statement. At the deadline that is a timeout; before it, the login has a
        limit of its own, whose message is the statement's error."""
        if self.stopped is None and self.seconds_left < _NEAR_DEADLINE_SECONDS:
            self.stopped = "timeout"

    def check_text(self, dialect: Dialect) -> None:
        """Raises DatabaseError when the SQL cannot be given to an engine of this dialect."""
        if self.statement.dialect != dialect:
            raise DatabaseError(f"a statement in {self.statement.dialect} was given to a {dialect} database")
        if "\0" in self.sql:
            raise DatabaseError("a statement cannot hold a null character")  # C libraries would end the text there

    @contextmanager
    def interrupting(
        self, interrupt: Callable[[], None], give_up: Callable[[], None] | None = None, *, patience: float = 0.0
    ) -> Iterator[None]:
        """While the block runs, call `interrupt` from another thread once the statement must stop: at once when it was
        cancelled, and `patience` seconds after the deadline.

        An interrupt can arrive between two steps and be lost, so it is repeated until the block ends. `give_up`
        (closing the connection) is called when interrupts have not helped. Neither is called after the block has ended.
        A slow interrupt is not waited for, though: its connection is not used again.
        """
        woken, ended = threading.Event(), threading.Event()
        forget = self._cancel.on_cancel(woken.set) if self._cancel is not None else None
        watch = (woken, ended, interrupt, give_up, patience)
        threading.Thread(target=self._watch, args=watch, name="deadline", daemon=True).start()
        try:
            yield
        finally:
            with self._deciding:
                ended.set()
            woken.set()
            if forget is not None:
                forget()
            if self._lock.acquire(timeout=0.2):
                self._lock.release()

    def _watch(
        self,
        woken: threading.Event,
        ended: threading.Event,
        interrupt: Callable[[], None],
        give_up: Callable[[], None] | None,
        patience: float,
    ) -> None:
        """Wait until the statement must stop; then interrupt it until its block has ended. `woken` is set when it was
        cancelled or has ended."""
        while not ended.is_set() and not self.expired():
            woken.wait(self.seconds_left)
        if ended.is_set():
            return
        if give_up is not None:
            threading.Thread(target=self._hang_up, args=(ended, give_up), name="give-up", daemon=True).start()
        if self.stopped == "timeout":
            time.sleep(patience)
        while not ended.is_set():
            with self._lock, suppress(Exception):
                with self._deciding:
                    if ended.is_set():
                        return
                    self.interrupted = True
                interrupt()
            time.sleep(_REPEAT_SECONDS)

    def _hang_up(self, ended: threading.Event, give_up: Callable[[], None]) -> None:
        if ended.wait(_GIVE_UP_SECONDS):
            return
        self.given_up = True
        abandoned.add()
        while not ended.is_set():
            with suppress(Exception):
                give_up()
            time.sleep(_REPEAT_SECONDS)


@dataclass(frozen=True, slots=True)
class OpenStatement:
    """A statement that an engine has started to answer."""

    columns: tuple[str, ...]
    rows: Iterator[tuple[Value, ...]]
    """Row by row, so that at most one row is in memory beyond the caps. Raises whatever the driver raises."""
    truncated: Callable[[], bool] = bool
    """Whether the other end has already cut rows or cells."""


Opener = Callable[[StatementRun], AbstractContextManager[OpenStatement]]
"""Begins a statement, and ends it when the context exits; raises whatever the driver raises."""


_FIXED_SIZE: dict[type, int] = {  # rough sizes as JSON; no engine here has an int of more than 128 bits
    type(None): 4,
    bool: 5,
    int: 8,
    float: 12,
    date: 12,
    datetime: 28,
    time_of_day: 10,
    timedelta: 12,
}
_PER_ROW = 2


def plain_value(value: object) -> Value:
    """Convert a driver's own type (UUID, network address, memoryview, range) to one that `types.Value` lists."""
    if isinstance(value, (memoryview, bytearray)):
        return bytes(value)
    if isinstance(value, (bool, int, float, str, bytes, Decimal, date, time_of_day, timedelta)):
        return value
    if isinstance(value, dict):
        return {str(plain_value(k)): plain_value(v) for k, v in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [plain_value(v) for v in value]
    return None if value is None else str(value)


BATCH_BYTES = 2 * 1024 * 1024
"""A batch ends with the row that reaches this size."""
BATCH_ROWS = 2000
_FIRST_BATCH = 100


class RowStream:
    """One running statement. Use it as a context manager; iterate once; read the status afterwards.

    Only one thread may use it at a time, but each step may come from another thread. The deadline counts from entering
    and continues while the reader pauses. Memory is bounded by a batch: about `BATCH_BYTES`, at least one row.
    """

    def __init__(
        self,
        statement: ReadStatement,
        dialect: Dialect,
        limits: Limits | None,
        cancel: CancelToken | None,
        opener: Opener,
        explain: Callable[[str], str],
        start_over: Callable[[], None] | None = None,
    ) -> None:
        """`explain` makes the engine's message fit for the user. If `start_over` is given, the engine may restart the
        statement after rows were delivered; it then calls `start_over` to discard them."""
        self.sql = statement.sql
        self.columns: tuple[str, ...] = ()
        """Column names as the engine returns them, known on entering; empty when the statement failed."""
        self.status: Status | None = None
        """None while more rows may follow; a stream that is closed early ends as `cancelled`."""
        self.error: str | None = None
        """The engine's own message, verbatim except for credentials; set exactly when the status is not `success`."""
        self.truncated = False
        """True when rows, bytes or a cell were cut at a limit; the status is still `success`."""
        self.rows_read = 0
        self.bytes_read = 0
        """Bytes of all rows so far, roughly as JSON."""
        self.execution_time_ms = 0.0
        self._statement = statement
        self._dialect = dialect
        self._limits = limits or Limits()
        self._cancel = cancel
        self._opener = opener
        self._explain = explain
        self._start_over = start_over
        self._context: AbstractContextManager[OpenStatement] | None = None
        self._open: OpenStatement | None = None
        self._batch: list[tuple[Value, ...]] = []
        self._all_read = False
        """True when there are no more rows, or a cap was reached."""

    @property
    def ok(self) -> bool:
        return self.status == "success"

    def __enter__(self) -> RowStream:
        restart = self._restart if self._start_over is not None else None
        self._run = StatementRun(self._statement, self._limits, self._cancel, restart)
        try:
            self._run.check_text(self._dialect)
            if self._run.expired():
                self._end(None)
                return self
            self._context = self._opener(self._run)
            self._open = self._context.__enter__()
            self.columns = self._open.columns
        except Exception as e:  # noqa: BLE001 (drivers raise what they like, and a status is promised in every case)
            self._context = None
            self._end(e)
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __iter__(self) -> Iterator[list[tuple[Value, ...]]]:
        while self.status is None and (batch := self._next()):
            yield batch

    def close(self) -> None:
        """End the statement in the engine, if it still runs. Closing twice does nothing."""
        if self.status is None:
            self._run.stopped = self._run.stopped or "cancelled"
            self._end(None)

    def _next(self) -> list[tuple[Value, ...]]:
        batch: list[tuple[Value, ...]] = []
        try:
            if not self._run.expired() and self._open is not None:
                batch = self._read_batch(self._open.rows)
                self.truncated = self.truncated or self._open.truncated()
                if batch and not self._all_read:
                    return batch
        except Exception as e:  # noqa: BLE001
            self._end(e)
            return []
        self._end(None)
        return batch if self.ok else []

    def _read_batch(self, rows: Iterator[Sequence[object]]) -> list[tuple[Value, ...]]:
        """The next rows: at most `BATCH_ROWS`, and not many more than `BATCH_BYTES`."""
        limits, fixed_sizes, batch = self._limits, _FIXED_SIZE, self._batch
        most_rows, before = BATCH_ROWS if self.rows_read else _FIRST_BATCH, self.bytes_read
        for row in rows:
            if self.rows_read >= limits.rows:
                self.truncated = self._all_read = True
                break
            size = _PER_ROW
            for cell in row:
                fixed = fixed_sizes.get(type(cell))
                if fixed is not None:
                    size += fixed
                elif type(cell) is str and len(cell) <= limits.cell_bytes:
                    size += len(cell) + 3
                else:  # the row holds a value that must be cut or converted
                    size, row = self._converted(row)
                    break
            if self.bytes_read + size > limits.bytes:
                self.truncated = self._all_read = True
                break
            self.bytes_read += size
            self.rows_read += 1
            batch.append(row if type(row) is tuple else tuple(row))
            if len(batch) >= most_rows or self.bytes_read - before >= BATCH_BYTES:
                break
        else:
            self._all_read = True
        self._batch = []
        return batch

    def _converted(self, row: Sequence[object]) -> tuple[int, tuple[Value, ...]]:
        """The row's size and the row with each cell a plain value within the limit."""
        size, cells = _PER_ROW, []
        for cell in row:
            if type(cell) not in _FIXED_SIZE:
                cell = plain_value(cell)
                if isinstance(cell, (str, bytes)) and len(cell) > self._limits.cell_bytes:
                    cell = cell[: self._limits.cell_bytes]
                    self.truncated = True
            fixed = _FIXED_SIZE.get(type(cell))
            size += len(cell) + 3 if isinstance(cell, (str, bytes)) else (fixed or len(str(cell)))
            cells.append(cell)
        return size, tuple(cells)

    def _restart(self) -> None:
        """Forget the rows so far, for a statement that is run a second time."""
        assert self._start_over is not None
        self._batch.clear()
        self.bytes_read = self.rows_read = 0
        self.truncated = self._all_read = False
        self._start_over()

    def _end(self, error: Exception | None) -> None:
        context, self._context, self._open = self._context, None, None
        if context is not None:
            try:
                if error is None:
                    context.__exit__(None, None, None)
                else:
                    context.__exit__(type(error), error, error.__traceback__)
            except Exception as e:  # noqa: BLE001 (an engine may reword the error on its way out)
                error = e
        self.execution_time_ms = (time.monotonic() - self._run.started) * 1000
        if self._run.stopped is not None:  # also when the engine then returned a value without an error
            self.status, self.error = self._run.stopped, self._run.stop_message
        elif error is not None:
            self.status, self.error = "error", self._explain(str(error).strip() or type(error).__name__)
        else:
            self.status = "success"
        if self.status != "success":
            self.truncated = False

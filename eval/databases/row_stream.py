"""Stream the rows of one statement, for results that are paged, kept or exported and may not fit in memory.

In: a `StatementRun` and the engine's function to open it. Out: a `RowStream`, which knows its columns first, then
yields batches, and has a status at the end. Every failure is a status, never an exception. `RowCollector` keeps the
caps on rows, bytes and cells, and makes every cell one of the plain Python types that `types.Value` lists.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from time import monotonic

from eval.databases.statement_run import Opener, OpenStatement, StatementRun
from eval.databases.types import CancelToken, Limits, Status, Value
from eval.schema import Dialect
from eval.statement import ReadStatement

_FIXED_SIZE: dict[type, int] = {  # rough sizes as JSON; no engine here has an int of more than 128 bits
    type(None): 4,
    bool: 5,
    int: 8,
    float: 12,
    date: 12,
    datetime: 28,
    time: 10,
    timedelta: 12,
}
_PER_ROW = 2


class RowCollector:
    """Takes rows until they end or a cap is reached."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._batch: list[tuple[Value, ...]] = []
        self.clear()

    def clear(self) -> None:
        """Start again, for a statement that is run a second time."""
        self._batch.clear()
        self.bytes = 0
        """Bytes of all rows so far, roughly as JSON."""
        self.rows = 0
        self.truncated = False
        self.ended = False
        """True when there are no more rows, or a cap was reached."""

    def next_batch(self, rows: Iterator[Sequence[object]], most_rows: int, most_bytes: int) -> list[tuple[Value, ...]]:
        """The next rows: at most `most_rows`, and not many more than `most_bytes`."""
        limits, fixed_sizes, batch = self._limits, _FIXED_SIZE, self._batch
        before = self.bytes
        for row in rows:
            if self.rows >= limits.rows:
                self.truncated = self.ended = True
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
            if self.bytes + size > limits.bytes:
                self.truncated = self.ended = True
                break
            self.bytes += size
            self.rows += 1
            batch.append(row if type(row) is tuple else tuple(row))
            if len(batch) >= most_rows or self.bytes - before >= most_bytes:
                break
        else:
            self.ended = True
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


def plain_value(value: object) -> Value:
    """Convert a driver's own type (UUID, network address, memoryview, range) to one that `types.Value` lists."""
    if isinstance(value, (memoryview, bytearray)):
        return bytes(value)
    if isinstance(value, (bool, int, float, str, bytes, Decimal, date, time, timedelta)):
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
        self._collector = RowCollector(self._limits)

    @property
    def bytes_read(self) -> int:
        """Bytes of all rows so far, roughly as JSON."""
        return self._collector.bytes

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
                most_rows = BATCH_ROWS if self.rows_read else _FIRST_BATCH
                batch = self._collector.next_batch(self._open.rows, most_rows, BATCH_BYTES)
                self.rows_read = self._collector.rows
                self.truncated = self._collector.truncated or self._open.truncated()
                if batch and not self._collector.ended:
                    return batch
        except Exception as e:  # noqa: BLE001
            self._end(e)
            return []
        self._end(None)
        return batch if self.ok else []

    def _restart(self) -> None:
        assert self._start_over is not None
        self._collector.clear()
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
        self.execution_time_ms = (monotonic() - self._run.started) * 1000
        if self._run.stopped is not None:  # also when the engine then returned a value without an error
            self.status, self.error = self._run.stopped, self._run.stop_message
        elif error is not None:
            self.status, self.error = "error", self._explain(str(error).strip() or type(error).__name__)
        else:
            self.status = "success"
        if self.status != "success":
            self.truncated = False

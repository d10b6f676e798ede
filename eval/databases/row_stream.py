"""Stream the rows of one statement, for results that are paged, kept or exported and may not fit in memory.

In: a `StatementRun` and the engine's function to open it. Out: a `RowStream`, which knows its columns first, then
yields batches, and has a status at the end. Every failure is a status, never an exception.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager

from eval.databases.row_collector import RowCollector
from eval.databases.statement_run import Opener, OpenStatement, StatementRun
from eval.databases.types import CancelToken, Limits, Status, Value
from eval.schema import Dialect
from eval.statement import ReadStatement

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
        self.execution_time_ms = (time.monotonic() - self._run.started) * 1000
        if self._run.stopped is not None:  # also when the engine then returned a value without an error
            self.status, self.error = self._run.stopped, self._run.stop_message
        elif error is not None:
            self.status, self.error = "error", self._explain(str(error).strip() or type(error).__name__)
        else:
            self.status = "success"
        if self.status != "success":
            self.truncated = False

"""Rows of one statement as they come: for results that are paged, kept or exported and may not fit in memory.

In: a statement, limits, a token and the engine's own way to open an answer. Out: a `RowStream`, which knows its
columns first, then hands on batches and says at the end how it went. Whatever happens is a status, never an exception.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager

from eval.databases.base import CancelToken, Limits, Status, Value
from eval.databases.collecting import RowCollector
from eval.databases.running import Answer, Open, Watch, checked_text, stopped_error
from eval.schema import Dialect
from eval.sql.types import ReadStatement

BATCH_BYTES = 2 * 1024 * 1024
"""What a batch of rows is meant to weigh; the rows seen so far tell how many that are."""
BATCH_ROWS = 2000
_FIRST_BATCH = 100


class RowStream:
    """One statement while it runs. Use as a context manager; iterate once; read the status afterwards.

    Not for two threads at a time, but each step may come from another thread. The deadline counts from entering and
    goes on while the reader pauses. Memory is bounded by a batch: about `BATCH_BYTES`, at least one row.
    """

    def __init__(
        self,
        statement: ReadStatement,
        dialect: Dialect,
        limits: Limits | None,
        cancel: CancelToken | None,
        open_answer: Open,
        explain: Callable[[str], str],
    ) -> None:
        self.sql = statement.sql
        self.columns: tuple[str, ...] = ()
        """Names as the engine gives them, known on entering; empty when the statement failed."""
        self.status: Status | None = None
        """None while rows may still come; a stream that was left early ends as `cancelled`."""
        self.error: str | None = None
        """The engine's own message, verbatim but for credentials; set exactly when the status is not `success`."""
        self.truncated = False
        """True when rows, bytes or a cell were cut at a limit; the status is then `success` all the same."""
        self.rows_read = 0
        self.execution_time_ms = 0.0
        self._statement = statement
        self._dialect = dialect
        self._limits = limits or Limits()
        self._cancel = cancel
        self._open = open_answer
        self._explain = explain
        self._opened: AbstractContextManager[Answer] | None = None
        self._answer: Answer | None = None
        self._collector = RowCollector(self._limits)

    @property
    def ok(self) -> bool:
        return self.status == "success"

    def __enter__(self) -> RowStream:
        self._started = time.monotonic()
        self._watch = Watch(self._limits.seconds, self._cancel)
        try:
            sql = checked_text(self._statement, self._dialect)
            if self._watch.expired():
                self._end(None)
                return self
            self._opened = self._open(sql, self._watch, None)
            self._answer = self._opened.__enter__()
            self.columns = self._answer.columns
        except Exception as e:  # noqa: BLE001 (drivers raise what they like, and a status is promised in every case)
            self._opened = None
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
            self._watch.stopped = self._watch.stopped or "cancelled"
            self._end(None)

    def _next(self) -> list[tuple[Value, ...]]:
        collector = self._collector
        batch: list[tuple[Value, ...]] = []
        try:
            if not self._watch.expired() and self._answer is not None:
                fetched = self._answer.fetch(self._count())
                collector.add(fetched)
                batch = collector.take()
                self.rows_read += len(batch)
                self.truncated = collector.truncated
                if fetched and not collector.full:
                    return batch
        except Exception as e:  # noqa: BLE001
            self._end(e)
            return []
        self._end(None)
        return batch if self.status == "success" else []

    def _count(self) -> int:
        left = self._limits.rows + 1 - self.rows_read
        if not self.rows_read:
            return max(1, min(_FIRST_BATCH, left))
        weight = max(1, self._collector.bytes // self.rows_read)
        return max(1, min(BATCH_ROWS, BATCH_BYTES // weight, left))

    def _end(self, error: Exception | None) -> None:
        opened, self._opened, self._answer = self._opened, None, None
        if opened is not None:
            try:
                if error is None:
                    opened.__exit__(None, None, None)
                else:
                    opened.__exit__(type(error), error, error.__traceback__)
            except Exception as e:  # noqa: BLE001 (an engine may reword the error on its way out)
                error = e
        self.execution_time_ms = (time.monotonic() - self._started) * 1000
        if self._watch.stopped is not None:
            self.status, self.error = self._watch.stopped, stopped_error(self._watch.stopped, self._limits)
        elif error is not None:
            self.status, self.error = "error", self._explain(str(error).strip() or type(error).__name__)
        else:
            self.status = "success"
        if self.status != "success":
            self.truncated = False

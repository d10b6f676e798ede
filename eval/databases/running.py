"""One statement's run: its deadline, its cancellation, and whatever happens turned into an `ExecutionResult`.

In: a statement, limits, a token and the engine's own way to run it. Out: a result, always. `Watch` is how a running
statement is stopped: an engine that can ask (SQLite's progress handler) calls `expired`; for the others a thread
interrupts the statement in the engine, again and again until it has ended.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass
from typing import Literal

from eval.databases.base import CancelToken, DatabaseError, ExecutionResult, Limits, Status
from eval.databases.collecting import RowCollector
from eval.schema import Dialect
from eval.sql.types import ReadStatement

_REPEAT_SECONDS = 0.05
_GIVE_UP_SECONDS = 3.0


class Watch:
    """Knows when one statement must stop, and why it did."""

    def __init__(self, seconds: float, cancel: CancelToken | None) -> None:
        self.deadline = time.monotonic() + seconds
        self.stopped: Literal["timeout", "cancelled"] | None = None
        self._cancel = cancel
        self._lock = threading.Lock()

    @property
    def seconds_left(self) -> float:
        return max(0.0, self.deadline - time.monotonic())

    def expired(self) -> bool:
        """True when the statement must stop now; remembers the reason."""
        if self.stopped is None:
            if self._cancel is not None and self._cancel.cancelled:
                self.stopped = "cancelled"
            elif time.monotonic() > self.deadline:
                self.stopped = "timeout"
        return self.stopped is not None

    @contextmanager
    def interrupting(self, interrupt: Callable[[], None], give_up: Callable[[], None] | None = None) -> Iterator[None]:
        """While the block runs, call `interrupt` from another thread once the statement must stop.

        An interrupt can arrive between two steps and be lost, so it is repeated until the block ends; a server that
        does not react for some seconds is given up by `give_up` (closing the connection). Neither is ever called
        after the block has ended.
        """
        wake = threading.Event()
        ended = False

        def act(what: Callable[[], None]) -> None:
            with self._lock:
                if not ended:
                    with suppress(Exception):
                        what()

        def stand_by() -> None:
            while not wake.wait(self.seconds_left) and not self.expired():
                pass
            if ended or not self.expired():
                return
            patience = time.monotonic() + _GIVE_UP_SECONDS
            while not ended:
                act(give_up if give_up is not None and time.monotonic() > patience else interrupt)
                time.sleep(_REPEAT_SECONDS)

        forget = self._cancel.on_cancel(wake.set) if self._cancel is not None else None
        thread = threading.Thread(target=stand_by, name="deadline", daemon=True)
        thread.start()
        try:
            yield
        finally:
            with self._lock:
                ended = True
            wake.set()
            if forget is not None:
                forget()


@dataclass(frozen=True, slots=True)
class Answer:
    """A statement that an engine has begun to answer."""

    columns: tuple[str, ...]
    fetch: Callable[[int], Sequence[Sequence[object]]]
    """At most so many rows more; none at the end. Raises whatever the driver raises."""


Open = Callable[[str, Watch, Callable[[], None] | None], AbstractContextManager[Answer]]
"""Begins the SQL and ends it when the context is left; raises whatever the driver raises.

An engine that must begin a statement a second time calls the third argument, which forgets all rows handed on; where
it is None, rows handed on are gone, and the engine passes over as many of them."""


def checked_text(statement: ReadStatement, dialect: Dialect) -> str:
    """The SQL, if an engine of this dialect may be given it. Raises DatabaseError."""
    if statement.dialect != dialect:
        raise DatabaseError(f"a statement in {statement.dialect} was given to a {dialect} database")
    if "\0" in statement.sql:
        raise DatabaseError("a statement cannot hold a null character")  # C libraries would end the text there
    return statement.sql


def stopped_error(reason: Literal["timeout", "cancelled"], limits: Limits) -> str:
    return "cancelled" if reason == "cancelled" else f"stopped at the deadline of {limits.seconds:g} s"


def run_statement(
    statement: ReadStatement,
    dialect: Dialect,
    limits: Limits | None,
    cancel: CancelToken | None,
    open_answer: Open,
    explain: Callable[[str], str],
) -> ExecutionResult:
    """Run within the limits; `explain` makes the engine's message fit for the user. Never raises."""
    limits = limits or Limits()
    started = time.monotonic()
    watch = Watch(limits.seconds, cancel)
    collector = RowCollector(limits)
    columns: tuple[str, ...] = ()
    error: str | None = None
    try:
        sql = checked_text(statement, dialect)
        if not watch.expired():
            with open_answer(sql, watch, collector.clear) as answer:
                columns = answer.columns
                collector.fill(answer.fetch)
    except Exception as e:  # noqa: BLE001 (drivers raise what they like, and a result is promised in every case)
        error = explain(str(e).strip() or type(e).__name__)
    status: Status = "success" if error is None else "error"
    if watch.stopped is not None:  # also where the engine then returned a value without an error
        status = watch.stopped
        error = stopped_error(watch.stopped, limits)
    return ExecutionResult(
        status=status,
        columns=columns if error is None else (),
        rows=tuple(collector.rows) if error is None else (),
        truncated=collector.truncated and error is None,
        error=error,
        execution_time_ms=(time.monotonic() - started) * 1000,
        sql=statement.sql,
    )

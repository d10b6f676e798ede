"""One run of a statement: its limits, its deadline, its cancellation.

In: SQL, limits and a token. Out: a `StatementRun`, which an engine receives and runs; the engine returns an
`OpenStatement`. While a statement runs, a thread of its own waits for its deadline or cancellation, and then interrupts
it repeatedly until it has ended.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass
from typing import Literal

from eval.databases.types import CancelToken, DatabaseError, Limits, Value
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

"""A file database whose statements run in child processes.

In: a `Target` and the same database opened in this process, which reads the structure with our own statements only.
Out: a `Database`. Statements from outside never run in this process.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import replace
from functools import partial
from typing import Literal

from eval.databases.base import Database
from eval.databases.isolation.child import Request
from eval.databases.isolation.messages import receive, send
from eval.databases.isolation.workers import Worker, workers
from eval.databases.row_stream import RowStream
from eval.databases.statement_run import OpenStatement, StatementRun
from eval.databases.types import DatabaseError, Limits, Value
from eval.databases.urls import Target, file_identity
from eval.schema import Schema
from eval.statement import ReadStatement

_EXTRA_BYTES = 16 << 20
_LOST = "the engine's process ended while it ran this statement: it crashed, or needed more memory than it may use"


class IsolatedDatabase(Database):
    def __init__(self, target: Target, direct: Database) -> None:
        self.dialect = direct.dialect
        self.name = direct.name
        self.url = direct.url
        self._target = target
        self._direct = direct
        self._file = file_identity(target)
        self._closed = False
        threading.Thread(target=self._warm, name="warm", daemon=True).start()

    def schema(self, *, ttl: float = 300.0) -> Schema:
        return self._direct.schema(ttl=ttl)

    def data_version(self) -> str:
        return self._direct.data_version()

    def write_privileges(self) -> tuple[str, ...]:
        return self._direct.write_privileges()

    def refusal(self, statement: ReadStatement) -> str | None:
        limits, opener = Limits(seconds=5.0), partial(self._ask, "refusal")
        with RowStream(statement, self.dialect, limits, None, opener, str) as stream:
            rows = [row for batch in stream for row in batch]
        if stream.status == "error":
            return stream.error
        return str(rows[0][0]) if rows and rows[0][0] is not None else None

    def close(self) -> None:
        self._closed = True
        workers.retire(self._target)
        self._direct.close()

    def _open(self, run: StatementRun) -> AbstractContextManager[OpenStatement]:
        return self._ask("rows", run)

    def _open_plan(self, run: StatementRun) -> AbstractContextManager[OpenStatement]:
        return self._ask("plan", run)

    def _plan_text(self, columns: Sequence[str], rows: Sequence[Sequence[Value]]) -> tuple[str, ...]:
        return self._direct._plan_text(columns, rows)

    @contextmanager
    def _ask(self, kind: Literal["rows", "plan", "refusal"], run: StatementRun) -> Iterator[OpenStatement]:
        worker = self._worker(run)
        reply = _Reply(worker, run)

        def stop_cancelled() -> None:
            """At its deadline a child stops by itself and gets some time to do so; when the caller no longer waits, it
            gets none."""
            if run.stopped == "cancelled":
                worker.kill()

        try:
            with run.interrupting(stop_cancelled, worker.kill):
                yield OpenStatement(reply.begin(kind), reply.rows(), lambda: reply.truncated)
        finally:
            if reply.usable and not self._closed:
                workers.give_back(worker)
            else:
                workers.discard(worker)

    def _worker(self, run: StatementRun) -> Worker:
        if self._closed:
            raise DatabaseError("the database has been closed")
        if (file := file_identity(self._target)) != self._file:  # another file was moved to this path
            workers.retire(self._target)
            self._file = file
        try:
            return workers.take(self._target, run.seconds_left)
        except TimeoutError:
            run.stopped = "timeout"
            raise DatabaseError("too many statements run on this database") from None

    def _warm(self) -> None:
        with suppress(DatabaseError, TimeoutError):
            workers.give_back(workers.take(self._target, 0.0))
        if self._closed:
            workers.retire(self._target)


class _Reply:
    """A child's reply to one statement."""

    def __init__(self, worker: Worker, run: StatementRun) -> None:
        self._worker = worker
        self._run = run
        self._rows: list[tuple[Value, ...]] = []
        self.truncated = False
        self.ended = False
        self.usable = False

    def begin(self, kind: Literal["rows", "plan", "refusal"]) -> tuple[str, ...]:
        run = self._run
        limits = replace(run.limits, seconds=run.seconds_left, spent=0.0)
        try:
            send(self._worker.connection, Request(kind, run.statement, limits))
        except OSError:
            raise DatabaseError(_LOST) from None
        return self._next() or ()

    def rows(self) -> Iterator[tuple[Value, ...]]:
        while True:
            rows, self._rows = self._rows, []
            yield from rows
            if self.ended:
                return
            self._next()

    def _next(self) -> tuple[str, ...] | None:
        try:
            columns, self._rows, end = receive(self._worker.connection, self._run.limits.bytes * 4 + _EXTRA_BYTES)
        except (EOFError, OSError):
            self._run.expired()
            raise DatabaseError(_LOST) from None
        if end is not None:
            self.ended = True
            status, error, self.truncated, self.usable = end
            if status == "timeout":
                self._run.stopped = self._run.stopped or "timeout"
            if status != "success":
                raise DatabaseError(str(error))
        return columns  # type: ignore[no-any-return]

"""`Database`: the one interface to all engines.

In: a `ReadStatement` that the guard allowed. Out: always an `ExecutionResult`; a failing, slow or cancelled statement
is a result with a status, never an exception. Opening and introspection raise `DatabaseError`.
"""

from __future__ import annotations

import asyncio
import contextvars
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from functools import cache
from typing import TYPE_CHECKING, TypeVar

from eval.databases.row_stream import RowStream
from eval.databases.statement_run import OpenStatement, StatementRun
from eval.databases.types import CancelToken, ExecutionResult, Limits, Value
from eval.schema import Dialect, Schema
from eval.statement import ReadStatement
from eval.threads import waiting

if TYPE_CHECKING:
    from eval.sql import ParsedQuery

__all__ = ["Database", "in_statement_thread"]

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

"""`ServerDatabase`: what PostgreSQL, MySQL and ClickHouse share: a small pool of connections, reading the schema.

In: a `Target` with a host; an engine says how to connect, begin a read-only transaction, interrupt it, clean up after
it and read its catalogue. Out: a `Database`. A connection returns to the pool only after a statement that left it
clean.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from typing import Any, ClassVar, Generic, TypeVar

from eval.databases.base import OpenedDatabase
from eval.databases.inference import with_inferred_keys
from eval.databases.statement_run import StatementRun
from eval.databases.types import DatabaseError, DatabaseNotFound, DatabaseUnreachable
from eval.databases.urls import Target
from eval.schema import Schema

CATALOGUE_SECONDS = 30.0
_COUNT_SECONDS = 2.0
_KEPT = 8

MOST_LEFT_RUNNING = 4
"""Statements of one database that may run on in the server after they were given up; then no further one begins."""

C = TypeVar("C")
"""The driver's connection."""


class ServerDatabase(OpenedDatabase, Generic[C]):
    _sign_sql: ClassVar[str]
    """A cheap statement whose rows show the structure's state, always up to date."""
    _working_sql: ClassVar[str]
    """The sessions that are at work."""
    _left_running_at: ClassVar[dict[tuple[str, str], set[int]]] = {}
    """Sessions of given-up statements by database, for all of its openings."""

    def __init__(self, target: Target, *, infer_keys: bool = True, connect_seconds: float = 5.0) -> None:
        super().__init__(target, infer_keys)
        self._connect_seconds = connect_seconds
        self._free: list[C] = []
        self._left_running = self._left_running_at.setdefault((self.dialect, self.url), set())
        self._give_back(self._connect())

    def schema(self, *, ttl: float = 300.0) -> Schema:
        with self._driver_errors(f"cannot read the structure of {self.url}: "):
            return self._schema_cache.get(
                ttl, sign=lambda: repr(self._catalogue(self._sign_sql)), read=self._read_schema
            )

    def close(self) -> None:
        with self._lock:
            self._closed = True
            free, self._free = self._free, []
        for connection in free:
            self._drop(connection)

    # What each engine implements

    @abstractmethod
    def _read_catalogue(self) -> Schema:
        """Read the structure by `_catalogue`, and count rows by `_count`, with few statements of our own."""

    @abstractmethod
    def _connect(self) -> C: ...

    @abstractmethod
    def _drop(self, connection: C) -> None:
        """Close at once."""

    @abstractmethod
    def _start(self, connection: C, run: StatementRun) -> None:
        """Begin a read-only transaction."""

    @abstractmethod
    def _interrupting(self, connection: C, run: StatementRun) -> AbstractContextManager[None]:
        """`run.interrupting` with the ways to end the connection's statement."""

    @abstractmethod
    def _can_go_on(self, connection: C, run: StatementRun) -> bool:
        """Clean up after a statement; whether the connection may run another one. May raise instead of returning
        False."""

    @abstractmethod
    def _fetch(self, connection: C, sql: str, run: StatementRun) -> list[tuple[Any, ...]]:
        """All rows of one of our own statements."""

    @abstractmethod
    def _session(self, connection: C) -> int:
        """The session of a connection, or its statement, as `_sessions` names it."""

    def _sessions(self) -> set[int]:
        """The sessions of this login that are at work in the server."""
        return {int(row[0]) for row in self._catalogue(self._working_sql, 2.0)}

    @abstractmethod
    def _errors(self) -> tuple[type[Exception], ...]:
        """What the driver raises."""

    @abstractmethod
    def _lost(self) -> tuple[type[Exception], ...]:
        """The driver's exceptions for a connection that the server has closed."""

    def _is_over_time(self, error: Exception) -> bool:  # noqa: ARG002
        """Whether the server's own limit on time has ended the statement."""
        return False

    def _survives(self, error: Exception) -> bool:  # noqa: ARG002
        """Whether the connection is still there after an error; `_can_go_on` may find out as well."""
        return True

    # How a statement runs

    @contextmanager
    def _reading(self, run: StatementRun) -> Iterator[C]:
        """A connection in a read-only transaction. Its statement is interrupted when the run must stop. It returns to
        the pool only when no interrupt can still be on its way to it, and when its session is clean."""
        connection = self._begin(run)
        session, whole = self._session(connection), False
        try:
            with self._interrupting(connection, run):
                yield connection
            whole = True
        except Exception as error:
            if self._is_over_time(error):
                run.ended_by_server()
            whole = self._survives(error)
            raise
        finally:
            if run.given_up:
                self._left_running.add(session)
            clean = False
            if whole and not (run.interrupted or run.given_up):
                with suppress(Exception):
                    clean = self._can_go_on(connection, run)
            if clean:
                self._give_back(connection)
            else:
                self._drop(connection)

    def _begin(self, run: StatementRun) -> C:
        """A pooled connection, else a new one, in a read-only transaction. Raises DatabaseError once closed, and while
        too many statements run on in the server."""
        if run.sql and len(left := set(self._left_running)) >= MOST_LEFT_RUNNING:
            with suppress(Exception):  # whoever cannot ask counts them as running
                self._left_running.difference_update(left - self._sessions())
            if len(self._left_running) >= MOST_LEFT_RUNNING:
                raise DatabaseError(
                    f"{len(self._left_running)} earlier statements run on in the server although their time was over; "
                    "nothing more is sent to it until they have ended"
                )
        while True:
            with self._lock:
                self._require_open()
                kept = self._free.pop() if self._free else None
            connection = kept or self._connect()
            try:
                self._start(connection, run)
                return connection
            except self._lost():
                self._drop(connection)
                if kept is None:
                    raise  # a fresh connection fails: the server is unreachable

    @contextmanager
    def _spare(self) -> Iterator[C]:
        """A second connection, to end the statement of another one."""
        with self._lock:
            free = self._free.pop() if self._free else None
        connection = free or self._connect()
        try:
            yield connection
        except BaseException:
            self._drop(connection)
            raise
        self._give_back(connection)

    def _give_back(self, connection: C) -> None:
        with self._lock:
            if not self._closed and len(self._free) < _KEPT:
                self._free.append(connection)
                return
        self._drop(connection)

    # How the structure is read

    def _catalogue(self, sql: str, seconds: float = CATALOGUE_SECONDS) -> list[tuple[Any, ...]]:
        run = StatementRun.of_ours(self.dialect, seconds)
        with self._reading(run) as connection:
            return self._fetch(connection, sql, run)

    def _read_schema(self) -> Schema:
        schema = self._read_catalogue()
        return with_inferred_keys(schema, self._count) if self._infer_keys else schema

    def _count(self, sql: str) -> list[tuple[Any, ...]]:
        """The rows of one of our own statements; none if it takes too long."""
        try:
            return self._catalogue(sql, _COUNT_SECONDS)
        except Exception:  # noqa: BLE001 (too slow, or a table that may not be read: the estimates stay)
            return []

    @contextmanager
    def _driver_errors(self, doing: str = "") -> Iterator[None]:
        """Raise the driver's errors as DatabaseError, in words for the user that begin with `doing`."""
        try:
            yield
        except self._errors() as error:
            raise DatabaseError(f"{doing}{self._explain(self._text(error))}") from None

    def _text(self, error: Exception) -> str:
        return str(error)


def no_database(target: Target) -> DatabaseError:
    return DatabaseNotFound(f"no database {target.database!r} on the server at {target.where}")


def login_refused(target: Target) -> DatabaseError:
    who = target.user or "the default user"
    return DatabaseUnreachable(f"the server at {target.where} refused the login of {who!r}")

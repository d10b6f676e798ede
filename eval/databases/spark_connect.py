"""The Spark Connect protocol, as far as reading needs it: one channel, one session, statements as Arrow batches.

In: a `Target` and SQL. Out: `pyarrow` record batches, analysed plans, rows of the catalogue. The messages and the stub
are `pyspark-client`'s; its client class is not used, because it retries for minutes and hides the call that has to be
cancelled. Every call here has a deadline. Raises DatabaseError with the server's own message.

Protocol: https://github.com/apache/spark/tree/master/sql/connect/common/src/main/protobuf/spark/connect
"""

from __future__ import annotations

import re
import sys
import threading
import uuid
import warnings
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager, suppress
from typing import Any, TypeVar

from eval.databases.types import DatabaseError, DatabaseNotFound, DatabaseUnreachable, DriverMissing
from eval.databases.urls import Target
from eval.errors import first_line

_INTERRUPT_SECONDS = 0.4
_CLIENT = "text2sql"
_SESSION_SECONDS = 60.0
"""A server that has just started takes long over its first session."""
_KEEPALIVE_MS = 30_000
_MAX_MESSAGE = 128 * 1024 * 1024
_EXPIRED = ("INVALID_HANDLE.SESSION", "SESSION_NOT_FOUND", "SESSION_CLOSED", "SESSION_CHANGED")

Hold = Callable[[Any], None]
T = TypeVar("T")


def _nobody(_: Any) -> None:
    """The call of a statement that nobody cancels."""


_READS_AS_CHECKED = {
    "spark.sql.variable.substitute": "false",
    "spark.sql.parser.escapedStringLiterals": "false",
    "spark.sql.parser.quotedRegexColumnNames": "false",
    "spark.sql.ansi.doubleQuotedIdentifiers": "false",
    "spark.sql.legacy.setopsPrecedence.enabled": "false",
}
"""How the server reads a text; another value would give it another meaning than the one that was checked. Variable
substitution puts the server's environment into a statement (`${env:HOME}`)."""
_BARRIERS = {"spark.sql.runSQLOnFiles": "false"}
"""What no query needs. A server that does not know a setting (Sail) has no such barrier; the text is checked too."""


@contextmanager
def _no_doctest() -> Iterator[None]:
    """While pyspark is imported: it takes a program without a file (`python -c`, a worker of tests) for its own
    doctests and ends the process."""
    main = sys.modules["__main__"]
    if main.__spec__ is not None or hasattr(main, "__file__"):
        yield
        return
    main.__file__ = "-c"
    try:
        yield
    finally:
        del main.__file__


class SparkConnection:
    """One session on one channel. Statements may run in it at the same time, from several threads."""

    def __init__(self, target: Target, connect_seconds: float) -> None:
        """Connect and open a session on the target's database. Raises DatabaseUnreachable, DatabaseNotFound,
        DriverMissing, DatabaseError."""
        self._target = target
        self._lock = threading.Lock()
        self._options = dict(target.options)
        self.place = tuple(target.database.split(".")) if "session_id" in self._options else ()
        """The database of a session that was named: another connection may change the session's current database."""
        self._import()
        self._channel = self._connect(connect_seconds)
        self.stub = self._grpc_stubs.SparkConnectServiceStub(self._channel)
        try:
            self._begin_session()
        except BaseException:
            self._channel.close()
            raise

    def _import(self) -> None:
        try:
            with warnings.catch_warnings(), _no_doctest():
                warnings.simplefilter("ignore")  # it warns about versions of pandas, which is not used here
                import grpc
                import pyarrow
                from pyspark.sql.connect.proto import base_pb2, base_pb2_grpc
        except Exception as e:  # noqa: BLE001 (pyspark raises its own error for a missing or old dependency)
            raise DriverMissing(f"Spark needs its driver: pip install 'askwell[spark]' ({first_line(e)})") from None
        self._grpc, self._arrow, self.messages, self._grpc_stubs = grpc, pyarrow, base_pb2, base_pb2_grpc

    # The channel and the session

    def _connect(self, seconds: float) -> Any:
        grpc, target = self._grpc, self._target
        options: list[tuple[str, Any]] = [
            ("grpc.max_receive_message_length", _MAX_MESSAGE),
            ("grpc.keepalive_time_ms", _KEEPALIVE_MS),
            ("grpc.keepalive_timeout_ms", 10_000),
        ]
        if target.address:
            options += [("grpc.enable_http_proxy", 0), ("grpc.default_authority", target.where)]
            options += [("grpc.ssl_target_name_override", target.host)] if self._encrypted else []
        host = target.address or target.host
        place = f"[{host}]:{target.port}" if ":" in host else f"{host}:{target.port}"
        if self._encrypted:
            channel = grpc.secure_channel(place, grpc.ssl_channel_credentials(), options=options)
        else:
            channel = grpc.insecure_channel(place, options=options)
        try:
            grpc.channel_ready_future(channel).result(timeout=seconds)
        except grpc.FutureTimeoutError:
            channel.close()
            raise DatabaseUnreachable(
                f"cannot connect to Spark Connect at {target.where}: no answer within {seconds:g} s"
            ) from None
        return channel

    @property
    def _encrypted(self) -> bool:
        """A token is never sent in the clear."""
        return self._options.get("use_ssl", "").lower() == "true" or bool(self._target.password)

    @property
    def _metadata(self) -> list[tuple[str, str]]:
        headers = [(key, value) for key, value in self._options.items() if key.startswith("x-")]
        if self._target.password:
            headers.append(("authorization", f"Bearer {self._target.password}"))
        return headers

    def _begin_session(self) -> None:
        self.session = self._options.get("session_id") or str(uuid.uuid4())
        # Set what the server lets a session set, then make sure that it reads texts as they are checked
        settings = _BARRIERS | _READS_AS_CHECKED
        for key, value in settings.items():
            request = self.request(self.messages.ConfigRequest)
            request.operation.set.pairs.add(key=key, value=value)
            try:
                self.call(self.stub.Config, request, _SESSION_SECONDS)
            except DatabaseUnreachable:
                raise
            except DatabaseError:
                continue  # a setting that this server does not have, or lets nobody change
        request = self.request(self.messages.ConfigRequest)
        for key, value in _READS_AS_CHECKED.items():
            request.operation.get_with_default.pairs.add(key=key, value=value)
        for pair in self.call(self.stub.Config, request, _SESSION_SECONDS).pairs:
            if pair.value.lower() != _READS_AS_CHECKED.get(pair.key, pair.value.lower()):
                raise DatabaseError(
                    f"the server reads SQL with {pair.key} = {pair.value} and does not let this session change it"
                )
        catalogue, _, database = self._target.database.rpartition(".")
        if catalogue:
            self._set_current("set_current_catalog", "catalog_name", catalogue)
        self._set_current("set_current_database", "db_name", database)

    def _set_current(self, command: str, field: str, name: str) -> None:
        request = self.plan_request(str(uuid.uuid4()))
        setattr(getattr(request.plan.root.catalog, command), field, name)
        try:
            self._rows(request, _SESSION_SECONDS)
        except DatabaseUnreachable:
            raise
        except DatabaseError as e:
            text = f"no database {self._target.database!r} on the server at {self._target.where}: {e}"
            raise DatabaseNotFound(text) from None

    # Our own statements

    def catalogue(self, sql: str, seconds: float) -> list[tuple[Any, ...]]:
        """All rows of one of our own statements, such as DESCRIBE. One that takes too long is interrupted."""
        request = self.plan_request(str(uuid.uuid4()))
        request.plan.root.sql.query = sql
        try:
            return self._rows(request, seconds)[1]
        except DatabaseError:
            self.interrupt(request.operation_id)
            raise

    def tables(self, seconds: float) -> list[tuple[str, str]]:
        """The tables and views of the current database with their kinds (MANAGED, EXTERNAL, VIEW, TEMPORARY), by
        `Catalog.listTables`."""
        request = self.plan_request(str(uuid.uuid4()))
        request.plan.root.catalog.list_tables.SetInParent()
        if self.place:
            request.plan.root.catalog.list_tables.db_name = self._target.database
        names, rows = self._rows(request, seconds)
        if not rows:
            return []
        name = names.index("name" if "name" in names else "tableName")  # Sail's own spelling
        return sorted((str(row[name]), str(row[names.index("tableType")] or "")) for row in rows)

    def _rows(self, request: Any, seconds: float) -> tuple[tuple[str, ...], list[tuple[Any, ...]]]:
        batches = self.batches(request, seconds)
        names = next(batches)
        return names, [row for batch in batches for row in python_rows(batch)]

    def interrupt(self, operation: str) -> None:
        """Ask the server to stop an operation; waits for the answer for a moment only."""
        request = self.request(self.messages.InterruptRequest)
        request.interrupt_type = self.messages.InterruptRequest.INTERRUPT_TYPE_OPERATION_ID
        request.operation_id = operation
        with suppress(self._grpc.RpcError):
            self.stub.Interrupt(request, timeout=_INTERRUPT_SECONDS, metadata=self._metadata)

    def close(self) -> None:
        """End the session, unless it was named by the user, and close the channel."""
        if "session_id" not in self._options:
            with suppress(Exception):
                request = self.request(self.messages.ReleaseSessionRequest)
                self.stub.ReleaseSession(request, timeout=_INTERRUPT_SECONDS, metadata=self._metadata)
        self._channel.close()

    # Calls

    def request(self, message: Any) -> Any:
        """A message of this session."""
        request = message(session_id=self.session, client_type=_CLIENT)
        request.user_context.user_id = request.user_context.user_name = self._target.user or _CLIENT
        return request

    def plan_request(self, operation: str) -> Any:
        request = self.request(self.messages.ExecutePlanRequest)
        request.operation_id = operation
        return request

    def call(self, method: Any, request: Any, seconds: float, hold: Hold = _nobody) -> Any:
        """The answer to one message; `hold` receives the call, which may be cancelled."""
        call = method.future(request, timeout=seconds, metadata=self._metadata)
        hold(call)
        try:
            return call.result()
        except self._grpc.RpcError as e:
            raise self._error(e) from None
        except self._grpc.FutureCancelledError:
            raise DatabaseError("cancelled") from None

    def batches(self, request: Any, seconds: float, hold: Hold = _nobody) -> Generator[Any, None, None]:
        """Run a plan: the names of its columns (a tuple), then its record batches. Closing the iterator cancels the
        call."""
        call = self.stub.ExecutePlan(request, timeout=seconds, metadata=self._metadata)
        hold(call)
        named = False
        try:
            for answer in call:
                kind = answer.WhichOneof("response_type")
                if kind == "arrow_batch":
                    data = answer.arrow_batch.data
                elif kind == "sql_command_result":  # the rows of a command, such as DESCRIBE
                    data = answer.sql_command_result.relation.local_relation.data
                else:
                    continue
                if not data:
                    continue
                with self._arrow.ipc.open_stream(data) as reader:
                    if not named:
                        yield tuple(reader.schema.names)
                        named = True
                    yield from reader
        except self._grpc.RpcError as e:
            raise self._error(e) from None
        finally:
            call.cancel()
        if not named:
            yield ()

    def _error(self, error: Any) -> DatabaseError:
        code, message = error.code(), _own_words(self._target.redact(error.details() or str(error.code())))
        where = self._target.where
        if code == self._grpc.StatusCode.UNAUTHENTICATED:
            return DatabaseUnreachable(f"the server at {where} refused the login: {message}")
        if code == self._grpc.StatusCode.UNAVAILABLE:
            return DatabaseUnreachable(f"the server at {where} does not answer: {first_line(message)}")
        if code == self._grpc.StatusCode.DEADLINE_EXCEEDED:
            return DatabaseUnreachable(f"the server at {where} did not answer in time")
        if any(mark in message for mark in _EXPIRED):
            return SessionExpired(message)
        return DatabaseError(message)

    def in_session(self, call: Callable[[], T]) -> T:
        """What the call returns; where the server has forgotten the session, another one is opened for it."""
        session = self.session
        try:
            return call()
        except SessionExpired:
            with self._lock:
                if self.session == session:  # otherwise another thread has done it
                    self._begin_session()
            return call()


class SparkStatement:
    """The calls that one statement takes. `cancel` may come from another thread, at any time, more than once."""

    def __init__(self, connection: SparkConnection, sql: str) -> None:
        self._connection = connection
        self._sql = sql
        self._operation = str(uuid.uuid4())
        self._call: Any = None
        self._cancelled = False

    def check(self, seconds: float) -> None:
        """Let the server's own grammar prove that the text is one query: nothing else may stand in WITH … AS (…). The
        plan is analysed, nothing runs. Raises DatabaseError with the server's message."""
        c = self._connection
        request = c.request(c.messages.AnalyzePlanRequest)
        request.schema.plan.root.sql.query = (
            f"WITH text2sql_checked AS (\n{self._sql}\n) SELECT 1 FROM text2sql_checked"
        )
        c.call(c.stub.AnalyzePlan, request, seconds, self._hold)

    def batches(self, rows: int, seconds: float) -> Generator[Any, None, None]:
        """Run the query: the names of the columns, then record batches, of at most `rows` rows together. The text is
        sent as a relation, below a LIMIT of its own."""
        request = self._connection.plan_request(self._operation)
        request.plan.root.limit.limit = rows
        request.plan.root.limit.input.sql.query = self._sql
        return self._connection.batches(request, seconds, self._hold)

    def plan(self, seconds: float) -> str:
        """The plan of the query as text."""
        c = self._connection
        request = c.request(c.messages.AnalyzePlanRequest)
        request.explain.plan.root.sql.query = self._sql
        request.explain.explain_mode = c.messages.AnalyzePlanRequest.Explain.EXPLAIN_MODE_SIMPLE
        return str(c.call(c.stub.AnalyzePlan, request, seconds, self._hold).explain.explain_string)

    def cancel(self) -> None:
        """Stop the operation in the server, then leave the call, also when the server does not react."""
        self._cancelled = True
        self._connection.interrupt(self._operation)
        if self._call is not None:
            self._call.cancel()

    def _hold(self, call: Any) -> None:
        self._call = call
        if self._cancelled:
            call.cancel()


class SessionExpired(DatabaseError):
    """The server has forgotten the session; a new one has to be opened."""


def python_rows(batch: Any) -> Iterator[tuple[Any, ...]]:
    """The rows of a record batch as Python values; a map is a dict. Raises DatabaseError for a type of Arrow that
    pyarrow does not have."""
    try:
        columns = [_values(batch.column(i)) for i in range(batch.num_columns)]
    except KeyError:
        raise DatabaseError("a column's type cannot be read (an interval of months?); cast it to STRING") from None
    return zip(*columns, strict=True) if columns else iter([()] * batch.num_rows)


def _values(column: Any) -> list[Any]:
    try:
        return list(column.to_pylist(maps_as_pydicts="lossy"))
    except (OverflowError, ValueError, NotImplementedError):  # a date that Python has not, an interval of months
        return list(column.cast("string").to_pylist())


def _own_words(message: str) -> str:
    """The server's message without Spark's plan and Sail's list of all tokens that it would have read."""
    if message.startswith("["):
        message = message.partition("\n")[0]
    return re.sub(r" SQLSTATE: \w+.*$|(?<=\d) expected '.*$", "", message, flags=re.DOTALL).rstrip(" ;\n")

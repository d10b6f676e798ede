"""ClickHouse, as a server over HTTP and as chDB, the same engine inside a process, through one driver.

In: a `Target` with a host, or with a chDB data folder. Out: a `Database`. These protections apply even when the guard
is bypassed: the session is `readonly`; before a statement runs, the engine itself parses it as a subquery (EXPLAIN AST,
which runs nothing), where its grammar allows only a query without INTO OUTFILE and FORMAT; and every function, table
and clause of that tree must be on our lists (`clickhouse_tree`), because `readonly` alone still lets `file()` read and
INTO OUTFILE write. The deadline and cancellation are a KILL QUERY. The user's grants and settings profile are the last
barrier: docs/databases.md says what to create.

The structure is read from the system tables, with the engine's own row counts; only small tables are read, to see
whether their primary key, which ClickHouse does not keep unique, is in fact unique.
"""

from __future__ import annotations

import math
import os
import re
import uuid
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from eval.databases.clickhouse_tree import refusal_of_tree
from eval.databases.server import ServerDatabase, login_refused, no_database
from eval.databases.statement_run import OpenStatement, StatementRun
from eval.databases.table_drafts import Draft, Rows, granted_writes, quoted
from eval.databases.types import DatabaseError, DatabaseNotFound, DatabaseUnreachable, DriverMissing, driver_needed
from eval.databases.urls import Target
from eval.schema import Column, Dialect, Index, Schema

if TYPE_CHECKING:
    from clickhouse_connect.driver.client import Client


STANDARD_SETTINGS = {
    "dialect": "clickhouse",
    "join_use_nulls": "1",
    "aggregate_functions_null_for_empty": "1",
    "group_by_use_nulls": "1",
    "cast_keep_nullable": "1",
    "prefer_column_name_to_alias": "1",
    "union_default_mode": "DISTINCT",
    "except_default_mode": "DISTINCT",
    "intersect_default_mode": "DISTINCT",
}
"""Settings under which ClickHouse reads a query as the SQL standard does: an outer join fills in NULL, an aggregate of
no rows is NULL, UNION removes duplicates, a name in WHERE is the column and not the alias. Set where the user's profile
lets us; docs/databases.md puts them into the profile."""
_PROTECTION = {
    "readonly": "1",
    "max_block_size": "8192",
    "max_joined_block_size_rows": "8192",
    "stream_like_engine_allow_direct_select": "0",
    "allow_introspection_functions": "0",
    "cancel_http_readonly_queries_on_client_close": "1",
}
"""A cancellation takes effect between two blocks, so they are small: an eighth of the usual size costs a query 10 to
20 % more processor time."""
_EMBEDDED_BYTES = 1 << 30
"""Memory of a statement in chDB, and disk space for its temporary files; grouping and sorting go on in files from half
of it."""
_UUID = re.compile(r"[0-9a-f]{8}-?([0-9a-f]{4}-?){3}[0-9a-f]{12}")
_SYNTAX = re.compile(r"Syntax error: failed at position \d+ \(([^\n]*?)\) \(line \d+, col \d+\):.*", re.S)
"""The position counts in the EXPLAIN around the statement, and what is expected there is a list of fifty words."""
_SCOPE = re.compile(r"[.:]? [Ii]n scope (?:SELECT|WITH|UNION)\b.*?(?=: Note: |\. Maybe you meant|\. \(|$)", re.S)
"""The whole statement again, as it was rewritten."""


class ClickHouseDatabase(ServerDatabase["_Session"]):
    dialect: Dialect = "clickhouse"
    _sign_sql = """
SELECT count(), groupBitXor(cityHash64(name, engine, uuid, metadata_modification_time)) FROM system.tables
WHERE database = currentDatabase() AND NOT is_temporary
"""
    """A hash over the tables' identities and the times when their structure changed."""

    def __init__(self, target: Target, *, infer_keys: bool = True, connect_seconds: float = 5.0) -> None:
        super().__init__(target, infer_keys=infer_keys, connect_seconds=connect_seconds)
        self._give_back(self._connect())  # a second one, so that a KILL QUERY need not connect first

    def data_version(self) -> str:
        """A hash over the tables' sizes and the last change of their parts: no table is read."""
        with self._driver_errors():
            return "/".join(str(value) for row in self._catalogue(_DATA_SIGN) for value in row)

    def write_privileges(self) -> tuple[str, ...]:
        """Empty for chDB, and for a profile with readonly=1, under which no grant can write."""
        if self._target.path is not None:
            return ()
        with self._driver_errors():
            readonly = self._catalogue("SELECT value FROM system.settings WHERE name = 'readonly'")
            if readonly and str(readonly[0][0]) == "1" and not self._sends_readonly:
                return ()
            return granted_writes((str(line) for (line,) in self._catalogue("SHOW GRANTS")), _GRANT, _WRITES)

    # How the structure is read

    def _read_catalogue(self) -> Schema:
        drafts: dict[str, Draft] = {}
        keys: dict[str, tuple[str, ...]] = {}
        for name, engine, total_rows, comment, primary_key, sorting_key, partition_key in self._catalogue(_TABLES):
            is_view = str(engine).endswith("View")
            draft = drafts[name] = Draft(name, None, (name,), kind="view" if is_view else "table", comment=comment)
            if not is_view:
                draft.row_count = None if total_rows is None else int(total_rows)
            keys[name] = _columns_of(primary_key)
            for label, key in (("ORDER BY", sorting_key), ("PARTITION BY", partition_key)):
                if columns := _columns_of(key):
                    draft.indexes.append(Index(label, columns))
        for table, name, kind, default_kind, default, comment in self._catalogue(_COLUMNS):
            if table in drafts:
                shown = str(default) if default_kind == "DEFAULT" and default else None
                nullable = kind.startswith(("Nullable(", "LowCardinality(Nullable(", "Variant(", "Dynamic"))
                drafts[table].columns.append(Column(name, kind, nullable, False, shown, comment or None))
        _keep_unique_keys(drafts, keys, self._count)
        return Schema("clickhouse", tuple(d.table() for d in drafts.values() if d.columns))

    # How a statement runs

    @contextmanager
    def _open(self, run: StatementRun) -> Iterator[OpenStatement]:
        with self._reading(run) as session:
            self._check(session, run.sql)
            if run.expired():
                yield OpenStatement((), iter(()))
                return
            stream = session.client.query_row_block_stream(run.sql, settings=session.limits(run))
            source: Any = stream.source
            with stream:
                names = tuple(str(name) for name in source.column_names)
                yield OpenStatement(names, (tuple(row) for block in stream for row in block))

    @contextmanager
    def _open_plan(self, run: StatementRun) -> Iterator[OpenStatement]:
        with self._reading(run) as session:
            self._check(session, run.sql)
            yield OpenStatement(("plan",), iter(self._fetch(session, f"EXPLAIN indexes = 1 {run.sql}", run)))

    def _check(self, session: _Session, sql: str) -> None:
        """Let the engine parse the statement as a subquery, and check its own tree. Raises DatabaseError."""
        explain = f"EXPLAIN AST SELECT * FROM (\n{sql}\n)"
        text = session.client.raw_query(explain, settings=session.named()).decode("utf-8", "replace")
        lines = [re.sub(r"\\(.)", r"\1", line) for line in text.splitlines()]  # of TabSeparated, the default format
        if reason := refusal_of_tree(lines, self._target.database):
            raise DatabaseError(reason)

    def _start(self, connection: _Session, run: StatementRun) -> None:  # noqa: ARG002
        """There is no transaction: a statement reads the parts that exist when it begins."""
        connection.begin()

    def _interrupting(self, connection: _Session, run: StatementRun) -> AbstractContextManager[None]:
        return run.interrupting(lambda: self._kill(connection), connection.hang_up)

    def _kill(self, session: _Session) -> None:
        """KILL QUERY from a second session; a user may always stop their own statements, also in readonly mode."""
        with self._spare() as killer:
            killer.client.command(f"KILL QUERY WHERE {session.known_by} = '{session.known_as}' ASYNC")

    def _survives(self, error: Exception) -> bool:
        return not isinstance(error, self._lost())

    def _can_go_on(self, connection: _Session, run: StatementRun) -> bool:  # noqa: ARG002
        return run.stopped is None

    def _fetch(self, connection: _Session, sql: str, run: StatementRun) -> list[tuple[Any, ...]]:
        rows = connection.client.query(sql, settings=connection.limits(run)).result_rows
        return [tuple(row) for row in rows]

    def _session(self, connection: _Session) -> int:
        return uuid.UUID(connection.known_as).int

    def _errors(self) -> tuple[type[Exception], ...]:
        from clickhouse_connect.driver.exceptions import Error

        return (Error, OSError)

    def _lost(self) -> tuple[type[Exception], ...]:
        from clickhouse_connect.driver.exceptions import OperationalError

        return (OperationalError,)

    def _sessions(self) -> set[int]:
        names = "SELECT query_id, Settings['log_comment'] FROM system.processes"
        texts = (str(text) for row in self._catalogue(names, 2.0) for text in row)
        return {uuid.UUID(text).int for text in texts if _UUID.fullmatch(text)}

    def _drop(self, connection: _Session) -> None:
        with suppress(Exception):
            connection.client.close()

    def _connect(self) -> _Session:
        with driver_needed("ClickHouse needs its driver: pip install 'askwell[clickhouse]'"):
            import clickhouse_connect  # noqa: F401
        t = self._target
        try:
            session = _Embedded(t) if t.path is not None else _Remote(t, self._connect_seconds)
        except ImportError:
            raise DriverMissing("chdb:/// needs the embedded engine: pip install 'askwell[clickhouse-local]'") from None
        except self._errors() as e:
            raise _connect_error(t, str(e)) from None
        self._sends_readonly = session.sends_readonly
        return session

    def _explain(self, message: str) -> str:
        """The engine's message without its own repetitions and version."""
        text = message.split(" (version ")[0].split("\nStack trace")[0]
        while ": Code: " in text:
            text = text.partition(": Code: ")[2].partition("DB::Exception: ")[2] or text.replace(": Code: ", ": ", 1)
        text = text.partition("DB::Exception: ")[2] or text
        text = _SCOPE.sub("", text)
        return super()._explain(_SYNTAX.sub(lambda m: f"Syntax error near {m[1]!r}", text))


class _Session:
    """One client of the driver, which runs one statement at a time."""

    client: Client
    known_by: str
    """The column of system.processes in which the session's statement is `known_as`."""
    known_as: str
    """A UUID."""
    sends_readonly: bool
    hang_up: Callable[[], None] | None = None
    """Breaks the connection, for a server that does not answer; None where there is none."""

    def begin(self) -> None:
        """Before each statement."""

    def named(self) -> dict[str, Any]:
        """The settings that make the statement `known_as`."""
        return {}

    def limits(self, run: StatementRun) -> dict[str, Any]:  # noqa: ARG002
        """The settings of one statement, as far as the session may choose them."""
        return {}


class _Embedded(_Session):
    """A handle of chDB. Its settings are fixed before it becomes readonly, which nothing can undo; KILL QUERY keeps the
    deadline."""

    known_by = "Settings['log_comment']"
    sends_readonly = True

    def __init__(self, target: Target) -> None:
        import clickhouse_connect

        self.known_as = uuid.uuid4().hex
        self.client = clickhouse_connect.get_client(interface="chdb", path=str(target.path), database=target.database)
        memory = min(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2, _EMBEDDED_BYTES)
        bounds = {
            "max_memory_usage": str(memory),
            "max_bytes_before_external_group_by": str(memory // 2),
            "max_bytes_before_external_sort": str(memory // 2),
            "max_temporary_data_on_disk_size_for_query": str(_EMBEDDED_BYTES),
            "max_threads": str(min(4, os.cpu_count() or 1)),
        }
        settings = STANDARD_SETTINGS | bounds | {"log_comment": self.known_as} | _PROTECTION
        known = self.client.server_settings
        try:
            self.client.command("SYSTEM STOP MERGES")  # whoever reads changes no file, and other readers keep the parts
            pairs = ", ".join(f"{name} = '{value}'" for name, value in settings.items() if name in known)
            self.client.command(f"SET {pairs}")
        except BaseException:
            self.client.close()
            raise


class _Remote(_Session):
    """A client of a server over HTTP, with sockets of its own, no proxy and no redirects."""

    known_by = "query_id"

    def __init__(self, target: Target, connect_seconds: float) -> None:
        import clickhouse_connect
        from clickhouse_connect.driver.httputil import get_pool_manager
        from urllib3.util import Retry

        options = dict(target.options)
        secure = options.get("secure") == "true"
        tls: dict[str, Any] = {
            name: options[name] for name in ("ca_cert", "client_cert", "client_cert_key") if name in options
        }
        if secure and target.address:
            tls |= {"server_hostname": target.host, "assert_hostname": target.host}
        pool: Any = get_pool_manager(maxsize=1, block=False, **tls)
        self._sockets = _keep_sockets(pool)
        self.hang_up = self._shut_sockets
        self.client = clickhouse_connect.get_client(
            host=target.address or target.host,
            port=target.port,
            username=target.user or None,
            password=target.password,
            database=target.database,
            interface="https" if secure else "http",
            server_host_name=target.host if target.address else None,
            connect_timeout=max(1, math.ceil(connect_seconds)),
            send_receive_timeout=3600,
            query_retries=0,
            pool_mgr=pool,
            autogenerate_session_id=False,
            client_name="text2sql",
        )
        self.client.close = pool.clear  # type: ignore[method-assign]
        backend: Any = self.client._backend  # type: ignore[attr-defined]
        # A server that was checked must not send the driver to another one
        backend.http_retries = Retry(
            total=None, connect=0, read=0, redirect=0, status=0, other=0, raise_on_redirect=True
        )
        # a profile with readonly = 1 accepts no setting at all, one with readonly = 2 all but readonly itself
        profile = {name: known.value for name, known in self.client.server_settings.items() if name == "readonly"}
        self._mode = str(profile.get("readonly", "0"))
        self.sends_readonly = self._mode == "0"
        self._chosen: dict[str, Any] = {}
        if self._mode != "1":
            wanted = STANDARD_SETTINGS | _PROTECTION
            self._chosen = {n: v for n, v in wanted.items() if n in self.client.server_settings}
            if self._mode != "0":
                self._chosen.pop("readonly", None)

    def begin(self) -> None:
        self.known_as = str(uuid.uuid4())

    def named(self) -> dict[str, Any]:
        return {"query_id": self.known_as} | self._chosen

    def limits(self, run: StatementRun) -> dict[str, Any]:
        if self._mode == "1":
            return self.named()  # which has chosen nothing
        return self.named() | {"max_execution_time": math.ceil(run.seconds_left) + 1}

    def _shut_sockets(self) -> None:
        import socket

        for one in list(self._sockets):
            with suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)


def _keep_sockets(pool: Any) -> list[Any]:
    """The sockets that the pool opens, so that a hanging connection can be broken from another thread."""
    from urllib3.connectionpool import HTTPConnectionPool, HTTPSConnectionPool

    sockets: list[Any] = []

    def keeping(pool_class: Any) -> Any:
        class Connection(pool_class.ConnectionCls):  # type: ignore[misc]
            def connect(self) -> None:
                super().connect()
                sockets.append(self.sock)

        return type(pool_class.__name__, (pool_class,), {"ConnectionCls": Connection})

    pool.pool_classes_by_scheme = {"http": keeping(HTTPConnectionPool), "https": keeping(HTTPSConnectionPool)}
    return sockets


def _connect_error(target: Target, message: str) -> DatabaseError:
    text = target.redact(message)
    if target.path is not None:
        if "already initialized with path" in text or "different path" in text:
            return DatabaseError(
                "this process has another chDB folder open; chDB allows one folder for each process. Put the databases "
                "into one folder, or close the other one first"
            )
        if "UNKNOWN_DATABASE" in text or "does not exist" in text:
            return DatabaseNotFound(f"no database {target.database!r} in the chDB folder {target.path}")
        if "lock" in text.lower():
            return DatabaseError(f"another process has the chDB folder {target.path} open")
        return DatabaseError(f"cannot open {target.path}: {text[:300]}")
    if "UNKNOWN_DATABASE" in text or "Code: 81" in text:
        return no_database(target)
    if "AUTHENTICATION_FAILED" in text or "Code: 516" in text:
        return login_refused(target)
    return DatabaseUnreachable(f"cannot connect to ClickHouse at {target.where}: {' '.join(text.split())[:300]}")


_UNIQUE_BELOW_ROWS = 200_000
_UNIQUE_AT_MOST = 200
_CONSUMED = "('Kafka', 'RabbitMQ', 'NATS', 'FileLog', 'S3Queue', 'AzureQueue', 'Null', 'EmbeddedRocksDBQueue')"
"""Engines whose rows are consumed by reading, or that hold none."""

_TABLES = f"""
SELECT name, engine, total_rows, comment, primary_key, sorting_key, partition_key FROM system.tables
WHERE database = currentDatabase() AND NOT is_temporary AND NOT startsWith(name, '.inner')
AND engine NOT IN {_CONSUMED} ORDER BY name
"""
_COLUMNS = """
SELECT table, name, type, default_kind, default_expression, comment FROM system.columns
WHERE database = currentDatabase() AND default_kind NOT IN ('EPHEMERAL') ORDER BY table, position
"""
_DATA_SIGN = """
SELECT groupBitXor(cityHash64(t.name, t.uuid, t.total_rows, t.total_bytes)), (
  SELECT groupBitXor(cityHash64(table, name, modification_time)) FROM system.parts
  WHERE database = currentDatabase() AND active
) FROM system.tables AS t WHERE t.database = currentDatabase() AND NOT t.is_temporary
"""


def _keep_unique_keys(drafts: dict[str, Draft], keys: dict[str, tuple[str, ...]], count: Rows) -> None:
    """Declare the primary keys of small tables whose values are unique: other code takes a primary key for that."""
    small = [
        (name, keys[name])
        for name, draft in drafts.items()
        if keys[name] and 0 < (draft.row_count or 0) <= _UNIQUE_BELOW_ROWS
    ][:_UNIQUE_AT_MOST]
    parts = (
        f"SELECT {i} AS place, count() = uniqExact({', '.join(quoted((c,), 'clickhouse') for c in key)}) AS is_unique "
        f"FROM {quoted((name,), 'clickhouse')}"
        for i, (name, key) in enumerate(small)
    )
    for place, is_unique in count(" UNION ALL ".join(parts)) if small else []:
        if is_unique:
            name, key = small[place]
            drafts[name].primary_key = key


def _columns_of(key: str) -> tuple[str, ...]:
    """The columns of a key, if it holds nothing but columns: `a, b`; an expression such as toYYYYMM(d) gives none."""
    from eval.sql.parser import parse

    tree = parse(f"SELECT {key}", "clickhouse").tree if key else None
    expressions = tree.expressions if isinstance(tree, exp.Select) else []
    if len(expressions) == 1 and isinstance(expressions[0], exp.Paren | exp.Tuple):
        expressions = expressions[0].expressions or [expressions[0].this]
    return tuple(c.name for c in expressions) if all(isinstance(c, exp.Column) for c in expressions) else ()


_GRANT = re.compile(r"GRANT (.+?) ON (\S+) TO ")
_WRITES = (
    "ALL", "INSERT", "ALTER", "CREATE", "DROP", "TRUNCATE", "OPTIMIZE", "SYSTEM", "SOURCES", "FILE", "URL", "REMOTE",
    "S3", "MYSQL", "POSTGRES", "ACCESS MANAGEMENT", "CREATE TEMPORARY TABLE",
)  # fmt: skip
"""The privileges that write or reach outside."""

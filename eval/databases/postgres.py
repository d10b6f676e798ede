"""PostgreSQL: each statement runs as a cursor in a READ ONLY transaction that is always rolled back.

In: a `Target` with a host. Out: a `Database`. These protections apply even when the guard is bypassed: `DECLARE …
CURSOR FOR` accepts only one SELECT (or VALUES); the extended protocol accepts one statement; the transaction writes
nothing; no function or operator that a user made is taken for the engine's own (`_unambiguous`); and a superuser's
connection works as `pg_read_all_data`, which may not call file, program or server functions. Functions with which SQL
could change settings, run SQL given as text or reach other sessions are refused by name. The role's own grants are the
last barrier: docs/databases.md says what to grant and which risks remain.

The structure is that of all schemas that the role may read: tables (partitioned ones once), views, materialized views
and foreign tables, without those of extensions, by three statements on the catalogue
(https://www.postgresql.org/docs/current/catalogs.html) and one that counts small tables.
"""

from __future__ import annotations

import os
import re
import socket
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from eval.databases.server import ServerDatabase, login_refused, no_database
from eval.databases.statement_run import SERVER_PATIENCE_SECONDS, OpenStatement, StatementRun
from eval.databases.table_drafts import COUNT_BELOW_BYTES, Draft, count_small
from eval.databases.types import DatabaseError, DatabaseUnreachable, driver_needed
from eval.databases.urls import Target
from eval.schema import Column, Dialect, ForeignKey, Index, Schema
from eval.sql.dialects import render
from eval.sql.parser import parse
from eval.sql.table_places import in_places

if TYPE_CHECKING:
    import psycopg


_LOCK_MS = 5000
_FETCH_ROWS = 500
_QUERY_CANCELED = "57014"

_REFUSED = re.compile(
    r'u&"|(?<![\w$])('
    r"set_config|(query|cursor)_to_xml\w*|ts_stat|ts_rewrite|crosstab\w*|connectby|xpath_table|dblink\w*|"
    r"pg_(read|ls|stat)_(file|binary_file|dir|\w*dir)|pg_file_\w+|pg_hba_file_rules|pg_file_settings|"
    r"lo_\w+|loread|lowrite|pg_(try_)?advisory_\w+|pg_(cancel|terminate)_backend|pg_notify|"
    r"pg_logical_\w+|pg_replication_\w+|pg_(create|drop|copy)_\w+|pg_(switch|rotate|reload|promote|backup|start|stop)\w*|"
    r"pg_stat_reset\w*|pg_stat_statements_reset|pg_export_snapshot|pg_log_\w+|pg_wal_\w+|pg_import_\w+|"
    r"pg_authid|pg_shadow|pg_user_mappings?"
    r")(?![\w$])"
)
"""Built-in names that reach beyond a read: settings, SQL as text, files, locks, other sessions, the write-ahead log,
password hashes. U&"…" is the only other way to spell an identifier, so it is refused as well."""


class PostgresDatabase(ServerDatabase["psycopg.Connection[Any]"]):
    dialect: Dialect = "postgres"

    _sign_sql = """
SELECT concat_ws('/',
    (SELECT count(*) || '.' || coalesce(sum(hashtextextended(xmin::text, oid::bigint)), 0)
        FROM pg_class WHERE oid >= 16384 AND relpersistence <> 't'),
    (SELECT count(*) || '.' || coalesce(sum(hashtextextended(xmin::text, attrelid::bigint * 2048 + attnum)), 0)
        FROM pg_attribute WHERE attrelid >= 16384 AND attnum > 0),
    (SELECT count(*) || '.' || coalesce(sum(hashtextextended(xmin::text, oid::bigint)), 0) FROM pg_constraint),
    (SELECT count(*) || '.' || coalesce(sum(hashtextextended(xmin::text, oid::bigint)), 0) FROM pg_attrdef),
    (SELECT count(*) || '.' || coalesce(sum(hashtextextended(xmin::text, oid::bigint)), 0) FROM pg_namespace),
    (SELECT count(*) || '.' || coalesce(sum(hashtextextended(xmin::text, objoid::bigint * 2048 + objsubid)), 0)
        FROM pg_description WHERE objoid >= 16384))
"""
    """One row, which differs after every committed change of a table, column, key, default, comment or grant. Each such
    change writes a new version of a catalogue row, and `xmin` is the transaction that wrote it."""
    # the state of another role's session may not be seen
    _working_sql = "SELECT pid FROM pg_stat_activity WHERE state IS NULL OR state = 'active'"
    _superuser = False
    _own_functions: frozenset[str] = frozenset()

    def data_version(self) -> str:
        """The server's snapshot: equal texts see exactly the same rows. Any write on the server changes it."""
        with self._driver_errors():
            return str(self._catalogue("SELECT txid_current_snapshot()::text")[0][0])

    def write_privileges(self) -> tuple[str, ...]:
        with self._driver_errors():
            superuser, creates, tables = self._catalogue(_WRITE_PRIVILEGES)[0]
        privileges = (
            ("is a superuser", superuser),
            ("may create schemas", creates),
            (f"may write to {tables:,} table{'' if tables == 1 else 's'}", tables),
        )
        return tuple(words for words, holds in privileges if holds)

    # How the structure is read

    def _read_catalogue(self) -> Schema:
        drafts: dict[int, Draft] = {}
        for oid, schema, name, is_view, reached, comment, *column in self._catalogue(_COLUMNS):
            if oid not in drafts:
                bare = None if reached else schema
                drafts[oid] = Draft(name, bare, (schema, name), kind="view" if is_view else "table", comment=comment)
            column_name, data_type, not_null, default, note = column
            drafts[oid].columns.append(Column(column_name, data_type, not not_null, False, default, note))
        for oid, tuples, size in self._catalogue(_SIZES):
            if draft := drafts.get(oid):
                draft.row_count, draft.estimated = tuples, True
                draft.count_exactly = size <= COUNT_BELOW_BYTES
        for oid, ref_oid, ref_table, columns, ref_columns in self._catalogue(_KEYS):
            if oid in drafts and ref_oid in drafts:
                drafts[oid].foreign_keys.append(ForeignKey(tuple(columns), ref_table, tuple(ref_columns)))
        for oid, name, primary, unique, columns in self._catalogue(_INDEXES):
            if oid in drafts and columns and None not in columns:
                drafts[oid].indexes.append(Index(name, tuple(columns), unique=bool(unique)))
                if primary:
                    drafts[oid].primary_key = tuple(columns)
        count_small(drafts.values(), self._count, "postgres")
        return Schema("postgres", tuple(d.table() for d in drafts.values()))

    # How a statement runs

    @contextmanager
    def _open(self, run: StatementRun) -> Iterator[OpenStatement]:
        with self._reading(run) as connection:
            self._declare(connection, run, self._unambiguous(connection, run))
            described = connection.pgconn.describe_portal(b"answer")
            names = (described.fname(i) or b"" for i in range(described.nfields))
            columns = tuple(name.decode("utf-8", "replace") for name in names)
            yield OpenStatement(columns, _fetched(connection.cursor(), run.limits.rows + 1))

    @contextmanager
    def _open_plan(self, run: StatementRun) -> Iterator[OpenStatement]:
        with self._reading(run) as connection:
            sql = self._unambiguous(connection, run)
            self._declare(connection, run, sql)  # proves that it is a SELECT: EXPLAIN accepts more
            yield OpenStatement(("plan",), iter(connection.execute(f"EXPLAIN {sql}".encode(), prepare=True)))

    def _unambiguous(self, connection: psycopg.Connection[Any], run: StatementRun) -> str:
        """The statement as it is sent: where the database has functions or operators of its own that could be taken for
        the engine's, over tables by their full names, and with nothing but the engine's own in reach."""
        (ambiguous,) = connection.execute(_OVERLOADS).fetchone() or (True,)
        if not ambiguous:
            return run.sql
        tree = run.statement.tree or parse(run.sql, "postgres").tree
        if tree is None:
            raise DatabaseError("the statement cannot be read")
        asked = list({_spelled(table.this) for table in tree.find_all(exp.Table)})
        places = dict(connection.execute(_REACHED, [asked]).fetchall())
        connection.execute("SET LOCAL search_path = pg_catalog, pg_temp")
        named = in_places(tree, "postgres", lambda name: (places[_spelled(name)],) if _spelled(name) in places else ())
        return render(named, "postgres")

    def _declare(self, connection: psycopg.Connection[Any], run: StatementRun, sql: str) -> None:
        """Plan the statement as a cursor: the grammar accepts one SELECT only, without INTO and without writing
        CTEs."""
        import psycopg

        lowered = sql.lower()
        refused = _REFUSED.search(lowered)
        if refused:
            raise DatabaseError(f"{refused.group()} may not be used in a query")
        if self._superuser and (called := self._own_functions.intersection(re.findall(r"[^\W\d][\w$]*", lowered))):
            raise DatabaseError(
                f"{min(called)} is a function of this database that may do anything a superuser may; "
                "connect as an ordinary role to call it"
            )
        result = connection.pgconn.exec_params(f"DECLARE answer NO SCROLL CURSOR FOR {sql}".encode(), None)
        if result.status != psycopg.pq.ExecStatus.COMMAND_OK:
            told = psycopg.errors.Diagnostic(result, "utf-8")
            shift = len("DECLARE answer NO SCROLL CURSOR FOR ") if sql == run.sql else None
            raise psycopg.errors.lookup(told.sqlstate or "XX000")(_message(told, shift=shift))

    def _start(self, connection: psycopg.Connection[Any], run: StatementRun) -> None:
        role = "SET LOCAL ROLE pg_read_all_data;" if self._superuser else ""
        begin = (
            f"BEGIN ISOLATION LEVEL READ COMMITTED READ ONLY; {role} SET LOCAL lock_timeout = {_LOCK_MS}; "
            f"SET LOCAL statement_timeout = {max(int(run.seconds_left * 1000), 10)}"  # 0 would mean without a limit
        ).encode()
        connection.execute(begin)
        if run.settings:
            calls = ", ".join(["set_config(%s, %s, true)"] * len(run.settings))
            connection.execute(f"SELECT {calls}".encode(), [part for pair in run.settings for part in pair])

    def _interrupting(self, connection: psycopg.Connection[Any], run: StatementRun) -> AbstractContextManager[None]:
        return run.interrupting(
            lambda: connection.cancel_safe(timeout=0.5),
            lambda: _hang_up(connection),
            patience=SERVER_PATIENCE_SECONDS,
        )

    def _is_over_time(self, error: Exception) -> bool:
        return getattr(error, "sqlstate", None) == _QUERY_CANCELED

    def _can_go_on(self, connection: psycopg.Connection[Any], run: StatementRun) -> bool:  # noqa: ARG002
        connection.execute(b"ROLLBACK; SELECT pg_advisory_unlock_all()")
        return True

    def _fetch(self, connection: psycopg.Connection[Any], sql: str, run: StatementRun) -> list[tuple[Any, ...]]:  # noqa: ARG002
        return connection.execute(sql.encode()).fetchall()

    def _session(self, connection: psycopg.Connection[Any]) -> int:
        return connection.info.backend_pid

    def _errors(self) -> tuple[type[Exception], ...]:
        import psycopg

        return (psycopg.Error,)

    def _lost(self) -> tuple[type[Exception], ...]:
        import psycopg

        return (psycopg.OperationalError,)

    def _drop(self, connection: psycopg.Connection[Any]) -> None:
        connection.close()

    def _connect(self) -> psycopg.Connection[Any]:
        with driver_needed("PostgreSQL needs its driver: pip install 'askwell[postgres]'"):
            import psycopg

            from eval.databases.postgres_values import keep_every_value
        t = self._target
        try:
            connection: psycopg.Connection[Any] = psycopg.connect(
                host=t.host,
                port=t.port,
                user=t.user or None,
                password=t.password if t.password or t.address else None,
                dbname=t.database,
                connect_timeout=max(2, round(self._connect_seconds)),  # libpq accepts whole seconds, at least two
                application_name="text2sql",
                client_encoding="UTF8",
                keepalives_idle=30,
                autocommit=True,
                prepare_threshold=None,
                **dict(t.options) | (_as_a_stranger(t) if t.address else {}),  # type: ignore[arg-type]
            )
        except psycopg.Error as e:
            raise _connect_error(t, str(e).strip()) from None
        try:
            self._prepare_session(connection)
            keep_every_value(connection)
        except BaseException:
            connection.close()
            raise
        return connection

    def _prepare_session(self, connection: psycopg.Connection[Any]) -> None:
        connection.execute(
            b"SET default_transaction_read_only = on; SET standard_conforming_strings = on; "
            b"SET cursor_tuple_fraction = 1; SET DateStyle = 'ISO, YMD'; SET IntervalStyle = postgres; "
            b"SET bytea_output = hex; SET client_min_messages = error; SET idle_in_transaction_session_timeout = '1h'"
        )
        self._superuser = connection.info.parameter_status("is_superuser") == "on"
        if not self._superuser:
            return
        if connection.info.server_version < 140000:
            raise DatabaseError(
                "before version 14 PostgreSQL has no role that may only read: connect as a role that is no superuser"
            )
        own = "SELECT lower(proname) FROM pg_proc WHERE oid >= 16384 AND provolatile = 'v'"
        self._own_functions = frozenset(name for (name,) in connection.execute(own.encode()).fetchall())


def _spelled(name: exp.Expr) -> str:
    """A table's name as the catalogue spells it."""
    return name.name if name.args.get("quoted") else name.name.lower()


def _fetched(cursor: psycopg.Cursor[Any], most: int) -> Iterator[tuple[Any, ...]]:
    """At most `most` rows of the open portal, received one by one, so that a fetch of wide rows never fills the
    memory."""
    left = most
    while left > 0:
        step = min(_FETCH_ROWS, left)
        received = 0
        for row in cursor.stream(f"FETCH FORWARD {step} FROM answer".encode()):
            received += 1
            yield row
        if received < step:
            return
        left -= step


def _as_a_stranger(target: Target) -> dict[str, str]:
    """Options that stop libpq from resolving an address and from looking for a login in the user's files."""
    import psycopg

    options = {"hostaddr": target.address, "passfile": os.devnull, "gssencmode": "disable"}
    return options | ({"sslcertmode": "disable"} if psycopg.pq.version() >= 160000 else {})


def _connect_error(target: Target, message: str) -> DatabaseError:
    """The error for a failed connection, which libpq reports only as text."""
    if "does not exist" in message and "database" in message:
        return no_database(target)
    if "password authentication failed" in message or "no password supplied" in message:
        return login_refused(target)
    lines = [line for line in target.redact(message).splitlines() if line.strip() and not line.startswith("\t")]
    return DatabaseUnreachable(f"cannot connect to PostgreSQL at {target.where}: {lines[-1] if lines else 'no answer'}")


def _hang_up(connection: psycopg.Connection[Any]) -> None:
    """Break the connection of a driver that waits for a server which is gone."""
    with socket.socket(fileno=os.dup(connection.fileno())) as copy:
        copy.shutdown(socket.SHUT_RDWR)


def _message(told: psycopg.errors.Diagnostic, *, shift: int | None) -> str:
    """The server's message as psql shows it, with its position counted in the user's own statement; without one where
    that was not what was sent."""
    text = told.message_primary or "the server gave no message"
    position = told.statement_position
    if position and shift is not None and int(position) > shift:
        text += f" (at character {int(position) - shift})"
    for label, more in (("DETAIL", told.message_detail), ("HINT", told.message_hint)):
        if more:
            text += f"\n{label}: {more}"
    return text


_READABLE = """
n.nspname <> 'information_schema' AND n.nspname NOT LIKE 'pg\\_%' AND c.relkind IN ('r', 'p', 'v', 'm', 'f')
AND NOT c.relispartition AND c.relpersistence <> 't' AND has_schema_privilege(n.oid, 'USAGE')
AND has_any_column_privilege(c.oid, 'SELECT')
AND NOT EXISTS (SELECT FROM pg_depend x
    WHERE x.classid = 'pg_class'::regclass AND x.objid = c.oid AND x.deptype = 'e')
"""
_COLUMNS = f"""
SELECT c.oid, n.nspname, c.relname, c.relkind IN ('v', 'm'), pg_table_is_visible(c.oid),
    obj_description(c.oid, 'pg_class'), a.attname, format_type(a.atttypid, a.atttypmod), a.attnotnull,
    CASE WHEN a.attgenerated = '' THEN pg_get_expr(d.adbin, d.adrelid) END, col_description(c.oid, a.attnum)
FROM pg_class c
JOIN pg_namespace n ON n.oid = c.relnamespace
JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
WHERE {_READABLE} ORDER BY c.oid, a.attnum
"""
_SIZES = f"""
SELECT c.oid, CASE WHEN bool_and(k.reltuples >= 0) THEN sum(k.reltuples)::bigint END,
    sum(pg_relation_size(k.oid))::bigint
FROM pg_class c
JOIN pg_namespace n ON n.oid = c.relnamespace
CROSS JOIN LATERAL (SELECT c.oid AS part WHERE c.relkind <> 'p'
    UNION ALL SELECT relid FROM pg_partition_tree(c.oid) WHERE c.relkind = 'p' AND isleaf) p
JOIN pg_class k ON k.oid = p.part
WHERE c.relkind IN ('r', 'm', 'p') AND {_READABLE} GROUP BY c.oid
"""
_KEYS = """
SELECT k.conrelid, k.confrelid, t.relname,
    (SELECT array_agg(a.attname::text ORDER BY u.i) FROM unnest(k.conkey) WITH ORDINALITY u(num, i)
        JOIN pg_attribute a ON a.attrelid = k.conrelid AND a.attnum = u.num),
    (SELECT array_agg(a.attname::text ORDER BY u.i) FROM unnest(k.confkey) WITH ORDINALITY u(num, i)
        JOIN pg_attribute a ON a.attrelid = k.confrelid AND a.attnum = u.num)
FROM pg_constraint k JOIN pg_class t ON t.oid = k.confrelid
WHERE k.contype = 'f' AND k.conparentid = 0 ORDER BY k.conrelid, k.oid
"""
_INDEXES = """
SELECT i.indrelid, x.relname, i.indisprimary, i.indisunique AND i.indpred IS NULL AND i.indisvalid,
    (SELECT array_agg(a.attname::text ORDER BY u.i) FROM unnest(i.indkey::int2[]) WITH ORDINALITY u(num, i)
        LEFT JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = u.num AND u.num > 0
        WHERE u.i <= i.indnkeyatts)
FROM pg_index i JOIN pg_class x ON x.oid = i.indexrelid
WHERE i.indrelid >= 16384 ORDER BY i.indexrelid
"""


_WRITE_PRIVILEGES = """
SELECT
  (SELECT rolsuper FROM pg_roles WHERE rolname = session_user),
  has_database_privilege(session_user, current_database(), 'CREATE'),
  (SELECT count(*) FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
   WHERE c.relkind IN ('r', 'p') AND n.nspname <> 'information_schema' AND n.nspname NOT LIKE 'pg\\_%'
     AND has_table_privilege(session_user, c.oid, 'INSERT, UPDATE, DELETE, TRUNCATE'))
"""
"""One row: superuser, may create schemas, tables that the login may write to. It describes the login, not the role that
the connection works as."""


_OWN = """{0}.oid >= 16384 AND NOT EXISTS (SELECT FROM pg_catalog.pg_depend x
    WHERE x.classid = 'pg_catalog.{1}'::regclass AND x.objid = {0}.oid AND x.deptype = 'e')"""
_OVERLOADS = f"""
SELECT EXISTS (SELECT FROM pg_catalog.pg_proc p WHERE {_OWN.format("p", "pg_proc")}
        AND p.pronargs > 0 AND pg_function_is_visible(p.oid)
        AND (EXISTS (SELECT FROM pg_catalog.pg_proc b WHERE b.proname = p.proname AND b.oid < 16384)
            OR EXISTS (SELECT FROM pg_catalog.pg_type t WHERE t.oid = p.proargtypes[0] AND t.typtype IN ('c', 'p'))))
    OR EXISTS (SELECT FROM pg_catalog.pg_operator o WHERE {_OWN.format("o", "pg_operator")}
        AND pg_operator_is_visible(o.oid))
"""
"""Whether a name in a statement could lead to a function or an operator that a user made. Those of extensions, which
only an administrator installs, do not count. A function of one row can be called like a column (`t.f`)."""
_REACHED = """
SELECT c.relname, n.nspname FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
WHERE c.relname = ANY(%s) AND c.relkind IN ('r', 'p', 'v', 'm', 'f') AND pg_table_is_visible(c.oid)
"""
"""The schemas of tables that a name without a schema leads to."""

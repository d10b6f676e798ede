"""MySQL and MariaDB: each statement is streamed in a READ ONLY transaction, then the session is reset.

In: a `Target` with a host. Out: a `Database`. These protections apply even when the guard is bypassed. Before a
statement runs, the server must accept it as the subquery of an EXISTS, in a PREPARE that runs nothing. Its grammar
allows only a query without INTO there, so INTO OUTFILE, SET, CALL, LOAD DATA and several statements never start, even
for an account with the FILE privilege. LOAD_FILE and other functions that reach outside are refused by name. The
deadline is the session's own limit on time and, as for a cancellation, a KILL QUERY from a second connection. The
account's grants are the last barrier: docs/databases.md says what to grant and which risks remain.

The structure is that of the connection's database, as far as the account may read it: four statements on the
information schema, and one that counts small tables.
"""

from __future__ import annotations

import re
import socket
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from typing import Any

from sqlglot import exp

from eval.databases.server import ServerDatabase, login_refused, no_database
from eval.databases.statement_run import SERVER_PATIENCE_SECONDS, OpenStatement, StatementRun
from eval.databases.table_drafts import COUNT_BELOW_BYTES, Draft, count_small, granted_writes, grouped
from eval.databases.types import DatabaseError, DatabaseUnreachable, Value, driver_needed
from eval.databases.urls import Target
from eval.schema import Column, Dialect, ForeignKey, Index, Schema
from eval.sql.nodes import called_name
from eval.sql.traversal import every

_LOCK_SECONDS = 5
_OVER_TIME = (1969, 3024)
"""What a statement over max_statement_time (MariaDB) or max_execution_time (MySQL) ends with."""
MOST_REWRITTEN_BYTES = 65_536
"""The longest stored text that REPLACE and REGEXP_REPLACE may change. Their time grows with the square of the length:
about a second at this length, minutes at a megabyte."""
_LOOK_UP_SECONDS = 1.0
_COM_RESET_CONNECTION = 0x1F
"""https://dev.mysql.com/doc/dev/mysql-server/latest/page_protocol_com_reset_connection.html"""

_NOT_CODE = re.compile(
    r"'(?:[^'\\]|\\.|'')*'|\"(?:[^\"\\]|\\.|\"\")*\"|/\*.*?\*/|#[^\n]*|--(?:\s[^\n]*|$)|(`(?:[^`]|``)*`)", re.S
)
_REFUSED = re.compile(
    r"(?<![\w$])(load_file|sys_\w+|lib_mysqludf\w*|nextval|setval|lastval|next\s+value|previous\s+value|"
    r"(get|release|is_free|is_used)_(all_)?locks?|master_\w*wait|source_pos_wait|wait_for_\w+|"
    r"mysql\s*`?\s*\.|for\s+update|for\s+share|lock\s+in\s+share)(?![\w$])|:=|mysql`?\s*\.",
)
"""Functions and clauses that read files, move sequences, take locks, wait or set variables, and the `mysql` system
database with its password hashes. Each name has one spelling: MySQL has no escapes inside an identifier."""

_MODES = {
    "ONLY_FULL_GROUP_BY", "STRICT_TRANS_TABLES", "STRICT_ALL_TABLES", "NO_ZERO_IN_DATE", "NO_ZERO_DATE",
    "NO_ENGINE_SUBSTITUTION", "ERROR_FOR_DIVISION_BY_ZERO", "NO_UNSIGNED_SUBTRACTION", "PAD_CHAR_TO_FULL_LENGTH",
    "TIME_TRUNCATE_FRACTIONAL", "REAL_AS_FLOAT",
}  # fmt: skip
"""SQL modes kept from the server. Modes that change how a text is read are not kept (ANSI_QUOTES, PIPES_AS_CONCAT,
NO_BACKSLASH_ESCAPES, ORACLE, …), so that the server reads a statement as the guard has read it."""


class MySQLDatabase(ServerDatabase[Any]):
    dialect: Dialect = "mysql"

    _sign_sql = """
SHOW GLOBAL STATUS WHERE Variable_name LIKE 'Com_create%' OR Variable_name LIKE 'Com_alter%'
OR Variable_name LIKE 'Com_drop%' OR Variable_name LIKE 'Com_rename%' OR Variable_name LIKE 'Com_truncate%'
OR Variable_name IN ('Com_grant', 'Com_revoke', 'Com_optimize')
"""
    """The server's own counters of statements that change structure, in any of its databases: cheap, readable by every
    account, always up to date. They can only report a change too many. A restart resets them to zero."""
    _working_sql = "SELECT id FROM information_schema.processlist WHERE command <> 'Sleep'"

    def __init__(self, target: Target, *, infer_keys: bool = True, connect_seconds: float = 5.0) -> None:
        super().__init__(target, infer_keys=infer_keys, connect_seconds=connect_seconds)
        with self._spare() as connection, connection.cursor() as cursor:
            cursor.execute("SELECT VERSION(), @@sql_mode")
            version, modes = cursor.fetchone()
        self._mariadb = "mariadb" in version.lower()
        self._sql_mode = ",".join(m for m in modes.split(",") if m in _MODES)

    def data_version(self) -> str:
        """The server's counters of commits and of statements that write: any write on the server changes them."""
        sql = (
            "SHOW GLOBAL STATUS WHERE Variable_name IN ('Handler_commit', 'Com_insert', 'Com_insert_select', "
            "'Com_update', 'Com_update_multi', 'Com_delete', 'Com_delete_multi', 'Com_replace', 'Com_replace_select', "
            "'Com_load', 'Com_truncate', 'Com_alter_table', 'Com_create_table', 'Com_drop_table', 'Com_commit')"
        )
        with self._driver_errors():
            return "/".join(str(value) for _, value in self._catalogue(sql))

    def write_privileges(self) -> tuple[str, ...]:
        with self._driver_errors():
            return granted_writes((line for (line,) in self._catalogue("SHOW GRANTS")), _GRANT, _WRITES)

    # How the structure is read

    def _read_catalogue(self) -> Schema:
        drafts: dict[str, Draft] = {}
        for name, kind, comment, table_rows, size in self._catalogue(_TABLES):
            is_view = kind == "VIEW"
            draft = drafts[name] = Draft(name, None, (name,), kind="view" if is_view else "table")
            if not is_view:
                draft.comment = comment
                draft.row_count, draft.estimated = table_rows, True
                draft.count_exactly = (size or 0) <= COUNT_BELOW_BYTES
        for table, name, column_type, nullable, default, comment, extra in self._catalogue(_COLUMNS):
            if draft_of := drafts.get(table):
                generated = "GENERATED" in extra.upper() and "DEFAULT_GENERATED" not in extra.upper()
                shown = None if generated or default == "NULL" else default
                draft_of.columns.append(
                    Column(name, _decoded(column_type), nullable == "YES", False, _decoded(shown), comment or None)
                )
        for (table, _), parts in grouped(self._catalogue(_KEYS)).items():
            columns, (ref_table, *_), ref_columns = zip(*parts, strict=True)
            if table in drafts and (target := _spelled(drafts, ref_table)):
                drafts[table].foreign_keys.append(ForeignKey(columns, target, ref_columns))
        for (table, name), parts in grouped(self._catalogue(_INDEXES)).items():
            non_unique, columns = zip(*parts, strict=True)
            if table in drafts and None not in columns:  # None: an expression
                drafts[table].indexes.append(Index(name, columns, unique=not int(non_unique[0])))
                if name == "PRIMARY":
                    drafts[table].primary_key = columns
        count_small(drafts.values(), self._count, "mysql")
        return Schema("mysql", tuple(d.table() for d in drafts.values() if d.columns))

    # How a statement runs

    @contextmanager
    def _open(self, run: StatementRun) -> Iterator[OpenStatement]:
        import pymysql

        try:
            with self._reading(run) as connection:
                self._check(connection, run.sql)
                self._refuse_long_texts(connection, run)
                if run.expired():
                    yield OpenStatement((), iter(()))
                    return
                cursor = connection.cursor(pymysql.cursors.SSCursor)
                cursor.execute(run.sql)
                yield OpenStatement(tuple(str(d[0]) for d in cursor.description or ()), iter(cursor.fetchone, None))
        except pymysql.MySQLError as e:
            raise DatabaseError(_text(e)) from None

    @contextmanager
    def _open_plan(self, run: StatementRun) -> Iterator[OpenStatement]:
        with self._reading(run) as connection, connection.cursor() as cursor:
            self._check(connection, run.sql)
            cursor.execute(f"EXPLAIN {run.sql}")
            yield OpenStatement(tuple(str(d[0]) for d in cursor.description), iter(cursor.fetchall()))

    def _plan_text(self, columns: Sequence[str], rows: Sequence[Sequence[Value]]) -> tuple[str, ...]:
        """One line per row of EXPLAIN's table: `name: value, …`."""
        return tuple(
            ", ".join(f"{name}: {value}" for name, value in zip(columns, row, strict=True) if value is not None)
            for row in rows
        )

    def _check(self, connection: Any, sql: str) -> None:
        """Let the server's own grammar prove that this is one query without INTO; nothing runs here.

        A text that is a complete statement has balanced parentheses, and a text that fits between the parentheses of
        EXISTS is a subquery. A text that is both cannot write a file, set a variable or call anything.
        """
        import pymysql

        if "/*!" in sql or "/*M!" in sql:
            raise DatabaseError("comments that execute may not be used in a query")
        code = _NOT_CODE.sub(lambda m: m.group(1) or " ", sql).lower().replace("`", "")
        refused = _REFUSED.search(code)
        if refused:
            raise DatabaseError(f"{refused.group().strip()} may not be used in a query")
        wrapped = f"SELECT EXISTS(\n{sql}\n)"
        with connection.cursor() as cursor:
            try:
                cursor.execute("PREPARE answer FROM " + connection.escape(wrapped))
            except pymysql.MySQLError:
                cursor.execute("PREPARE answer FROM " + connection.escape(sql))  # fails with the statement's own error
                raise DatabaseError("only a query may run: one SELECT without INTO") from None

    def _refuse_long_texts(self, connection: Any, run: StatementRun) -> None:
        """Refuse REPLACE and REGEXP_REPLACE on columns that hold long texts. Where that cannot be found out in a
        second, the statement runs."""
        if not self._mariadb or run.statement.tree is None:
            return
        for table, column in sorted(rewritten_columns(run.statement.tree, self.schema())):
            length = exp.func("OCTET_LENGTH", exp.column(column), dialect="mysql")
            longer = exp.select("1").from_(exp.table_(table)).where(length > MOST_REWRITTEN_BYTES).limit(1)
            seconds = min(_LOOK_UP_SECONDS, max(run.seconds_left / 2, 0.01))
            limited = f"SET STATEMENT max_statement_time = {seconds:.3f} FOR {longer.sql('mysql', identify=True)}"
            with connection.cursor() as cursor:
                try:
                    longer_texts = cursor.execute(limited)
                except Exception as error:
                    if self._is_over_time(error):
                        continue
                    raise
            if longer_texts:
                raise DatabaseError(
                    f"REPLACE and REGEXP_REPLACE may not be used on {table}.{column}, which holds texts of more than "
                    f"{MOST_REWRITTEN_BYTES // 1024} KiB: MariaDB takes minutes for each and cannot stop"
                )

    def _start(self, connection: Any, run: StatementRun) -> None:
        seconds = max(run.seconds_left, 0.01)  # 0 would mean without a limit
        limit = (
            f"max_statement_time = {seconds:.3f}" if self._mariadb else f"max_execution_time = {int(seconds * 1000)}"
        )
        session = (
            "SET SESSION character_set_client = utf8mb4, character_set_results = utf8mb4, "
            f"character_set_connection = utf8mb4, sql_mode = '{self._sql_mode}', "
            f"lock_wait_timeout = {_LOCK_SECONDS}, innodb_lock_wait_timeout = {_LOCK_SECONDS}, {limit}"
        )
        with connection.cursor() as cursor:
            cursor.execute(session)
            cursor.execute("START TRANSACTION READ ONLY")

    def _interrupting(self, connection: Any, run: StatementRun) -> AbstractContextManager[None]:
        return run.interrupting(
            lambda: self._kill(connection),
            lambda: connection._sock.shutdown(socket.SHUT_RDWR),
            patience=SERVER_PATIENCE_SECONDS,
        )

    def _kill(self, connection: Any) -> None:
        """End the connection's statement, from a second connection."""
        with self._spare() as killer, killer.cursor() as cursor:
            cursor.execute(f"KILL QUERY {int(connection.thread_id())}")

    def _is_over_time(self, error: Exception) -> bool:
        return bool(error.args) and error.args[0] in _OVER_TIME

    def _can_go_on(self, connection: Any, run: StatementRun) -> bool:
        """Roll back and clear everything that a statement may have left: variables, locks, prepared statements."""
        if connection._result is not None and connection._result.unbuffered_active:  # rows are still on their way
            if run.stopped != "timeout":
                self._kill(connection)
            return False
        connection._execute_command(_COM_RESET_CONNECTION, b"")
        connection._read_ok_packet()
        return True

    def _fetch(self, connection: Any, sql: str, run: StatementRun) -> list[tuple[Any, ...]]:  # noqa: ARG002
        with connection.cursor() as cursor:
            cursor.execute(sql)
            return list(cursor.fetchall())

    def _session(self, connection: Any) -> int:
        return int(connection.thread_id())

    def _errors(self) -> tuple[type[Exception], ...]:
        import pymysql

        return (pymysql.MySQLError,)

    def _lost(self) -> tuple[type[Exception], ...]:
        return (*self._errors(), OSError)

    def _text(self, error: Exception) -> str:
        return _text(error)

    def _drop(self, connection: Any) -> None:
        """Close at once, without reading the rest of the server's output."""
        reader = connection._rfile
        with suppress(Exception):
            if connection._result is not None:
                connection._result.unbuffered_active = False  # otherwise the driver would read the rest of the rows
            connection._force_close()
        with suppress(Exception):
            reader.close()  # it holds the socket open, until the collector of circles finds the connection

    def _connect(self) -> Any:
        with driver_needed("MySQL and MariaDB need their driver: pip install 'askwell[mysql]'"):
            import pymysql
        t = self._target
        options: dict[str, Any] = dict(t.options)
        try:
            connection = pymysql.connect(
                host=t.host,
                port=t.port,
                user=t.user or None,
                password=t.password,
                database=t.database,
                charset="utf8mb4",
                connect_timeout=max(1, round(self._connect_seconds)),
                read_timeout=max(1, round(self._connect_seconds)),  # for a server that accepts and then says nothing
                autocommit=True,
                local_infile=False,
                client_flag=0,  # without MULTI_STATEMENTS
                defer_connect=bool(t.address),
                **options,
            )
            if t.address:
                connection.connect(socket.create_connection((t.address, t.port), self._connect_seconds))
        except (pymysql.MySQLError, OSError, RuntimeError) as e:
            raise _connect_error(t, e) from None
        connection._read_timeout = None  # from now on the run's deadline decides how long a statement may take
        return connection


def _text(error: Exception) -> str:
    """The text of an error. pymysql's errors carry (code, message); the server's own message comes first."""
    if len(error.args) == 2 and isinstance(error.args[0], int):
        return f"{error.args[1]} ({error.args[0]})"
    return str(error) or type(error).__name__


def _connect_error(target: Target, error: Exception) -> DatabaseError:
    code = error.args[0] if error.args else 0
    if code == 1049:
        return no_database(target)
    if code in (1045, 1698):
        return login_refused(target)
    return DatabaseUnreachable(f"cannot connect to MySQL at {target.where}: {target.redact(_text(error))}")


_REWRITING = frozenset({"replace", "regexp_replace"})
_LONG_TYPES = ("mediumtext", "longtext", "mediumblob", "longblob", "json")
"""Types that hold more than 64 KiB."""


def rewritten_columns(tree: exp.Expr, schema: Schema) -> set[tuple[str, str]]:
    """Pairs of table and column. A column of a subquery counts as the column of that name in any table of the
    statement."""
    long_columns: set[tuple[str, str]] = set()
    tables = every(tree, exp.Table)
    for call in every(tree, exp.Func):
        if called_name(call) not in _REWRITING:
            continue
        text = call.expressions[0] if isinstance(call, exp.Anonymous) and call.expressions else call.this
        for column in every(text, exp.Column) if isinstance(text, exp.Expr) else ():
            named = [source for source in tables if column.table in ("", source.alias_or_name)]
            for table in filter(None, (schema.table(source.name) for source in named or tables)):
                long_columns |= {
                    (table.name, own.name)
                    for own in table.columns
                    if own.name.casefold() == column.name.casefold() and own.type.lower().startswith(_LONG_TYPES)
                }
    return long_columns


_TABLES = """
SELECT table_name, table_type, table_comment, table_rows, data_length FROM information_schema.tables
WHERE table_schema = DATABASE() AND table_type IN ('BASE TABLE', 'SYSTEM VERSIONED', 'VIEW') ORDER BY table_name
"""
_COLUMNS = """
SELECT table_name, column_name, column_type, is_nullable, column_default, column_comment, extra
FROM information_schema.columns WHERE table_schema = DATABASE() ORDER BY table_name, ordinal_position
"""
_KEYS = """
SELECT table_name, constraint_name, column_name, referenced_table_name, referenced_column_name
FROM information_schema.key_column_usage
WHERE table_schema = DATABASE() AND referenced_table_schema = DATABASE()
ORDER BY table_name, constraint_name, ordinal_position
"""
_INDEXES = """
SELECT table_name, index_name, non_unique, column_name FROM information_schema.statistics
WHERE table_schema = DATABASE() ORDER BY table_name, index_name, seq_in_index
"""


def _spelled(drafts: dict[str, Draft], name: str) -> str | None:
    """A referenced table's own spelling: with lower_case_table_names = 2 the key may spell it differently."""
    if name in drafts:
        return name
    return next((n for n in drafts if n.casefold() == name.casefold()), None)


def _decoded(value: str | bytes | None) -> Any:
    """MySQL 8 returns some long texts of the information schema as bytes."""
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else value


_GRANT = re.compile(r"GRANT (.+?) ON (?:TABLE |PROCEDURE |FUNCTION )?(\S+) TO ", re.S)
_WRITES = ("ALL PRIVILEGES", "INSERT", "UPDATE", "DELETE", "CREATE", "DROP", "ALTER", "TRIGGER", "FILE", "SUPER")
"""What GRANT gives, and where; and the privileges that write."""

"""DuckDB: the file is opened read-only in a locked-down instance, with one cursor per statement.

In: a `Target` with a path. Out: a `Database`. These protections apply even when the guard is bypassed: exactly one
statement, of type SELECT, is prepared; the instance has no access to files, network, extensions or the caller's
variables; its configuration is locked and its memory bounded; `interrupt()` ends a statement at its deadline.

`read_schema`: the tables and views of all schemas of the opened database but the one that keeps the cells of imported
files as they were written; the views that show those stand apart.

DuckDB holds a shared lock on the file while it is open: other readers may open it, but a writer in another process may
not. Within one process, all connections to a file share one configuration.
"""

from __future__ import annotations

import atexit
import json
import os
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, fields
from typing import TYPE_CHECKING, Any
from weakref import WeakSet

from eval.databases.base import OpenedDatabase
from eval.databases.statement_run import OpenStatement, RowStream, StatementRun
from eval.databases.table_drafts import Draft, count_statement, keep_counts, quoted
from eval.databases.types import DatabaseError, Limits, Value, Workspace, driver_needed
from eval.databases.urls import Target, file_signs
from eval.schema import Column, Dialect, ForeignKey, Index, Schema, Values
from eval.statement import ReadStatement

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection


_open_ones: WeakSet[DuckDBDatabase] = WeakSet()


@atexit.register
def _close_all() -> None:
    """Else the driver complains on standard error of what still refers to its connections."""
    for database in list(_open_ones):
        database.close()


class DuckDBDatabase(OpenedDatabase):
    dialect: Dialect = "duckdb"

    def __init__(self, target: Target, *, infer_keys: bool = True, workspace: Workspace | None = None) -> None:
        """With a `workspace`, the engine has this process to itself."""
        super().__init__(target, infer_keys)
        self._workspace = workspace
        self._file = self.data_version()
        self._instance = _open(target, workspace)
        _open_ones.add(self)

    def schema(self, *, ttl: float = 300.0) -> Schema:
        """The cache's sign is the file's identity, size and time: while the file is open here, nobody can change it."""
        return self._schema_cache.get(ttl, sign=self.data_version, read=self._read_schema)

    def refusal(self, statement: ReadStatement) -> str | None:
        """Prepare the statement with EXPLAIN, which binds names, types and functions, and plans without running."""
        with RowStream(statement, self.dialect, Limits(seconds=5.0), None, self._open_plan, str) as plan:
            pass
        return plan.error if plan.status == "error" else None

    def data_version(self) -> str:
        """The signs of the file and of its write-ahead log."""
        assert self._target.path is not None
        return file_signs(self._target.path, ".wal")

    def close(self) -> None:
        with self._lock:
            if not self._closed:
                self._closed = True
                _shut(self._instance)
                del self._instance

    @contextmanager
    def _open(self, run: StatementRun) -> Iterator[OpenStatement]:
        with self._cursor() as cursor, run.interrupting(cursor.interrupt):
            _only_select(cursor, run.sql)
            if run.expired():
                yield OpenStatement((), iter(()))
                return
            cursor.execute(run.sql)  # streams: rows are computed as they are fetched
            columns = cursor.description or ()
            # The driver cannot always convert a value with a time zone to Python, which needs an extra package
            zoned = ["WITH TIME ZONE" in str(kind) for _, kind, *_ in columns]
            if any(zoned):  # the same query with such columns as text; the row order is kept
                names = [f"c{i}" for i in range(len(zoned))]
                shown = (f"CAST({n} AS VARCHAR)" if text else n for n, text in zip(names, zoned, strict=True))
                answer = f"(\n{run.sql}\n) AS answer({', '.join(names)})"
                cursor.execute(f"SELECT {', '.join(shown)} FROM {answer}")
            yield OpenStatement(tuple(str(name) for name, *_ in columns), iter(cursor.fetchone, None))

    @contextmanager
    def _open_plan(self, run: StatementRun) -> Iterator[OpenStatement]:
        with self._cursor() as cursor, run.interrupting(cursor.interrupt):
            _only_select(cursor, run.sql)
            yield OpenStatement(("plan",), iter(cursor.execute(f"EXPLAIN (FORMAT json) {run.sql}").fetchone, None))

    def _plan_text(self, columns: Sequence[str], rows: Sequence[Sequence[Value]]) -> tuple[str, ...]:  # noqa: ARG002
        return tuple(line for row in rows for node in json.loads(str(row[-1])) for line in _node_lines(node))

    def _cursor(self) -> DuckDBPyConnection:
        """A new connection to the shared instance, which is reopened when another file has replaced the first one."""
        with self._lock:
            self._require_open()
            sign = self.data_version()
            if sign != self._file:
                _shut(self._instance)
                self._instance = _open(self._target, self._workspace)
                self._file = sign
            return self._instance.cursor()

    def _read_schema(self) -> Schema:
        with self._cursor() as cursor:
            try:
                return self._with_keys(read_schema(cursor), cursor)
            except Exception as e:  # noqa: BLE001 (duckdb.Error, whatever its module is called in this version)
                raise DatabaseError(f"cannot read the structure of {self.url}: {e}") from None


def _only_select(cursor: DuckDBPyConnection, sql: str) -> None:
    """Accept one SELECT, or raise; parsing alone runs nothing. (`FROM t`, VALUES, DESCRIBE and SHOW are SELECTs
    too.)"""
    statements = cursor.extract_statements(sql)
    if len(statements) != 1:
        raise DatabaseError(f"exactly one statement may run, not {len(statements)}")
    kind = str(statements[0].type).rpartition(".")[2]
    if kind != "SELECT":
        raise DatabaseError(f"only a SELECT may run, not a statement of type {kind}")


def _open(target: Target, workspace: Workspace | None) -> DuckDBPyConnection:
    with driver_needed("DuckDB needs its driver: pip install 'askwell[duckdb]'"):
        import duckdb
    try:
        return duckdb.connect(str(target.path), read_only=True, config=_configuration(workspace))
    except duckdb.Error as e:
        message = str(e)
        if "different configuration" in message:
            message = (
                "this process already has the file open with another configuration; close that connection first "
                "(DuckDB allows one configuration per file and process)"
            )
        elif "Conflicting lock" in message or "Could not set lock" in message:
            message = "another process has the file open for writing; DuckDB lets nobody read it meanwhile"
        raise DatabaseError(f"cannot open {target.path}: {message}") from None


def _shut(instance: DuckDBPyConnection) -> None:
    """Close the instance; a statement that was just interrupted may need a moment to release it."""
    import duckdb

    for _ in range(100):
        try:
            instance.close()
            return
        except duckdb.Error:  # busy: DuckDB refuses instead of waiting
            time.sleep(0.01)


def _configuration(workspace: Workspace | None) -> dict[str, str | bool | int | float | list[str]]:
    """The configuration, which is the same for every connection of this process: DuckDB refuses a second one for an
    open file."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2
    temporary = {"temp_directory": ""}
    if workspace is not None:
        memory = workspace.memory_bytes
        size = f"{workspace.temp_bytes >> 20}MiB"
        temporary = {"temp_directory": str(workspace.folder / "duckdb"), "max_temp_directory_size": size}
    return {
        "enable_external_access": "false",
        "autoinstall_known_extensions": "false",
        "autoload_known_extensions": "false",
        "allow_community_extensions": "false",
        "allow_unsigned_extensions": "false",
        "allow_persistent_secrets": "false",
        "python_enable_replacements": "false",
        **temporary,
        "memory_limit": f"{min(memory, 4 << 30) >> 20}MiB",
        "threads": str(min(4, os.cpu_count() or 1)),
        "lock_configuration": "true",
    }


def _node_lines(node: dict[str, Any], depth: int = 0) -> Iterator[str]:
    """A node of a plan and those below it: `  SEQ_SCAN (Table: shop.main.orders, ...)`."""
    details = ", ".join(f"{name}: {value}" for name, value in node["extra_info"].items())
    yield f"{'  ' * depth}{node['name'].strip()} ({details})"
    for child in node["children"]:
        yield from _node_lines(child, depth + 1)


AS_WRITTEN = "as_written"
"""Name of the schema whose tables are reached through views alone, and the end of their names."""
_RELATIONS = """
SELECT table_oid, schema_name, schema_name = current_schema(), table_name, comment, 'table', 0
FROM duckdb_tables() WHERE database_name = current_database() AND NOT internal AND NOT temporary
UNION ALL
SELECT view_oid, schema_name, schema_name = current_schema(), view_name, comment, 'view', 1
FROM duckdb_views() WHERE database_name = current_database() AND NOT internal AND NOT temporary
ORDER BY 7, 1
"""
_COLUMNS = """
SELECT schema_name, table_name, column_name, data_type, is_nullable, column_default, comment, is_generated
FROM duckdb_columns() WHERE database_name = current_database() AND NOT internal
ORDER BY table_oid, column_index
"""
_CONSTRAINTS = """
SELECT schema_name, table_name, constraint_type, constraint_column_names, constraint_name, referenced_table,
    referenced_column_names
FROM duckdb_constraints() WHERE database_name = current_database()
    AND constraint_type IN ('PRIMARY KEY', 'UNIQUE', 'FOREIGN KEY')
ORDER BY table_oid, constraint_index
"""
_INDEXES = """
SELECT schema_name, table_name, index_name, is_unique, expressions FROM duckdb_indexes()
WHERE database_name = current_database() ORDER BY index_oid
"""


def read_schema(connection: DuckDBPyConnection) -> Schema:
    """Four statements on the whole catalogue and one that counts all tables. Raises duckdb.Error."""

    def rows(sql: str) -> list[tuple[Any, ...]]:
        return connection.execute(sql).fetchall()

    drafts: dict[tuple[str, str], Draft] = {}
    kept: set[str] = set()
    for _oid, schema, reached, name, comment, kind, _order in rows(_RELATIONS):
        if schema == AS_WRITTEN:
            kept.add(f"{name}_{AS_WRITTEN}")
        else:
            namespace = None if reached else schema
            drafts[schema, name] = Draft(name, namespace, (schema, name), kind=kind, comment=comment)
    columns = rows(_COLUMNS)
    read = {(table, name): _as_read(comment) for schema, table, name, *_, comment, _ in columns if schema == AS_WRITTEN}
    for schema, table, name, data_type, nullable, default, comment, generated in columns:
        if draft := drafts.get((schema, table)):
            shown_default = None if generated or default == "NULL" else default
            values = read.get((table, name))
            draft.columns.append(Column(name, data_type, bool(nullable), False, shown_default, comment, values))
    for schema, table, kind, columns, name, ref_table, ref_columns in rows(_CONSTRAINTS):
        draft = drafts.get((schema, table))
        if draft is None:
            continue
        if kind == "PRIMARY KEY":
            draft.primary_key = tuple(columns)
        elif kind == "UNIQUE":
            draft.indexes.append(Index(name or "", tuple(columns), unique=True))
        else:
            draft.foreign_keys.append(ForeignKey(tuple(columns), ref_table, tuple(ref_columns)))
    for schema, table, name, unique, expressions in rows(_INDEXES):
        if (draft := drafts.get((schema, table))) and (indexed := _indexed_columns(expressions, draft)):
            draft.indexes.append(Index(name, indexed, unique=bool(unique)))
    tables = [d for d in drafts.values() if d.kind == "table"]
    for start in range(0, len(tables), 200):  # count(*) is answered from DuckDB's own metadata
        chunk = tables[start : start + 200]
        keep_counts(chunk, rows(count_statement(chunk, "duckdb")))
    found = [d for d in drafts.values() if d.columns]
    shows_kept = [d for d in found if d.kind == "view" and d.name in kept]
    return Schema(
        "duckdb",
        tuple(d.table() for d in found if d not in shows_kept),
        as_written=tuple(d.table() for d in shows_kept),
    )


def as_read(values: Values) -> str:
    """The comment on a column of `AS_WRITTEN`: how the import read it."""
    return json.dumps(asdict(values), ensure_ascii=False)


def _as_read(comment: str | None) -> Values | None:
    try:
        facts = json.loads(comment or "null")
    except ValueError:
        return None
    if not isinstance(facts, dict):
        return None
    return Values(*(str(fact)[:200] if (fact := facts.get(of.name)) else None for of in fields(Values)))


def _indexed_columns(expressions: str, draft: Draft) -> tuple[str, ...]:
    """The column names in `[a, "b c"]`; empty when an index is on an expression."""
    by_text = {name: c.name for c in draft.columns for name in (c.name, quoted((c.name,), "duckdb"))}
    text = expressions.strip("[]").replace("'", "")
    if text in by_text:
        return (by_text[text],)
    parts = [by_text.get(p.strip()) for p in text.split(", ")]
    return () if None in parts else tuple(p for p in parts if p is not None)

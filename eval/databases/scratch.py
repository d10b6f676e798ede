"""An empty database built from a structure alone, for checking SQL where the real database is elsewhere.

In: a `Schema` that someone sent. Out: a `Database` of that structure without rows (`holds_rows` is False): SQLite and
DuckDB are built in a private temporary folder, opened read-only like any other file, and gone when it is closed;
PostgreSQL and MySQL have no server here, so only the structure is known and nothing can be run. The tables have names
and types, no keys or defaults: what compiles depends on nothing else, and keys in a circle or to tables that are
missing cannot stop it.
"""

from __future__ import annotations

import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from sqlglot import exp
from sqlglot.errors import SqlglotError

from eval.databases.base import CancelToken, Database, DatabaseError, DriverMissing, ExecutionResult, Limits
from eval.databases.catalogue.assembling import quoted
from eval.databases.inference import with_inferred_keys
from eval.databases.opening import open_database
from eval.databases.running import run_statement
from eval.databases.streaming import RowStream
from eval.schema import Dialect, Schema
from eval.sql.types import ReadStatement

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

_LONGEST_TYPE = 500
"""Characters of a declared type that are read; a longer one counts as text."""


class ScratchDatabase(Database):
    """See the module. Build one with `scratch_database`, and close it."""

    holds_rows = False

    def __init__(self, schema: Schema, name: str) -> None:
        self.dialect: Dialect = schema.dialect
        self.name = name
        self.url = f"scratch:///{schema.fingerprint[:16]}"
        self._schema = _with_certain_keys(schema)
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self._engine: Database | None = None
        if schema.dialect in ("sqlite", "duckdb"):
            self._folder = tempfile.TemporaryDirectory(prefix="text2sql-scratch-", ignore_cleanup_errors=True)
            try:
                self._engine = _built(schema, Path(self._folder.name) / f"scratch.{schema.dialect}")
            except BaseException:
                self.close()
                raise

    def schema(self, *, ttl: float = 300.0) -> Schema:
        """What was given, with the foreign keys that names leave no doubt of; `ttl` means nothing here."""
        return self._schema

    def execute(
        self, statement: ReadStatement, *, limits: Limits | None = None, cancel: CancelToken | None = None
    ) -> ExecutionResult:
        if self._engine is None:
            return run_statement(statement, self.dialect, limits, cancel, _nothing_runs, str)
        return self._engine.execute(statement, limits=limits, cancel=cancel)

    def stream(
        self, statement: ReadStatement, *, limits: Limits | None = None, cancel: CancelToken | None = None
    ) -> RowStream:
        if self._engine is None:
            return RowStream(statement, self.dialect, limits, cancel, _nothing_runs, str)
        return self._engine.stream(statement, limits=limits, cancel=cancel)

    def refusal(self, statement: ReadStatement) -> str | None:
        return self._engine.refusal(statement) if self._engine else None

    def plan_lines(self, statement: ReadStatement) -> tuple[str, ...]:
        return self._engine.plan_lines(statement) if self._engine else ()

    def data_version(self) -> str:
        return "no rows"

    def close(self) -> None:
        if self._engine is not None:
            self._engine.close()
        if self._folder is not None:
            self._folder.cleanup()


def _nothing_runs(*_: object) -> NoReturn:
    raise DatabaseError("only the structure of this database is known, so nothing can be run on it")


def scratch_database(schema: Schema, name: str = "scratch") -> ScratchDatabase:
    """An empty database of that structure. Raises DatabaseError with the engine's own message where it cannot hold a
    table (a name twice, more columns than it allows), DriverMissing where its driver is not installed."""
    return ScratchDatabase(schema, name)


def _with_certain_keys(schema: Schema) -> Schema:
    """Foreign keys by names alone, under the rule for tables without rows: what is given stays as it is."""
    empty = replace(schema, tables=tuple(replace(table, row_count=0) for table in schema.tables))
    inferred = with_inferred_keys(empty, lambda _: [])
    tables = zip(schema.tables, inferred.tables, strict=True)
    return replace(schema, tables=tuple(replace(t, foreign_keys=i.foreign_keys) for t, i in tables))


def _built(schema: Schema, path: Path) -> Database:
    try:
        return _built_sqlite(schema, path) if schema.dialect == "sqlite" else _built_duckdb(schema, path)
    except OSError as error:
        raise DatabaseError(f"no scratch database could be made: {error.strerror or error}") from None


def _built_sqlite(schema: Schema, path: Path) -> Database:
    """Columns without types: SQLite compiles the same with and without."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA journal_mode=OFF")
        connection.execute("PRAGMA synchronous=OFF")
        connection.execute("BEGIN")
        for located, statement in _statements(schema, {}):
            try:
                connection.execute(statement)
            except sqlite3.Error as error:
                raise DatabaseError(_refused("SQLite", located, error)) from None
        connection.execute("COMMIT")
    return open_database(path, infer_keys=False)


def _built_duckdb(schema: Schema, path: Path) -> Database:
    try:
        import duckdb
    except ImportError:
        raise DriverMissing("DuckDB needs its driver: pip install 'text2sql[duckdb]'") from None
    with duckdb.connect(str(path)) as connection:
        connection.execute("SET enable_external_access=false")
        types = _duckdb_types(schema, connection)
        connection.execute("BEGIN")
        for namespace in sorted({t.namespace for t in schema.tables if t.namespace}):
            connection.execute(f"CREATE SCHEMA IF NOT EXISTS {quoted((namespace,), 'duckdb')}")
        for located, statement in _statements(schema, types):
            try:
                connection.execute(statement)
            except duckdb.Error as error:
                raise DatabaseError(_refused("DuckDB", located, error)) from None
        connection.execute("COMMIT")
    return open_database(path, infer_keys=False)


def _refused(engine: str, located: tuple[str, ...], error: Exception) -> str:
    lines = str(error).strip().splitlines() or [type(error).__name__]
    return f"{engine} cannot hold the table {'.'.join(located)[:200]!r}: {lines[0][:300]}"


def _statements(schema: Schema, types: dict[str, str]) -> Iterator[tuple[tuple[str, ...], str]]:
    """Each table's name and its CREATE TABLE. Names are quoted; a type is text that sqlglot wrote, or none."""
    for table in schema.tables:
        located = (table.namespace, table.name) if table.namespace and schema.dialect == "duckdb" else (table.name,)
        columns = (f"{quoted((c.name,), schema.dialect)} {types.get(c.type, '')}".rstrip() for c in table.columns)
        yield located, f"CREATE TABLE {quoted(located, schema.dialect)} ({', '.join(columns)})"


def _duckdb_types(schema: Schema, connection: DuckDBPyConnection) -> dict[str, str]:
    """Each declared type as DuckDB knows it. One that it does not know, or that is no type, counts as text, to which
    every function for texts applies; an unreadable type must not cost the whole answer."""
    import duckdb

    @cache
    def known(written: str) -> bool:
        try:
            connection.execute(f"SELECT CAST(NULL AS {written})")
        except duckdb.Error:
            return False
        return True

    found = {}
    for declared in {column.type for table in schema.tables for column in table.columns}:
        written = _type_in_duckdb(declared)
        found[declared] = written if written and known(written) else "VARCHAR"
    return found


def _type_in_duckdb(declared: str) -> str | None:
    """The type written from its syntax tree; None where the text does not parse as one type."""
    if not declared or len(declared) > _LONGEST_TYPE:
        return None
    try:
        return exp.DataType.build(declared, dialect="duckdb").sql(dialect="duckdb")
    except (SqlglotError, ValueError, RecursionError):
        return None

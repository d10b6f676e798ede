"""An empty database built from a structure alone, to check SQL when the real database is elsewhere.

In: a `Schema` that someone sent. Out: a `Database` with that structure and no rows (`holds_rows` is False). SQLite and
DuckDB databases are built in a private temporary folder, opened read-only like any other file, and deleted on close.
For all other dialects there is no server here: only the structure is known, and names are looked up in it. The tables
have names and types, but no keys or defaults: compilation depends on nothing else, and circular keys or keys to missing
tables cannot break it.
"""

from __future__ import annotations

import sqlite3
import tempfile
from collections.abc import Sequence
from contextlib import AbstractContextManager, closing
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from eval.databases import Isolation, open_database
from eval.databases.base import Database
from eval.databases.inference import with_inferred_keys
from eval.databases.statement_run import OpenStatement, StatementRun
from eval.databases.table_drafts import quoted
from eval.databases.types import DatabaseError, Value, driver_needed
from eval.engines import ENGINES
from eval.errors import first_line
from eval.schema import Dialect, Schema
from eval.sql import parse, resolve
from eval.sql.parser import parse_type
from eval.statement import ReadStatement

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

_LONGEST_TYPE = 500
"""Characters of a declared type that are read; a longer type is treated as text."""
_MOST_TYPES = 20_000
"""Characters of all different types together that are read, the shortest first; the others are treated as text."""


class ScratchDatabase(Database):
    """An empty database; see the module docstring. Build one with `scratch_database`, and close it."""

    executes = False
    holds_rows = False

    def __init__(self, schema: Schema, name: str, isolation: Isolation) -> None:
        self.dialect: Dialect = schema.dialect
        self.name = name
        self.url = f"scratch:///{schema.fingerprint[:16]}"
        # Add foreign keys inferred from names alone, by the rule for tables without rows; given keys stay
        # unchanged
        empty = replace(schema, tables=tuple(replace(table, row_count=0) for table in schema.tables))
        inferred = with_inferred_keys(empty, lambda _: [])
        tables = zip(schema.tables, inferred.tables, strict=True)
        self._schema = replace(schema, tables=tuple(replace(t, foreign_keys=i.foreign_keys) for t, i in tables))
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self._engine: Database | None = None
        if schema.dialect in ("sqlite", "duckdb"):
            self._folder = tempfile.TemporaryDirectory(prefix="text2sql-scratch-", ignore_cleanup_errors=True)
            try:
                self._engine = _built(schema, Path(self._folder.name) / f"scratch.{schema.dialect}", isolation)
            except BaseException:
                self.close()
                raise

    def schema(self, *, ttl: float = 300.0) -> Schema:  # noqa: ARG002
        """The given structure, with the foreign keys that names make unambiguous; `ttl` has no effect here."""
        return self._schema

    def refusal(self, statement: ReadStatement) -> str | None:
        if self._engine is not None:
            return self._engine.refusal(statement)
        phantoms = resolve(parse(statement.sql, self.dialect), self._schema).phantoms
        return f"there is no {phantoms[0].text}" if phantoms else None

    def data_version(self) -> str:
        return "no rows"

    def close(self) -> None:
        if self._engine is not None:
            self._engine.close()
        if self._folder is not None:
            self._folder.cleanup()

    def _open(self, run: StatementRun) -> AbstractContextManager[OpenStatement]:
        return self._running_engine._open(run)

    def _open_plan(self, run: StatementRun) -> AbstractContextManager[OpenStatement]:
        return self._running_engine._open_plan(run)

    def _plan_text(self, columns: Sequence[str], rows: Sequence[Sequence[Value]]) -> tuple[str, ...]:
        return self._running_engine._plan_text(columns, rows)

    def _explain(self, message: str) -> str:
        return self._engine._explain(message) if self._engine else message

    @property
    def _running_engine(self) -> Database:
        if self._engine is None:
            raise DatabaseError("only the structure of this database is known, so nothing can be run on it")
        return self._engine


def scratch_database(schema: Schema, name: str = "scratch", isolation: Isolation = "none") -> ScratchDatabase:
    """An empty database with that structure. `isolation` is as in `open_database`; SQLite needs none, because here it
    only compiles statements, which always terminates. Raises DatabaseError with the engine's own message when it cannot
    hold a table (a duplicate name, more columns than it allows), DriverMissing when its driver is not installed."""
    return ScratchDatabase(schema, name, isolation)


def _built(schema: Schema, path: Path, isolation: Isolation) -> Database:
    try:
        if schema.dialect == "sqlite":  # it compiles the same statements with and without the columns' types
            with closing(sqlite3.connect(path, isolation_level=None)) as connection:
                connection.execute("PRAGMA journal_mode=OFF")
                connection.execute("PRAGMA synchronous=OFF")
                _create_tables(schema, {}, connection, sqlite3.Error)
            return open_database(path, infer_keys=False, isolation="none")
        with driver_needed("DuckDB needs its driver: pip install 'askwell[duckdb]'"):
            import duckdb
        with duckdb.connect(str(path)) as instance:
            instance.execute("SET enable_external_access=false")
            _create_tables(schema, _duckdb_types(schema, instance), instance, duckdb.Error)
        return open_database(path, infer_keys=False, isolation=isolation)
    except OSError as error:
        raise DatabaseError(f"no scratch database could be made: {error.strerror or error}") from None


def _create_tables(schema: Schema, types: dict[str, str], connection: Any, refused: type[Exception]) -> None:
    """Names are quoted; a type is text that sqlglot wrote, or absent."""
    in_duckdb = schema.dialect == "duckdb"
    connection.execute("BEGIN")
    for namespace in sorted({t.namespace for t in schema.tables if t.namespace and in_duckdb}):
        connection.execute(f"CREATE SCHEMA IF NOT EXISTS {quoted((namespace,), 'duckdb')}")
    for table in schema.tables:
        located = (table.namespace, table.name) if table.namespace and in_duckdb else (table.name,)
        columns = (f"{quoted((c.name,), schema.dialect)} {types.get(c.type, '')}".rstrip() for c in table.columns)
        try:
            connection.execute(f"CREATE TABLE {quoted(located, schema.dialect)} ({', '.join(columns)})")
        except refused as error:
            name, engine = ".".join(located)[:200], ENGINES[schema.dialect].title
            raise DatabaseError(f"{engine} cannot hold the table {name!r}: {first_line(error)}") from None
    connection.execute("COMMIT")


def _duckdb_types(schema: Schema, connection: DuckDBPyConnection) -> dict[str, str]:
    """Each declared type as DuckDB knows it. An unknown or invalid type becomes text, to which every text function
    applies; an unreadable type must not cost the whole answer."""
    import duckdb

    @cache
    def known(written: str) -> bool:
        try:
            connection.execute(f"SELECT CAST(NULL AS {written})")
        except duckdb.Error:
            return False
        return True

    types, read = {}, 0
    for declared in sorted({column.type for table in schema.tables for column in table.columns}, key=len):
        read += len(declared)
        readable = declared and len(declared) <= _LONGEST_TYPE and read <= _MOST_TYPES
        kind = parse_type(declared, "duckdb") if readable else None
        written = kind.sql(dialect="duckdb") if kind is not None else ""
        types[declared] = written if written and known(written) else "VARCHAR"
    return types

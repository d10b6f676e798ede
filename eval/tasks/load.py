"""Write a demo database into an engine: tables, rows, indexes, comments, in that order, all or nothing.

In: the definition of a demo and its rows. Out: a filled SQLite or DuckDB file, or tables in a server's database.
Only this module and `warehouses` write to a database in `eval`, and they write only the demo: an existing table is
never touched (`LoadError`).
"""

from __future__ import annotations

import sqlite3
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from eval.databases.types import DriverMissing
from eval.databases.urls import parse_target
from eval.engines import BY_SCHEME
from eval.errors import first_line
from eval.schema import Dialect
from eval.tasks import ddl
from eval.tasks.archive import Row, TableDef
from eval.tasks.ddl import Filled, LoadError, refuse_existing
from eval.tasks.warehouses import load_clickhouse, load_spark


@dataclass(frozen=True, slots=True)
class Progress:
    done: int
    """Number of finished tables."""
    total: int
    """Number of tables in all."""
    message: str
    """The step that was just completed."""
    is_note: bool = False
    """The message is a note for the user, not a step."""


OnProgress = Callable[[Progress], None]


def load(filled: Filled, tables: tuple[TableDef, ...], target: str, on_progress: OnProgress | None = None) -> None:
    """Write the demo into `target`: a URL of an engine that is opened here (`eval.engines`), or a file path (DuckDB for
    `.duckdb` and `.ddb`, otherwise SQLite). A missing file is created; a server's database must exist.

    Raises LoadError when a table of the same name exists, or when the engine refuses; DriverMissing without a driver.
    """
    dialect, where = _target(target)
    if where in ("", ":memory:"):
        raise LoadError("name a file or a server's database to load the demo into")
    writers = {
        "sqlite": _sqlite,
        "duckdb": _duckdb,
        "postgres": _postgres,
        "mysql": _mysql,
        "clickhouse": load_clickhouse,
        "spark": load_spark,
    }
    writers[dialect](_reported(filled, len(tables), on_progress), tables, where)


def _reported(filled: Filled, total: int, on_progress: OnProgress | None) -> Iterator[tuple[TableDef, list[Row]]]:
    for done, (table, rows) in enumerate(filled, 1):
        yield table, rows
        if on_progress:
            on_progress(Progress(done, total, f"{table.name}: {len(rows):,} rows"))


def _target(target: str) -> tuple[Dialect, str]:
    scheme, mark, rest = target.partition("://")
    if not mark:
        return ("duckdb" if target.endswith((".duckdb", ".ddb")) else "sqlite"), target
    engine = BY_SCHEME.get(scheme.lower().partition("+")[0])
    if engine is not None and engine.is_file:
        return engine.dialect, unquote(rest.removeprefix("/"))
    if engine is not None:
        return engine.dialect, f"postgresql://{rest}" if engine.dialect == "postgres" else target
    raise LoadError(
        f"cannot load a demo into {scheme}://; known: sqlite, duckdb, postgresql, mysql, clickhouse, chdb, spark, sc"
    )


def _sqlite(filled: Filled, tables: tuple[TableDef, ...], path: str) -> None:
    try:
        with closing(sqlite3.connect(path, isolation_level=None)) as connection:
            names = connection.execute("SELECT name FROM sqlite_master WHERE type IN ('table', 'view')")
            refuse_existing((name for (name,) in names), tables)
            connection.execute("BEGIN IMMEDIATE")
            for table, rows in filled:
                connection.execute(ddl.create_table(table, "sqlite"))
                connection.executemany(ddl.insert(table, "sqlite"), rows)
                for index in ddl.create_indexes(table, "sqlite"):
                    connection.execute(index)
            connection.execute("COMMIT")
            connection.execute("ANALYZE")
    except sqlite3.Error as error:
        raise LoadError(f"SQLite refused to write {path}: {error}") from error


def _duckdb(filled: Filled, tables: tuple[TableDef, ...], path: str) -> None:
    try:
        import duckdb
    except ImportError as error:
        raise DriverMissing("DuckDB is not installed: pip install 'askwell[duckdb]'") from error
    try:
        with duckdb.connect(path) as connection, tempfile.TemporaryDirectory() as folder:
            names = connection.execute("SELECT table_name FROM information_schema.tables").fetchall()
            refuse_existing((name for (name,) in names), tables)
            connection.execute("BEGIN")
            for table, rows in filled:
                connection.execute(ddl.create_table(table, "duckdb"))
                # Through CSV files: single rows take DuckDB a hundred times longer. NULL is an unquoted empty field
                file = Path(folder) / f"{table.name}.csv"
                for batch in _by_level(table, rows):
                    with file.open("w", encoding="utf-8", newline="") as out:
                        out.writelines(",".join(map(_csv_cell, row)) + "\n" for row in batch)
                    connection.execute(ddl.copy_csv(table, str(file)))
                file.unlink(missing_ok=True)
            connection.execute("COMMIT")
            for table in tables:  # indexes after the commit: DuckDB builds them faster then
                for statement in [*ddl.create_indexes(table, "duckdb"), *ddl.describe(table, "duckdb")]:
                    connection.execute(statement)
    except (duckdb.Error, OSError) as error:
        raise LoadError(f"DuckDB refused to write {path}: {error}") from error


def _by_level(table: TableDef, rows: list[Row]) -> Iterator[list[Row]]:
    """The rows in batches that refer only to earlier batches. When a table refers to itself, DuckDB does not look for
    the target among the rows of the same statement."""
    names = [column.name for column in table.table.columns]
    loops = [key for key in table.table.foreign_keys if key.ref_table == table.name]
    if not loops:
        yield rows
        return
    place, target = names.index(loops[0].columns[0]), names.index(loops[0].ref_columns[0])
    there: set[object] = {None}
    while rows:
        yield [row for row in rows if row[place] in there]
        waiting = [row for row in rows if row[place] not in there]
        there |= {row[target] for row in rows}.difference(row[target] for row in waiting)
        rows = waiting


def _csv_cell(cell: object) -> str:
    if cell is None:
        return ""
    return '"' + cell.replace('"', '""') + '"' if isinstance(cell, str) else str(cell)


def _postgres(filled: Filled, tables: tuple[TableDef, ...], url: str) -> None:
    try:
        import psycopg
    except ImportError as error:
        raise DriverMissing("psycopg is not installed: pip install 'askwell[postgres]'") from error
    try:
        with psycopg.connect(url, connect_timeout=10) as connection, connection.cursor() as cursor:
            cursor.execute("SELECT tablename FROM pg_tables WHERE schemaname = current_schema()")
            refuse_existing((name for (name,) in cursor.fetchall()), tables)
            for table, rows in filled:
                cursor.execute(ddl.create_table(table, "postgres"))
                with cursor.copy(ddl.copy_stdin(table)) as copy:
                    for row in rows:
                        copy.write_row(row)
                for statement in [*ddl.create_indexes(table, "postgres"), *ddl.describe(table, "postgres")]:
                    cursor.execute(statement)
            connection.commit()
            connection.autocommit = True
            cursor.execute("ANALYZE")
    except psycopg.Error as error:
        raise LoadError(f"PostgreSQL refused: {first_line(error)}") from error


def _mysql(filled: Filled, tables: tuple[TableDef, ...], url: str) -> None:
    try:
        import pymysql
    except ImportError as error:
        raise DriverMissing("pymysql is not installed: pip install 'askwell[mysql]'") from error
    made: list[str] = []
    try:
        with closing(pymysql.connect(**mysql_arguments(url))) as connection, connection.cursor() as cursor:
            cursor.execute("SELECT table_name FROM information_schema.tables WHERE table_schema = DATABASE()")
            refuse_existing((name for (name,) in cursor.fetchall()), tables)
            try:
                for table, rows in filled:
                    made.append(table.name)
                    cursor.execute(ddl.create_table(table, "mysql"))
                    cursor.executemany(ddl.insert(table, "mysql"), rows)
                    for index in ddl.create_indexes(table, "mysql"):
                        cursor.execute(index)
                connection.commit()
            except BaseException:
                for name in reversed(made):  # MySQL commits each CREATE, so undo explicitly
                    cursor.execute(ddl.drop(name, "mysql"))
                raise
    except pymysql.Error as error:
        raise LoadError(f"MySQL refused: {first_line(error)}") from error


def mysql_arguments(url: str) -> dict[str, Any]:
    target = parse_target(url)
    return {
        "host": target.host,
        "port": target.port,
        "user": target.user,
        "password": target.password,
        "database": target.database,
        "charset": "utf8mb4",
        "connect_timeout": 10,
        **dict(target.options),
    }

"""Write a demo database into an engine: tables, rows, indexes, comments, in that order, all or nothing.

In: the definition of a demo and its rows. Out: a filled SQLite or DuckDB file, or tables in a server's database.
Only this module writes to a database in `eval`, and it writes only the demo: an existing table is never touched
(`LoadError`). ClickHouse and Spark keep no keys; they are inferred when the database is opened.
"""

from __future__ import annotations

import datetime as dt
import sqlite3
import tempfile
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from eval.databases.table_drafts import quoted
from eval.databases.types import driver_needed
from eval.databases.urls import parse_target
from eval.engines import BY_SCHEME
from eval.errors import first_line
from eval.schema import Column, Dialect
from eval.tasks import ddl
from eval.tasks.archive import Row, TableDef
from eval.tasks.ddl import Filled, LoadError, refuse_existing

if TYPE_CHECKING:
    from eval.databases.spark_connect import SparkConnection


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
    with driver_needed("DuckDB is not installed: pip install 'askwell[duckdb]'"):
        import duckdb
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
    with driver_needed("psycopg is not installed: pip install 'askwell[postgres]'"):
        import psycopg
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
    with driver_needed("pymysql is not installed: pip install 'askwell[mysql]'"):
        import pymysql
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


_SECONDS = 30.0
_WRITE_SECONDS = 300.0


def load_clickhouse(filled: Filled, tables: tuple[TableDef, ...], url: str) -> None:
    """Each table becomes a MergeTree, sorted by its primary key."""
    with driver_needed("ClickHouse needs its driver: pip install 'askwell[clickhouse]'"):
        import clickhouse_connect
        from clickhouse_connect.driver.exceptions import Error
    target = parse_target(url)
    place: dict[str, Any] = {"interface": "chdb", "path": str(target.path)}
    if target.path is None:
        secure = dict(target.options).get("secure") == "true"
        place = {"host": target.host, "port": target.port, "interface": "https" if secure else "http"}
        place |= {"username": target.user or None, "password": target.password}
    try:
        with clickhouse_connect.get_client(database=target.database, **place) as client:
            refuse_existing((name for (name,) in client.query("SHOW TABLES").result_rows), tables)
            for table, rows in filled:
                client.command(_clickhouse_table(table))
                names = [column.name for column in table.table.columns]
                client.insert(quoted((table.name,), "clickhouse"), _converted(table, rows), names)
    except Error as error:
        raise LoadError(f"ClickHouse refused: {target.redact(str(error)).splitlines()[0][:300]}") from None


def _clickhouse_table(table: TableDef) -> str:
    columns = []
    for column in table.table.columns:
        kind = _kind(column, _CLICKHOUSE)
        kind = kind if column.name in table.table.primary_key or not column.nullable else f"Nullable({kind})"
        comment = f" COMMENT {_text(column.comment)}" if column.comment else ""
        columns.append(f"{quoted((column.name,), 'clickhouse')} {kind}{comment}")
    order = ", ".join(quoted((name,), "clickhouse") for name in table.table.primary_key)
    comment = f" COMMENT {_text(table.table.comment)}" if table.table.comment else ""
    name = quoted((table.name,), "clickhouse")
    return f"CREATE TABLE {name} ({', '.join(columns)}) ENGINE = MergeTree ORDER BY ({order}){comment}"


def _text(value: str) -> str:
    return "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"


def load_spark(filled: Filled, tables: tuple[TableDef, ...], url: str) -> None:
    """Each table becomes a Parquet table of the database."""
    from eval.databases.spark_connect import SparkConnection

    with closing(SparkConnection(parse_target(url), _SECONDS)) as connection:
        refuse_existing((name for name, _ in connection.tables(_SECONDS)), tables)
        for table, rows in filled:
            columns = [(column.name, _kind(column, _ARROW)) for column in table.table.columns]
            save_table(connection, table.name, arrow_table(columns, _converted(table, rows)))


def save_table(connection: SparkConnection, name: str, data: Any) -> None:
    """Save a `pyarrow.Table` as a new table, as Arrow data inside the plan: no file has to be shared with the server.
    Raises DatabaseError when the table exists, or when the server refuses."""
    import pyarrow
    from pyspark.sql.connect.proto import commands_pb2

    sink = pyarrow.BufferOutputStream()
    with pyarrow.ipc.new_stream(sink, data.schema) as writer:
        writer.write_table(data)
    request = connection.plan_request(str(uuid.uuid4()))
    operation = request.plan.command.write_operation
    operation.input.local_relation.data = sink.getvalue().to_pybytes()
    operation.source = "parquet"
    operation.mode = commands_pb2.WriteOperation.SAVE_MODE_ERROR_IF_EXISTS
    operation.table.table_name = quoted((name,), "spark")
    operation.table.save_method = commands_pb2.WriteOperation.SaveTable.TABLE_SAVE_METHOD_SAVE_AS_TABLE
    for _ in connection.batches(request, _WRITE_SECONDS):
        pass


def arrow_table(columns: Sequence[tuple[str, str]], rows: Sequence[Sequence[object]]) -> Any:
    """Rows as a `pyarrow.Table`; each column has a name and the name of an Arrow type (`int64`, `string`, `date32`)."""
    import pyarrow

    kinds = [pyarrow.type_for_alias(kind) for _, kind in columns]
    arrays = [
        pyarrow.array((row[i] for row in rows), kind, size=len(rows)) if rows else pyarrow.array([], kind)
        for i, kind in enumerate(kinds)
    ]
    schema = pyarrow.schema([(name, kind) for (name, _), kind in zip(columns, kinds, strict=True)])
    return pyarrow.Table.from_arrays(arrays, schema=schema)


_CLICKHOUSE = {
    "INTEGER": "Int64", "DECIMAL": "Float64", "BOOLEAN": "Bool", "DATE": "Date32", "TIMESTAMP": "DateTime64(0)",
    "VARCHAR": "String",
}  # fmt: skip
_ARROW = {
    "INTEGER": "int64", "DECIMAL": "double", "BOOLEAN": "bool", "DATE": "date32", "TIMESTAMP": "timestamp[us]",
    "VARCHAR": "string",
}  # fmt: skip
"""Amounts are floating-point numbers, as the demos store them."""


def _kind(column: Column, kinds: dict[str, str]) -> str:
    return kinds[column.type.partition("(")[0]]


def _converted(table: TableDef, rows: list[Row]) -> list[list[object]]:
    converters = [_CONVERTERS.get(column.type.partition("(")[0]) for column in table.table.columns]
    return [
        [convert(cell) if convert and cell is not None else cell for cell, convert in zip(row, converters, strict=True)]
        for row in rows
    ]


_CONVERTERS: dict[str, Callable[[Any], object]] = {
    "DATE": dt.date.fromisoformat,
    "TIMESTAMP": dt.datetime.fromisoformat,
    "BOOLEAN": bool,
    "DECIMAL": float,
}

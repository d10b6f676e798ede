"""The demos written into the engines that keep no keys: ClickHouse (a server, or a chDB folder) and Spark Connect.

In: a demo's tables with their rows and a URL of an existing database. Out: the tables, with their comments where the
engine keeps them. Keys are not kept by these engines; they are inferred when the database is opened. Raises LoadError
for a table that exists and for what the engine refuses, DriverMissing, DatabaseError.
"""

from __future__ import annotations

import datetime as dt
import uuid
from collections.abc import Callable, Sequence
from contextlib import closing
from typing import TYPE_CHECKING, Any

from eval.databases.catalogue.table_drafts import quoted
from eval.databases.types import DriverMissing
from eval.databases.urls import parse_target
from eval.schema import Column
from eval.tasks.archive import Row, TableDef
from eval.tasks.ddl import Filled, LoadError, refuse_existing

if TYPE_CHECKING:
    from eval.databases.spark_connect import SparkConnection

_SECONDS = 30.0
_WRITE_SECONDS = 300.0


def load_clickhouse(filled: Filled, tables: tuple[TableDef, ...], url: str) -> None:
    """Each table becomes a MergeTree, sorted by its primary key."""
    try:
        import clickhouse_connect
        from clickhouse_connect.driver.exceptions import Error
    except ImportError as error:
        raise DriverMissing("ClickHouse needs its driver: pip install 'askwell[clickhouse]'") from error
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

"""Write whole tables to a Spark Connect server, as Arrow data inside the plan: no file has to be shared with it.

In: a connection and columns with their rows. Out: a new table in its database. Raises DatabaseError when the table
exists, or when the server refuses.
"""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from typing import Any

from eval.databases.catalogue.table_drafts import quoted
from eval.databases.spark_connect import SparkConnection

_WRITE_SECONDS = 300.0


def save_table(connection: SparkConnection, name: str, data: Any) -> None:
    """Save a `pyarrow.Table` as a table."""
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

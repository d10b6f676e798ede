"""The only package that opens a connection: every engine of `eval.engines` that runs here, behind one interface.

In: a path or URL (`open_database`). Out: a `Database` that introspects, plans and runs statements read-only. A driver
is imported when a database of its engine is opened, never earlier.
"""

from eval.databases.base import Database, in_statement_thread
from eval.databases.factory import open_database
from eval.databases.row_stream import RowStream
from eval.databases.types import (
    CancelToken,
    DatabaseError,
    DatabaseNotFound,
    DatabaseUnreachable,
    DriverMissing,
    ExecutionResult,
    Limits,
)

__all__ = [
    "CancelToken",
    "Database",
    "DatabaseError",
    "DatabaseNotFound",
    "DatabaseUnreachable",
    "DriverMissing",
    "ExecutionResult",
    "Limits",
    "RowStream",
    "in_statement_thread",
    "open_database",
]

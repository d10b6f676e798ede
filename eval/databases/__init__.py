"""The only place that opens a connection: SQLite, DuckDB, PostgreSQL and MySQL behind one interface.

In: a path or URL (`open_database`). Out: a `Database` that introspects, plans and runs statements read-only.
A driver is imported when a database of its engine is opened, never before.
"""

from eval.databases.base import (
    CancelToken,
    Database,
    DatabaseError,
    DatabaseNotFound,
    DatabaseUnreachable,
    DriverMissing,
    ExecutionResult,
    Limits,
    in_statement_thread,
)
from eval.databases.opening import open_database
from eval.databases.streaming import RowStream

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

"""Runs a statement that a client gives or has kept, and prepares its first rows for a reply.

In: SQL, an open database. Out: its outcome under the server's limits; what every reply shows of it.
"""

from __future__ import annotations

from typing import Any

from agent.results import SqlOutcome, run_sql
from agent.server.runs.encoding import few_rows
from agent.server.services import Services
from eval.databases.base import Database
from eval.databases.types import Limits


async def ran(services: Services, database: Database, sql: str) -> SqlOutcome:
    """The outcome of a statement within the server's limits."""
    ttl = services.settings.database.schema_ttl
    return await run_sql(database, sql, limits=run_limits(services), schema_ttl=ttl)


def run_limits(services: Services) -> Limits:
    limits = services.settings.limits
    return Limits(seconds=limits.query_seconds, rows=limits.max_rows)


def first_rows(outcome: SqlOutcome) -> dict[str, Any]:
    """The fields of `FirstRows`, with as many rows as a reply holds. A statement that was cancelled has failed."""
    return {
        "status": "error" if outcome.status == "cancelled" else outcome.status,
        "columns": outcome.columns,
        "rows": [list(row) for row in few_rows(outcome.rows)],
        "rows_returned": len(outcome.rows),
        "truncated": outcome.truncated,
        "error": outcome.error,
        "execution_time_ms": outcome.execution_time_ms,
    }

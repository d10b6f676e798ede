"""SQL that a person wrote or edited, under the same guard, name checks and limits as the agent's own SQL.

In: a database and a text. Out: the guard's verdict, the names that do not exist with the nearest real ones, and, where
the SQL is allowed to run, its rows as JSON. The content of the text never causes an exception.
"""

from __future__ import annotations

import asyncio
import time
from dataclasses import replace
from typing import Any, Literal

from pydantic import BaseModel, Field

from eval.databases.base import Database
from eval.databases.types import DatabaseError, Limits
from eval.databases.values import json_rows, json_value
from eval.sql import Phantom, check, parse, resolve
from eval.statement import ReadStatement


class CheckedSql(BaseModel, frozen=True):
    """What is known of a text before it runs."""

    allowed: bool
    reason: str | None = None
    """Why it may not run; None when it may."""
    sql: str = ""
    """What would be sent: generated back from the tree, comments gone. Empty when refused."""
    phantoms: list[Phantom] = Field(default_factory=list)
    statement: ReadStatement | None = Field(None, exclude=True, repr=False)
    """For `ResultStore.keep`."""


class SqlOutcome(BaseModel, frozen=True):
    """What came of running a text."""

    allowed: bool
    reason: str | None = None
    status: Literal["success", "error", "timeout", "cancelled", "refused"]
    sql: str = ""
    """The statement as sent; empty when refused."""
    phantoms: list[Phantom] = Field(default_factory=list)
    columns: list[str] = Field(default_factory=list)
    rows: list[list[Any]] = Field(default_factory=list)
    """JSON values (`eval.databases.values`)."""
    truncated: bool = False
    error: str | None = None
    """The engine's own message, or the guard's reason."""
    execution_time_ms: float = 0.0


async def check_sql(database: Database, sql: str, *, schema_ttl: float = 300.0) -> CheckedSql:
    """Parse once, ask the guard, look up the names. Nothing runs."""

    def checked() -> CheckedSql:
        parsed = parse(sql, database.dialect)
        try:
            schema = database.schema(ttl=schema_ttl)
        except DatabaseError:
            schema = None  # the statement itself will show what is wrong with the database
        verdict = check(parsed, schema)
        if verdict.statement is None:
            return CheckedSql(allowed=False, reason=verdict.reason)
        phantoms = [] if schema is None else list(resolve(parsed, schema).phantoms)
        return CheckedSql(allowed=True, sql=verdict.statement.sql, phantoms=phantoms, statement=verdict.statement)

    return await asyncio.to_thread(checked)


async def run_sql(database: Database, sql: str, *, limits: Limits, schema_ttl: float = 300.0) -> SqlOutcome:
    """Check a text and run it within the limits if the guard lets it. Cancelling the awaiting task interrupts it. The
    time of the check counts against the deadline, up to half of it.

    A text with unknown names runs all the same: the engine has the last word, and its message comes with the names.
    """
    started = time.monotonic()
    checked = await check_sql(database, sql, schema_ttl=schema_ttl)
    spent = min(time.monotonic() - started, limits.seconds / 2)  # a first look at a wide structure may take long
    limits = replace(limits, spent=limits.spent + spent)
    if checked.statement is None:
        return SqlOutcome(allowed=False, reason=checked.reason, status="refused", error=checked.reason)
    done = await database.execute_async(checked.statement, limits=limits)
    rows = await asyncio.to_thread(json_rows, done.rows)
    return SqlOutcome(
        allowed=True,
        status=done.status,
        sql=checked.sql,
        phantoms=checked.phantoms,
        columns=[str(json_value(name)) for name in done.columns],
        rows=rows,
        truncated=done.truncated,
        error=done.error,
        execution_time_ms=round(done.execution_time_ms, 3),
    )

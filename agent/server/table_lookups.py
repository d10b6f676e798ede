"""A table's first rows and a column's values, for people who browse their data.

In: a table and a column of a schema, found by name there. Out: rows as JSON values. The statements are built as syntax
trees from the schema's own names, pass the guard like any other, and run under a short deadline; whatever takes longer
is left out of the reply.
"""

from __future__ import annotations

from typing import Any

from sqlglot import exp

from agent.server.errors import ApiError, required
from agent.server.replies import Reply
from eval.databases.base import Database
from eval.databases.types import ExecutionResult, Limits
from eval.databases.values import json_rows
from eval.schema import Column, Schema, Table
from eval.sql import check, parsed_from_tree
from eval.sql.sources import quoted_column, table_source

SECONDS = 5.0
CELL_BYTES = 4 * 1024


class SampleReply(Reply):
    columns: list[str]
    rows: list[list[Any]]


class ValueCount(Reply):
    value: Any
    count: int


class ValuesReply(Reply):
    """The most frequent values of a column. What could not be found out in time is null."""

    values: list[ValueCount]
    distinct: int | None
    nulls: int | None
    min: Any
    max: Any


def table_named(schema: Schema, name: str) -> Table:
    """The table of this name, or `namespace.name` if there are several. Raises ApiError 404."""
    namespace, _, bare = name.rpartition(".")
    table = schema.table(name) or (schema.table(bare, namespace) if namespace else None)
    return required(table, "table in this database")


def column_named(table: Table, name: str) -> Column:
    """Raises ApiError 404."""
    return required(table.column(name), "column in this table")


async def sample(database: Database, schema: Schema, table: Table, limit: int) -> SampleReply:
    """The first rows as the engine gives them. Raises ApiError 503 where it fails or takes too long."""
    query = exp.select(*(quoted_column(c.name) for c in table.columns)).from_(table_source(table)).limit(limit)
    done = await _run(database, schema, query, limit)
    if not done.ok:
        raise ApiError(503, done.error or "The rows could not be read.")
    return SampleReply(columns=list(done.columns), rows=json_rows(done.rows))


async def values(
    database: Database, schema: Schema, table: Table, column: Column, limit: int, search: str | None = None
) -> ValuesReply:
    """The most frequent values, and how many different ones there are; `search`: of those that contain it. Null if it
    takes too long. In `search`, % and _ stand for any text and any letter."""
    named = quoted_column(column.name)
    tests: list[exp.Expr] = [exp.Not(this=exp.Is(this=named.copy(), expression=exp.Null()))]
    if search:
        text = exp.Lower(this=exp.cast(named.copy(), "text"))
        tests.append(exp.Like(this=text, expression=exp.Literal.string(f"%{search.lower()}%")))
    counts = (
        exp.select(named.copy(), exp.alias_(exp.Count(this=exp.Star()), "n"))
        .from_(table_source(table))
        .where(*tests)
        .group_by(named.copy())
        .order_by(exp.Ordered(this=exp.Literal.number(2), desc=True), exp.Ordered(this=exp.Literal.number(1)))
        .limit(limit)
    )
    statement = exp.select(
        exp.Count(this=exp.Distinct(expressions=[named.copy()])),
        exp.Sub(this=exp.Count(this=exp.Star()), expression=exp.Count(this=named.copy())),
        exp.Min(this=named.copy()),
        exp.Max(this=named.copy()),
    ).from_(table_source(table))
    frequent = await _run(database, schema, counts, limit)
    overall = await _run(database, schema, statement, 1)
    totals = json_rows(overall.rows)[0] if overall.ok and overall.rows else [None] * 4
    return ValuesReply(
        values=[ValueCount(value=v, count=_count(n) or 0) for v, n in json_rows(frequent.rows)] if frequent.ok else [],
        distinct=_count(totals[0]),
        nulls=_count(totals[1]),
        min=totals[2],
        max=totals[3],
    )


async def _run(database: Database, schema: Schema, tree: exp.Select, rows: int) -> ExecutionResult:
    verdict = check(parsed_from_tree(tree, schema.dialect))
    if verdict.statement is None:
        raise ApiError(400, f"This table cannot be looked at: {verdict.reason}")
    limits = Limits(seconds=SECONDS, rows=rows, cell_bytes=CELL_BYTES, bytes=1024 * 1024)
    return await database.execute_async(verdict.statement, limits=limits)


def _count(value: Any) -> int | None:
    return int(value) if isinstance(value, int | float | str) and str(value).lstrip("-").isdecimal() else None

"""What is known of a column's values besides the values: how many there are, from where to where, how often NULL.

In: an open database and one of its tables. Out: `ColumnFacts` by column, from one statement; of a large table from its
first rows only.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from sqlglot import exp

from agent.knowledge.own_queries import run
from agent.knowledge.value_reading import SCANNED_ROWS, as_text, dated_name
from eval.databases.base import Database
from eval.databases.types import Limits, Value
from eval.schema import NUMERIC, Column, Schema, Table
from eval.sql.quoted_names import quoted_column, table_source

SECONDS = 0.5
"""Time limit for one table."""
_RANGED = re.compile(r"int|real|num|dec|float|doub|money|serial|date|time|year", re.I)
_COLUMNS = 80
"""Maximum columns of one table."""


@dataclass(frozen=True, slots=True)
class ColumnFacts:
    """Figures of one column. What was not read is None."""

    distinct: int | None = None
    """Known distinct values; all of them where `complete`."""
    complete: bool = False
    """Whether the index holds every value of the column."""
    least: Value = None
    greatest: Value = None
    """Smallest and largest number or date, as the engine gives them."""
    nulls: float | None = None
    """Share of the rows without a value, 0..1."""
    sampled: bool = False
    """Whether least, greatest and nulls are those of the first rows only."""


def read_facts(database: Database, schema: Schema, table: Table) -> dict[str, ColumnFacts]:
    """The facts of a table's columns by name, in one pass; empty where it fails or takes too long."""
    columns = table.columns[:_COLUMNS]
    large = table.row_count is None or table.row_count > SCANNED_ROWS
    source: exp.Expression = table_source(table)
    if large:
        names = [quoted_column(c.name) for c in columns]
        source = exp.select(*names).from_(source).limit(SCANNED_ROWS).subquery("scanned")
    cells: list[exp.Expression] = [exp.Count(this=exp.Star())]
    for column in columns:
        value = quoted_column(column.name)
        cells.append(exp.Count(this=value))
        if _ranged(column):
            shown = (
                value if schema.dialect == "sqlite" or NUMERIC.search(column.type) else as_text(column, schema.dialect)
            )
            cells += [exp.Min(this=shown.copy()), exp.Max(this=shown.copy())]
    named = [exp.alias_(cell, f"f{k}") for k, cell in enumerate(cells)]
    result = run(database, exp.select(*named).from_(source), Limits(seconds=SECONDS, rows=1))
    if not result.ok or not result.rows:
        return {}
    row = iter(result.rows[0])
    rows = int(str(next(row)))
    facts = {}
    for column in columns:
        nulls = 1 - int(str(next(row))) / rows if rows else None
        least, greatest = (next(row), next(row)) if _ranged(column) else (None, None)
        facts[column.name] = ColumnFacts(least=least, greatest=greatest, nulls=nulls, sampled=large)
    return facts


def _ranged(column: Column) -> bool:
    """Whether smallest and largest value say something: numbers, dates, and texts whose name says that they are."""
    return bool(_RANGED.search(column.type)) or dated_name(column.name)

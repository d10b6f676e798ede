"""The cells of changed columns as they were written, beside the table that holds what they mean.

In: a staged table and which of its columns are kept. Out: a table in the schema `as_written`, with what is to know of
each column's reading as its comment, and the view that shows it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import astuple, dataclass

from duckdb import DuckDBPyConnection

from agent.sources.tabular.sql import literal, name
from agent.sources.tabular.stage import Staged
from eval.databases.catalogue.duckdb import AS_WRITTEN, as_read
from eval.schema import Values


@dataclass(frozen=True, slots=True)
class Kept:
    cell: str
    """The staged column."""
    column: str
    """Its name in the table."""
    values: Values
    """What is told again with each answer that depends on them."""


def keep(engine: DuckDBPyConnection, table: str, staged: Staged, columns: Sequence[Kept]) -> None:
    """Keep all rows of the file; the column `row` counts as a spreadsheet does."""
    if not columns:
        return
    place = name(AS_WRITTEN, table)
    kept = [of for of in columns if of.column.casefold() != "row"]
    shown = ", ".join((f"{staged.row_sql()} AS row", *(f"{of.cell} AS {name(of.column)}" for of in kept)))
    engine.execute(f"CREATE SCHEMA IF NOT EXISTS {name(AS_WRITTEN)}")
    engine.execute(f"CREATE TABLE {place} AS SELECT {shown} FROM {staged.raw}")
    for of in kept:
        if any(astuple(of.values)):
            comment = literal(as_read(of.values))
            engine.execute(f"COMMENT ON COLUMN {name(AS_WRITTEN, table, of.column)} IS {comment}")
    engine.execute(f"CREATE VIEW {name(f'{table}_{AS_WRITTEN}')} AS SELECT * FROM {place}")

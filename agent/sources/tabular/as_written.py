"""The cells of changed columns as they were written, beside the table that holds what they mean.

In: a staged table and which of its columns are kept. Out: a table in the schema `as_written`, with what is to know of
each column's reading as its comment, and the view that shows it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import astuple

from duckdb import DuckDBPyConnection

from agent.sources.tabular.sql import literal, name
from agent.sources.tabular.stage import Staged
from eval.databases.catalogue.duckdb import AS_WRITTEN, as_read
from eval.schema import Values


def keep(engine: DuckDBPyConnection, table: str, staged: Staged, columns: Mapping[str, tuple[str, Values]]) -> None:
    """Keep all rows of the file; the column `row` counts as a spreadsheet does. `columns`: by name in the table, the
    staged column and what is told again with each answer that depends on it."""
    if not columns:
        return
    place = name(AS_WRITTEN, table)
    kept = {column: of for column, of in columns.items() if column.casefold() != "row"}
    shown = ", ".join([f"{staged.row_sql()} AS row", *(f"{of[0]} AS {name(column)}" for column, of in kept.items())])
    engine.execute(f"CREATE SCHEMA IF NOT EXISTS {name(AS_WRITTEN)}")
    engine.execute(f"CREATE TABLE {place} AS SELECT {shown} FROM {staged.raw}")
    for column, (_, values) in kept.items():
        if any(astuple(values)):
            engine.execute(f"COMMENT ON COLUMN {name(AS_WRITTEN, table, column)} IS {literal(as_read(values))}")
    engine.execute(f"CREATE VIEW {name(f'{table}_{AS_WRITTEN}')} AS SELECT * FROM {place}")

"""Groups that are written once, above their rows, as merged cells of a spreadsheet leave them.

In: a staged table whose first column has gaps. Out: a column in which each gap has the value above it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent.sources.tabular.columns import trimmed

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

FILLED = "of_group"
"""The staged column with the filled cells."""
_FILLED = 0.75
"""Part of the rows up to which the column may be filled."""


def are_groups(engine: DuckDBPyConnection, raw: str, column: str, where: str) -> bool:
    """Whether the column begins with a value and every value is written once."""
    cell = trimmed(column)
    [(rows, filled, first, different)] = engine.execute(
        f"SELECT count(*), count(nullif({cell}, '')), first({cell} ORDER BY rowid), count(DISTINCT nullif({cell}, '')) "
        f"FROM {raw} WHERE {where}"
    ).fetchall()
    return bool(first) and 2 <= filled <= _FILLED * rows and different == filled


def fill(engine: DuckDBPyConnection, raw: str, column: str, where: str) -> None:
    """Add the column `FILLED`."""
    above = f"last_value(nullif({trimmed(column)}, '') IGNORE NULLS) OVER (ORDER BY rowid)"
    engine.execute(f"ALTER TABLE {raw} ADD COLUMN {FILLED} VARCHAR")
    engine.execute(
        f"UPDATE {raw} SET {FILLED} = filled.v FROM (SELECT rowid AS place, {above} AS v FROM {raw} WHERE {where}) "
        f"AS filled WHERE {raw}.rowid = filled.place"
    )

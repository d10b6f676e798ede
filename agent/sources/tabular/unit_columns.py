"""Columns that name the unit of the numbers beside them: `Amount`, `Currency`.

In: a written table. Out: for each column of numbers what it is counted in, where all rows agree, or the column that
says so row by row.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from agent.sources.tabular.columns import Decision
from agent.sources.tabular.sql import name
from agent.sources.tabular.units import CURRENCY_OF, KNOWN

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

_MOST = 20
"""Different units of one column."""


def found(
    engine: DuckDBPyConnection, table: str, decisions: Sequence[Decision], names: Sequence[str]
) -> dict[str, tuple[str | None, str | None]]:
    """(unit, name of the column that names it) by column of numbers; one of the two is None."""
    units: dict[str, tuple[str | None, str | None]] = {}
    for i, (decision, column) in enumerate(zip(decisions, names, strict=True)):
        if not column or decision.plan.kind != "text":
            continue
        cell = name(column)
        rows = engine.execute(f"SELECT DISTINCT {cell} FROM {name(table)} WHERE {cell} <> '' LIMIT {_MOST}").fetchall()
        written = sorted(str(row[0]) for row in rows)
        if not written or not all(text.casefold() in CURRENCY_OF or text.casefold() in KNOWN for text in written):
            continue
        named = {CURRENCY_OF.get(text.casefold(), text) for text in written}
        fact = (next(iter(named)), None) if len(named) == 1 else (None, column)
        units |= {names[at]: fact for at in _beside(i, decisions, names)}
    return units


def _beside(at: int, decisions: Sequence[Decision], names: Sequence[str]) -> Iterator[int]:
    """The columns of amounts that end where the column of units stands, or else the one behind it."""

    def counts(i: int) -> bool:
        return 0 <= i < len(names) and bool(names[i]) and decisions[i].number is not None and not decisions[i].plan.unit

    if not counts(at - 1):
        yield from (i for i in (at + 1,) if counts(i))
        return
    yield at - 1
    i = at - 2
    while counts(i) and decisions[i].type == "DOUBLE":
        yield i
        i -= 1

"""Several files of the same columns staged as one table, with a last column that says where a row is from.

In: what stages each file, and its label. Out: the staged table, and the rows that are none of it: each file has its own
titles, totals and notes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from duckdb import DuckDBPyConnection

from agent.sources.tabular import extra_rows
from agent.sources.tabular.extra_rows import LeftOut
from agent.sources.tabular.plan import MOST_SHOWN, Row
from agent.sources.tabular.sql import literal
from agent.sources.tabular.stage import Bounds, Part, Staged


def stacked(
    engine: DuckDBPyConnection,
    files: Sequence[tuple[str, Staged]],
    header: str,
    totals: str,
    bounds: Bounds,
) -> tuple[Staged, LeftOut]:
    """`files`: the label of each, and its rows, which are dropped; `totals` as in a plan. Raises SourceTooLarge."""
    first = files[0][1]
    named = [head for head in first.headers if head]
    width = max(len(staged.headers) for _, staged in files)  # further fields of odd rows have no names
    names = (*named, *[""] * (width - len(named)))
    columns = ", ".join(f"c{i} VARCHAR" for i in range(width + 1))
    engine.execute(f"CREATE OR REPLACE TEMP TABLE stacked ({columns})")
    engine.execute("CREATE OR REPLACE TEMP TABLE places (place BIGINT)")
    parts: list[Part] = []
    left_out: list[Row] = []
    kept: list[Row] = []
    notes: dict[str, None] = {}
    rows = count = 0
    for label, staged in files:
        found = extra_rows.found(engine, staged, totals)
        engine.execute(f"INSERT INTO places SELECT place + {rows} FROM {extra_rows.PLACES}")
        cells = ", ".join((*_in_order(names, staged.headers), literal(label)))
        engine.execute(f"INSERT INTO stacked SELECT {cells} FROM {staged.raw} ORDER BY rowid")
        engine.execute(f"DROP TABLE {staged.raw}")
        parts.append(Part(label, rows, staged.row))
        for told, of in ((left_out, found.rows), (kept, found.kept)):
            told += [Row(row=row.row, text=f"{label}: {row.text}"[:200]) for row in of]
        notes |= dict.fromkeys(staged.notes)
        rows, count = rows + staged.rows, count + found.count
        bounds.check(rows, width)
    engine.execute(f"CREATE OR REPLACE TEMP TABLE {extra_rows.PLACES} AS SELECT * FROM places")
    types = ("VARCHAR",) * (width + 1)
    other = next((staged.other_encoding for _, staged in files if staged.other_encoding), "")
    whole = Staged("stacked", (*names, header), types, rows, first.row, first.semicolons, other)
    whole = replace(whole, notes=tuple(notes), parts=tuple(parts))
    condition = f"rowid NOT IN (SELECT place FROM {extra_rows.PLACES})"
    return whole, LeftOut(condition, tuple(left_out[:MOST_SHOWN]), count, tuple(kept[:MOST_SHOWN]))


def _in_order(names: Sequence[str], headers: Sequence[str]) -> list[str]:
    """The cells of a file in the order of these names."""
    places: dict[str, list[int]] = {}
    for place, head in enumerate(headers):
        places.setdefault(head.casefold(), []).append(place)
    left = (places.get(head.casefold()) for head in names)
    return [f"c{of.pop(0)}" if of else "NULL" for of in left]

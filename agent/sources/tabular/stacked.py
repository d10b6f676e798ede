"""Several files of the same columns staged as one table, with a last column that says where a row is from.

In: what stages each file, and its label. Out: the staged table, and the rows that are none of it: each file has its own
titles, totals and notes.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from duckdb import DuckDBPyConnection

from agent.sources.tabular import extra_rows
from agent.sources.tabular.extra_rows import LeftOut
from agent.sources.tabular.plan import MOST_SHOWN, Row
from agent.sources.tabular.sql import literal
from agent.sources.tabular.stage import Bounds, Part, Staged

_RAW, _PLACES = "stacked", "places"


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
    engine.execute(f"CREATE OR REPLACE TEMP TABLE {_RAW} ({columns})")
    engine.execute(f"CREATE OR REPLACE TEMP TABLE {_PLACES} (place BIGINT)")
    parts: list[Part] = []
    left_out: list[tuple[str, LeftOut]] = []
    notes: dict[str, None] = {}
    rows = 0
    for label, staged in files:
        found = extra_rows.found(engine, staged, totals)
        engine.execute(f"INSERT INTO {_PLACES} SELECT place + {rows} FROM {extra_rows.PLACES}")
        cells = ", ".join((*_in_order(names, staged.headers), literal(label)))
        engine.execute(f"INSERT INTO {_RAW} SELECT {cells} FROM {staged.raw} ORDER BY rowid")
        engine.execute(f"DROP TABLE {staged.raw}")
        parts.append(Part(label, rows, staged.row))
        left_out.append((label, found))
        notes |= dict.fromkeys(staged.notes)
        rows += staged.rows
        bounds.check(rows, width)
    engine.execute(f"CREATE OR REPLACE TEMP TABLE {extra_rows.PLACES} AS SELECT * FROM {_PLACES}")
    types = ("VARCHAR",) * (width + 1)
    other = next((staged.other_encoding for _, staged in files if staged.other_encoding), "")
    whole = Staged(_RAW, (*names, header), types, rows, first.row, first.semicolons, other, tuple(notes), tuple(parts))
    told = LeftOut(
        f"rowid NOT IN (SELECT place FROM {extra_rows.PLACES})",
        _labelled((label, found.rows) for label, found in left_out)[:MOST_SHOWN],
        sum(found.count for _, found in left_out),
        _labelled((label, found.kept) for label, found in left_out)[:MOST_SHOWN],
    )
    return whole, told


def _labelled(of: Iterable[tuple[str, Sequence[Row]]]) -> tuple[Row, ...]:
    return tuple(Row(row=row.row, text=f"{label}: {row.text}"[:200]) for label, rows in of for row in rows)


def _in_order(names: Sequence[str], headers: Sequence[str]) -> list[str]:
    """The cells of a file in the order of these names."""
    left: list[str | None] = [head.casefold() for head in headers]
    cells = []
    for head in map(str.casefold, names):
        place = left.index(head) if head in left else None
        cells.append("NULL" if place is None else f"c{place}")
        if place is not None:
            left[place] = None
    return cells

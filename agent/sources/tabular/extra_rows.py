"""Rows of a file that are no rows of its table: totals, notes below it, headers repeated in it, blank lines.

In: a staged table. Out: the condition that leaves them out, and what is told of them (blank lines are not told).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from agent.sources.tabular.columns import trimmed
from agent.sources.tabular.plan import MOST_SHOWN, Row
from agent.sources.tabular.sql import BLANKS, literal
from agent.sources.tabular.stage import Staged

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

_WORDS = (
    "(?:sub[ -]?|grand[ -]?|overall )?"
    "(?:totals?|sum|summe|gesamt(?:summe)?|zwischensumme|insgesamt|total g[eé]n[eé]ral|suma)"
)
_TOTAL = re.compile(rf"(?i){_WORDS}\s*:?")
_ABOUT_TOTAL = rf"(?i)({_WORDS}\b.{{0,40}}|.{{1,40}}\b{_WORDS}\s*:?)"
_LABELS = "(?i)total|sum|gesamt"
"""What a cell holds that may be the label of a total."""
_LABEL_COLUMNS = 3
_LAST = 12
"""Rows at the end among which notes and totals are looked for."""
_CANDIDATES = 2000
_USUAL = 0.95
_NUMBER = re.compile(r"[^A-Za-z]*[0-9][^A-Za-z]*")


@dataclass(frozen=True, slots=True)
class LeftOut:
    condition: str
    """SQL that holds for the rows of the table."""
    rows: tuple[Row, ...] = ()
    count: int = 0


def found(engine: DuckDBPyConnection, staged: Staged, filled: Sequence[int], totals: str) -> LeftOut:
    """`filled`: how many cells of each column are."""
    texts = [f"c{i}" for i, kind in enumerate(staged.types) if kind == "VARCHAR"]
    if len(texts) < len(staged.types) or not staged.rows:
        return LeftOut("true")
    blank, concatenated = literal(f"^[{BLANKS}]*$"), f"concat({', '.join(texts)})"
    engine.execute(
        f"CREATE OR REPLACE TEMP TABLE left_out AS SELECT rowid AS place FROM {staged.raw} "
        f"WHERE regexp_matches(coalesce(c0, ''), {blank}) AND regexp_matches({concatenated}, {blank})"
    )
    rows = [] if totals == "keep" or len(texts) < 2 else _extra(engine, staged, texts, filled)
    if rows:
        engine.execute(f"INSERT INTO left_out VALUES {', '.join(f'({at})' for at, _ in rows)}")
    [(count,)] = engine.execute("SELECT count(*) FROM left_out").fetchall()
    told = tuple(Row(row=staged.row + at, text=" | ".join(c for c in cells if c)[:200]) for at, cells in rows)
    condition = "rowid NOT IN (SELECT place FROM left_out)" if count else "true"
    return LeftOut(condition, told[:MOST_SHOWN], len(told))


def _extra(
    engine: DuckDBPyConnection, staged: Staged, texts: Sequence[str], filled: Sequence[int]
) -> list[tuple[int, Sequence[str]]]:
    """(place, cells) of the rows that are no rows of the table."""
    shown = ", ".join(f"coalesce({trimmed(cell)}, '')" for cell in texts)
    labelled = "".join(f" OR regexp_matches({cell}, {literal(_LABELS)})" for cell in texts[:_LABEL_COLUMNS])
    named = [(c, h) for c, h in zip(texts, staged.headers, strict=True) if h]
    repeated = f"OR ({' AND '.join(f'{c} = {literal(h)}' for c, h in named)})" if len(named) > 1 else ""
    rows = engine.execute(
        f"SELECT rowid, {shown} FROM {staged.raw} WHERE rowid NOT IN (SELECT place FROM left_out) AND "
        f"(rowid >= {staged.rows - _LAST} {labelled} {repeated}) "
        f"ORDER BY rowid LIMIT {_CANDIDATES}"
    ).fetchall()
    enough = min(_USUAL * staged.rows, staged.rows - 3) if staged.rows > 6 else staged.rows - 2
    usual = [n >= enough for n in filled]
    extra: list[tuple[int, Sequence[str]]] = [(int(row[0]), row[1:]) for row in rows if _is_extra(row, usual, staged)]
    return extra if len(extra) * 2 <= staged.rows else []


def _is_extra(row: Sequence[Any], usual: Sequence[bool], staged: Staged) -> bool:
    at, cells = row[0], row[1:]
    shown = [cell for cell in cells if cell]
    if all(cell == head for cell, head in zip(cells, staged.headers, strict=True) if head) and any(staged.headers):
        return True
    gaps = any(fills and not cell for fills, cell in zip(usual, cells, strict=True))
    is_last = at >= staged.rows - _LAST
    figures = [cell for cell in shown[1:] if _NUMBER.fullmatch(cell)]
    if figures and re.fullmatch(_ABOUT_TOTAL, shown[0]):
        sums = len(figures) == len(shown) - 1 and _TOTAL.fullmatch(shown[0]) is not None
        return gaps or (sums and at >= staged.rows - 3)
    if is_last and len(cells) > 2 and len(shown) == 1 and cells[0] and gaps:
        return not _NUMBER.fullmatch(cells[0])  # a note
    bare = all(_NUMBER.fullmatch(cell) for cell in shown) and not cells[0] and usual[0]
    return at >= staged.rows - 2 and bare and len(shown) * 2 <= len(cells) and staged.rows > 3

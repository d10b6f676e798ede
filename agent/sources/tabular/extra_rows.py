"""Rows of a file that are no rows of its table: totals, averages, notes below it, headers repeated in it, blank lines.

In: a staged table. Out: the condition that leaves them out, and what is told of them (blank lines are not told). A row
is a total by its label and by what shows it: cells that the others fill and it does not, or figures that are the sums
of the rows above.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from duckdb import DuckDBPyConnection

from agent.sources.tabular import numbers
from agent.sources.tabular.columns import NEVER_COMPUTED, trimmed
from agent.sources.tabular.layout import RULE
from agent.sources.tabular.notation import notation
from agent.sources.tabular.plan import MOST_SHOWN, Row
from agent.sources.tabular.sql import BLANKS, literal
from agent.sources.tabular.stage import Staged, filled

_WORDS = rf"(?:sub[ -]?|grand[ -]?|overall )?(?:{'|'.join(word for line in notation('totals') for word in line)})"
TOTAL = re.compile(rf"(?i){_WORDS}\s*:?")
_TOTAL_AND_FIGURE = re.compile(rf"(?i){_WORDS}[^A-Za-z0-9]*[0-9][^A-Za-z]*")
"""A total in one cell, as in `Total: 50`."""
_ABOUT_TOTAL = re.compile(rf"(?i)({_WORDS}\b.{{0,40}}|.{{1,40}}\b{_WORDS}\s*:?)")
_LABEL_COLUMNS = 3
_LAST = 12
"""Rows at the end among which notes and totals are looked for."""
_CANDIDATES = 2000
"""Rows that are looked at."""
_ADDED_UP = 20_000
"""Rows of a file up to which sums are compared with the rows above."""
_USUAL = 0.95
"""Part of the rows that fill a column which a total leaves blank."""
_SIGNS = frozenset("*:†‡§©=…•→#")
"""What notes are marked with."""
_NUMBER = re.compile(r"[^A-Za-z]*[0-9][^A-Za-z]*")

PLACES = "left_out"
"""The temporary table of the places of what is left out."""
NOT_LEFT_OUT = f"rowid NOT IN (SELECT place FROM {PLACES})"
"""SQL that holds for the other rows."""
Cells = tuple[int, Sequence[str]]
"""A row's place and its cells."""


@dataclass(frozen=True, slots=True)
class LeftOut:
    condition: str
    """SQL that holds for the rows of the table."""
    rows: tuple[Row, ...] = ()
    count: int = 0
    kept: tuple[Row, ...] = ()
    """Rows that are called totals, of which nothing shows that they are."""


def found(engine: DuckDBPyConnection, staged: Staged, totals: str) -> LeftOut:
    """`totals` as in a plan."""
    texts = [f"c{i}" for i, kind in enumerate(staged.types) if kind == "VARCHAR"]
    if len(texts) < len(staged.types) or not staged.rows:
        return LeftOut("true")
    blank, concatenated = literal(f"^[{BLANKS}]*$"), f"concat({', '.join(texts)})"
    blank_first = f"(coalesce(c0, '') < '!' OR c0 > '~') AND regexp_matches(coalesce(c0, ''), {blank})"  # by far faster
    engine.execute(
        f"CREATE OR REPLACE TEMP TABLE {PLACES} AS SELECT rowid AS place FROM {staged.raw} "
        f"WHERE ({blank_first} AND regexp_matches({concatenated}, {blank})) OR (starts_with(c0, '-') OR "
        f"starts_with(c0, '=')) AND regexp_full_match({concatenated}, {literal(RULE.pattern)})"
    )
    [(blanks,)] = engine.execute(f"SELECT count(*) FROM {PLACES}").fetchall()
    rows, kept = ([], []) if totals == "keep" or len(texts) < 2 else _extra(engine, staged, texts, int(blanks))
    if rows:
        engine.execute(f"INSERT INTO {PLACES} VALUES {', '.join(f'({at})' for at, _ in rows)}")
    [(count,)] = engine.execute(f"SELECT count(*) FROM {PLACES}").fetchall()
    condition = NOT_LEFT_OUT if count else "true"
    return LeftOut(condition, _told(staged, rows), len(rows), _told(staged, kept))


def _told(staged: Staged, rows: Sequence[Cells]) -> tuple[Row, ...]:
    return tuple(staged.told(at, " | ".join(c for c in cells if c)) for at, cells in rows[:MOST_SHOWN])


def _extra(
    engine: DuckDBPyConnection, staged: Staged, texts: Sequence[str], blanks: int
) -> tuple[list[Cells], list[Cells]]:
    """The rows that are no rows of the table, and those that are called totals and stay."""
    shown = ", ".join(f"coalesce(nullif({trimmed(cell)}, {literal(NEVER_COMPUTED)}), '')" for cell in texts)
    words = literal(rf"(?i)(^|[^\pL]){_WORDS}([^\pL]|$)")
    labelled = "".join(  # that a cell begins with no digit is by far the fastest to see
        f" OR (NOT ({cell} >= '0' AND {cell} < ':') AND strlen({cell}) < 100 AND regexp_matches({cell}, {words}))"
        for cell in texts[:_LABEL_COLUMNS]
    )
    named = [(c, h) for c, h in zip(texts, staged.headers, strict=True) if h]
    repeated = f"OR ({' AND '.join(f'{c} = {literal(h)}' for c, h in named)})" if len(named) > 1 else ""
    candidates: list[Cells] = [
        (int(row[0]), row[1:])
        for row in engine.execute(
            f"SELECT rowid, {shown} FROM {staged.raw} WHERE {NOT_LEFT_OUT if blanks else 'true'} AND "
            f"(rowid >= {staged.rows - _LAST} OR rowid < 1 {labelled} {repeated}) "
            f"ORDER BY rowid LIMIT {_CANDIDATES}"
        ).fetchall()
    ]
    end, notes = staged.rows, []
    shapes = _Shapes.of(engine, staged)
    for row in reversed(candidates):  # what stands below the table is no part of its end
        if row[0] < staged.rows - _LAST or not shapes.is_note(row[1]):
            break
        end = row[0]
        notes.append(row)
    candidates = [row for row in candidates if row not in notes]
    end = candidates[-1][0] + 1 if notes and candidates else end
    called = {at: label for at, cells in candidates if (label := _label(cells)) is not None}
    of_totals = [cells for at, cells in candidates if at in called]
    rows = staged.rows - blanks - len(of_totals)
    enough = min(_USUAL * rows, rows - 3) if rows > 6 else rows - 1 if of_totals else rows - 2
    counts = filled(engine, staged.raw, texts)
    usual = [n - sum(bool(cells[i]) for cells in of_totals) >= enough for i, n in enumerate(counts)]
    extra = [row for row in candidates if _is_extra(row, usual, staged, called.get(row[0]), end)]
    may_be = [row for row in candidates if row[0] in called or shapes.closes(row, usual, end)]
    unproven = [row for row in may_be if row not in extra]
    if unproven and staged.rows <= _ADDED_UP:
        proven = _sums(engine, staged, texts, {at for at, _ in (*extra, *unproven)}, unproven)
        extra += [row for row in unproven if row[0] in proven]
        unproven = [row for row in unproven if row[0] not in proven]
    extra = sorted([*extra, *notes])
    kept = staged.rows - blanks - len(extra)
    below = kept > 1 and bool(extra) and extra[0][0] >= kept  # all of them stand behind the rows
    if len(extra) * 2 > staged.rows and not below:
        return [], []
    stays = [row for row in unproven if row[0] in called]
    return extra, [(at, cells) for at, cells in stays if TOTAL.fullmatch(cells[called[at]]) is None]


def _is_figure(cell: str) -> bool:
    """A number with signs around it, or with its unit: `42,5 kg`."""
    return _NUMBER.fullmatch(cell) is not None or numbers.is_number(cell)


def _label(cells: Sequence[str]) -> int | None:
    """The place of the cell that calls the row a total: its first one, or one that says nothing else."""
    figures = [i for i, cell in enumerate(cells) if cell and _is_figure(cell)]
    first = next((i for i, cell in enumerate(cells) if cell), None)
    if first is None or not figures or figures[-1] == first:
        return None
    if _ABOUT_TOTAL.fullmatch(cells[first]):
        return first
    return next((i for i, cell in enumerate(cells[:_LABEL_COLUMNS]) if TOTAL.fullmatch(cell)), None)


def _is_extra(row: Cells, usual: Sequence[bool], staged: Staged, label: int | None, end: int) -> bool:
    """`end`: the place behind the last row that is no note."""
    at, cells = row
    shown = [cell for cell in cells if cell]
    if all(cell == head for cell, head in zip(cells, staged.headers, strict=True) if head) and any(staged.headers):
        return True
    gaps = _has_gaps(cells, usual)
    figures = [cell for cell in shown[1:] if _is_figure(cell)]
    if label is not None:
        sums = len(figures) == len(shown) - 1 and TOTAL.fullmatch(shown[0]) is not None
        return gaps or (sums and at >= end - 3)
    alone = at >= end - _LAST and len(cells) > 2 and len(shown) == 1 and gaps
    if alone and cells[0]:
        return not _NUMBER.fullmatch(cells[0])  # a note
    if alone and _TOTAL_AND_FIGURE.fullmatch(shown[0]):
        return True
    unnamed = not cells[0] and usual[0] and len(shown) * 2 <= len(cells) and staged.rows > 3
    is_edge = at >= end - 2 or at < 1
    return is_edge and unnamed and bool(figures or _NUMBER.fullmatch(shown[0]))  # figures, or a balance


@dataclass(frozen=True, slots=True)
class _Shapes:
    words: int
    """The most words of a cell, but for those at the end of the file."""
    signs: frozenset[str]
    figures: bool
    """Whether all hold a digit, as dates and numbers do."""

    @classmethod
    def of(cls, engine: DuckDBPyConnection, staged: Staged) -> _Shapes:
        above = f"FROM {staged.raw} WHERE rowid < {max(1, staged.rows - _LAST)} AND c0 <> '' LIMIT 5000"
        if staged.rows <= _LAST:
            above = f"FROM {staged.raw} WHERE rowid < {staged.rows // 2 + 1} AND c0 <> ''"
        cells = [str(cell) for (cell,) in engine.execute(f"SELECT c0 {above}").fetchall()]
        words = max((len(cell.split()) for cell in cells), default=0)
        figures = bool(cells) and all(any(c.isdecimal() for c in cell) for cell in cells)
        return cls(words, frozenset(c for cell in cells for c in cell if c in _SIGNS), figures)

    def is_note(self, cells: Sequence[str]) -> bool:
        """Whether a row says something in its first cell alone, in other words than the cells above: more of them,
        or with signs that none of those has."""
        text = cells[0]
        if not text or any(cells[1:]) or _NUMBER.fullmatch(text) or len(cells) < 2:
            return False
        marked = any(c in _SIGNS and c not in self.signs for c in text)
        return (len(text.split()) > max(2, self.words)) or marked

    def closes(self, row: Cells, usual: Sequence[bool], end: int) -> bool:
        """Whether a row stands at the end, says something before its figures (`All wards`), and has gaps where others
        have none or words where they have figures."""
        at, cells = row
        if at < end - 3 or not cells[0] or _NUMBER.fullmatch(cells[0]):
            return False
        other = self.figures and not any(c.isdecimal() for c in cells[0])
        return (other or _has_gaps(cells, usual)) and any(_NUMBER.fullmatch(cell) for cell in cells[1:] if cell)


def _has_gaps(cells: Sequence[str], usual: Sequence[bool]) -> bool:
    """Whether a cell is blank that the rows of the table fill."""
    return any(fills and not cell for fills, cell in zip(usual, cells, strict=True))


def _sums(
    engine: DuckDBPyConnection, staged: Staged, texts: Sequence[str], totals: set[int], rows: Sequence[Cells]
) -> set[int]:
    """Places of the rows whose figures are sums of the rows above: of all, or of those since the total before, in
    most of the columns that have any (averages and shares have none)."""
    agree: Counter[int] = Counter()
    for i, cell in enumerate(texts):
        asked = {at for at, cells in rows if cells[i] and _NUMBER.fullmatch(cells[i])}
        values = _values(engine, staged, cell) if asked else {}
        whole = part = 0.0
        several = 0
        for at in range(staged.rows):
            value = values.get(at, 0.0)
            if at not in totals:
                whole, part, several = whole + value, part + value, several + (at in values)
                continue
            if at in asked and at in values:
                near = any(several > 1 and abs(value - s) <= 0.006 + 1e-9 * abs(s) for s in (whole, part))
                agree[at] += 1 if near else -1
            part = 0.0
    return {at for at, more in agree.items() if more > 0}


def _values(engine: DuckDBPyConnection, staged: Staged, cell: str) -> Mapping[int, float]:
    bare = trimmed(cell)
    counted = engine.execute(f"SELECT {bare} AS v, count(*) FROM {staged.raw} WHERE v <> '' GROUP BY v").fetchall()
    cells: dict[str, int] = dict(counted)
    how = numbers.written(cells, "," if staged.semicolons else None, forced=True)
    if how is None:
        return {}
    read = numbers.sql(bare, how)
    rows = engine.execute(f"SELECT rowid, CAST({read} AS DOUBLE) AS v FROM {staged.raw} WHERE v IS NOT NULL").fetchall()
    return {int(at): float(value) for at, value in rows}

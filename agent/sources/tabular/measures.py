"""Amounts that a plain number does not show: parts in several units (`1h 20m`, `12 kg` beside `500 g`), hours and
minutes (`7:30`), points out of a whole (`4/5`).

In: the cells of a column with how often each occurs. Out: how its amounts are written, in which one unit they are
read, or None where it holds none; and the SQL expression that reads them. Patterns are for Python's `re` and DuckDB's
RE2 alike.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise

from agent.sources.tabular import numbers
from agent.sources.tabular.notation import FACTORS
from agent.sources.tabular.plan import Mark
from agent.sources.tabular.sql import PAD, literal

_PART = re.compile(r"\s{0,4}(?P<figure>[0-9](?:[0-9.,]{0,20}[0-9])?)\s{0,4}(?P<unit>[^\W\d_]{1,8})\.?,?")
_OUT_OF = re.compile(r"([0-9]{1,3}(?:[.,][0-9]{1,2})?)\s{0,4}(?:/|of|out of)\s{0,4}([0-9]{1,3})", re.IGNORECASE)
_HOURS = "[-−]?([0-9]{1,4}):[0-5][0-9](?::[0-5][0-9])?"
_SPENT = re.compile(
    r"(?i)\b(hours?|hrs?|h|worked|overtime|break|breaks|pause|time spent|stunden|arbeitszeit|überstunden|heures|"
    r"balance|saldo)\b"
)
"""What a column of hours and minutes is called, if it is of no clock."""
_LASTED = re.compile(r"(?i)\b(duration|elapsed|length|dauer|durée)\b")
"""What a column of hours and minutes, or of minutes and seconds, is called."""


@dataclass(frozen=True, slots=True)
class Written:
    unit: str
    """In which they are read."""
    decimal: Mark = "."
    factors: tuple[tuple[str, float], ...] = ()
    """Spellings of units, each with what one of it is in `unit`; none where amounts are out of a whole."""
    whole: bool = False
    colon: bool = False
    """Whether they are hours and minutes, or minutes and seconds, with a colon."""
    doubt: str | None = None
    """What could also be meant."""
    why_not: str | None = None

    @property
    def units(self) -> str:
        """What is told of the units that were turned into one."""
        return " and ".join(sorted({spelling for spelling, factor in self.factors if factor != 1}))


def written(header: str, cells: Mapping[str, int], decimal: Mark | None, *, forced: bool) -> Written | None:
    """How the amounts of a column are written. `decimal`: the mark that was decided, or that the file's other columns
    have. With `forced`, the cells that are no amounts are misfits, however many."""
    found = _out_of(cells, forced=forced) or _in_hours(header, cells, forced=forced)
    return found or _in_units(cells, decimal, forced=forced)


def _out_of(cells: Mapping[str, int], *, forced: bool) -> Written | None:
    wholes: Counter[str] = Counter()
    points: Counter[str] = Counter()
    for cell, count in cells.items():
        match = _OUT_OF.fullmatch(cell.strip()) if len(cell) <= numbers.LONGEST else None
        if match and float(match[1].replace(",", ".")) <= int(match[2]):
            wholes[match[2]] += count
            points[match[1]] += count
    if points.total() < (0 if forced else numbers.ENOUGH * sum(cells.values())) or len(points) < 2:
        return None
    if len(wholes) > 1:
        return Written("", why_not=f"its numbers are out of several wholes ({', '.join(sorted(wholes)[:5])})")
    figures = numbers.written(points, None, forced=True)
    assert figures is not None
    return Written(f"out of {next(iter(wholes))}", figures.decimal, whole=figures.whole)


def _in_hours(header: str, cells: Mapping[str, int], *, forced: bool) -> Written | None:
    """`7:30`, if no clock is meant: the column is called so, or there are more hours than a day has. Then they are
    minutes and seconds, unless the column is of hours."""
    read = {cell: match for cell in cells if len(cell) <= numbers.LONGEST and (match := re.fullmatch(_HOURS, cell))}
    if not read or not (forced or sum(cells[cell] for cell in read) >= numbers.ENOUGH * sum(cells.values())):
        return None
    called = re.sub(r"[\W_]+", " ", header)
    in_three = any(cell.count(":") == 2 for cell in read)
    long = {cell.count(":") for cell, match in read.items() if int(match[1]) >= 24}
    owed = any(cell[0] in "-−" for cell in read)
    if _SPENT.search(called) or owed or long == {2}:
        return Written("h", colon=True)
    if not (long or forced or _LASTED.search(called)):
        return None
    likely, other = ("minutes and seconds", "hours and minutes")[:: 1 if long else -1]
    told = None if in_three else f"it is read as {likely} and could be of {other}"
    return Written("min" if long else "h", colon=True, doubt=told)


def _in_units(cells: Mapping[str, int], decimal: Mark | None, *, forced: bool) -> Written | None:
    parts = {cell: found for cell in cells if len(cell) <= numbers.LONGEST and (found := _parts(cell))}
    if not parts or not (forced or sum(cells[cell] for cell in parts) >= numbers.ENOUGH * sum(cells.values())):
        return None
    spellings = {unit for of in parts.values() for _, unit in of}
    family = next((units for units in FACTORS.values() if all(unit.lower() in units for unit in spellings)), None)
    if family is None:
        return None
    for of in parts.values():  # each unit is smaller than the one before it: `1h 20m`, never `20m 1h`
        factors = [family[unit.lower()][1] for _, unit in of]
        if any(before <= after for before, after in pairwise(factors)):
            return None
    occurs: Counter[str] = Counter()
    figures: Counter[str] = Counter()
    for cell, of in parts.items():
        for figure, unit in of:
            figures[figure] += cells[cell]
            occurs[family[unit.lower()][0]] += cells[cell]
    target = max(occurs, key=lambda unit: (occurs[unit], -family[unit][1]))
    if len(occurs) == 1 and all(len(of) == 1 for of in parts.values()):
        return None  # a plain number with its unit
    how = numbers.written(figures, decimal, forced=False)
    if how is None or how.why_not is not None:
        return None
    shares = tuple(sorted((unit, family[unit.lower()][1] / family[target][1]) for unit in spellings))
    return Written(target, how.decimal, shares, whole=how.whole and all(share >= 1 for _, share in shares))


def _parts(cell: str) -> list[tuple[str, str]]:
    """(figure, unit) of a cell that holds nothing else."""
    found: list[tuple[str, str]] = []
    at, text = 0, cell.strip()
    while at < len(text) and len(found) < 4 and (match := _PART.match(text, at)):
        found.append((match["figure"], match["unit"]))
        at = match.end()
    return found if at == len(text) else []


def sql(column: str, how: Written) -> str:
    """The expression that reads the column; NULL where a cell does not fit."""
    if how.colon:
        whole, split = literal(f"{PAD}{_HOURS}{PAD}"), f"string_split(ltrim(trim({column}), '-−'), ':')"
        hours = f"list_sum(list_transform({split}, lambda part, i: part::DOUBLE / [1, 60, 3600][i]))"
        if how.unit == "min":
            hours = f"{hours} * CASE len({split}) WHEN 3 THEN 60 ELSE 1 END"
        sign = f"CASE WHEN regexp_matches({column}, '[-−]') THEN -1 ELSE 1 END"
        return f"CASE WHEN regexp_full_match({column}, {whole}) THEN round({hours}, 9) * {sign} END"
    digits, kind = numbers.DIGITS[how.decimal], "BIGINT" if how.whole else "DOUBLE"
    if not how.factors:
        whole = how.unit.rpartition(" ")[2]
        fits = f"(?i){PAD}{digits}{PAD}(?:/|of|out of){PAD}{whole}{PAD}"
        value = f"TRY_CAST({_plain(column, f'^{PAD}({digits})', how.decimal)} AS {kind})"
        return f"CASE WHEN regexp_full_match({column}, {literal(fits)}) THEN {value} END"
    falling = sorted(how.factors, key=lambda of: (-of[1], -len(of[0])))
    parts = (f"(?:{PAD}{digits}{PAD}(?:{re.escape(spelling)})[.]?,?)?" for spelling, _ in falling)
    fits = f"regexp_full_match({column}, {literal(''.join(parts) + PAD)}) AND regexp_matches({column}, '[0-9]')"
    amounts = (
        f"coalesce(TRY_CAST({_plain(column, f'({digits}){PAD}{re.escape(s)}(?:[^A-Za-z]|$)', how.decimal)} AS DOUBLE)"
        f" * {factor!r}, 0)"
        for s, factor in how.factors
    )
    value = f"round({' + '.join(amounts)}, 9)"
    return f"CASE WHEN {fits} THEN CAST({value} AS {kind}) END"


def _plain(column: str, pattern: str, mark: Mark) -> str:
    """The figure that the pattern's group holds, as the engine casts it."""
    bare = f"regexp_extract({column}, {literal(pattern)}, 1)"
    other = "," if mark == "." else "."
    return f"replace(replace({bare}, {literal(other)}, ''), ',', '.')"

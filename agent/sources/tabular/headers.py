"""Which rows of a file are its header: the rows above it, one row of names or two.

In: the first rows of a file that are not blank. Out: the columns' names and where the data begin. Two rows are read as
one header where a group spans several columns of the same names (`January`, `February` above `Sales`, `Returns`), and
where units stand below the names.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from agent.sources.tabular import dates, measures, numbers
from agent.sources.tabular.columns import is_missing
from agent.sources.tabular.units import CURRENCY_OF, KNOWN

_YEAR = re.compile(r"(1[89]|20|21)\d\d", re.ASCII).fullmatch


@dataclass(frozen=True, slots=True)
class Header:
    names: tuple[str, ...]
    """Empty texts where there is no header row."""
    rows: int
    """Of which it consists: 0 to 2."""
    first: int
    """The first record of data."""


def found_header(records: Sequence[Sequence[str]], ends: Sequence[int]) -> Header:
    """`ends`: lines of text up to the end of each record; blank lines are no records."""
    above = _titles(records)
    first, body = records[above], records[above + 1 :]
    width = max(len(first), *(len(r) for r in body[:1]), 1)
    for at in (above - 1, above):
        pair = records[at : at + 2] if at >= 0 else ()
        follows = len(pair) == 2 and ends[at + 1] - ends[at] == 1 + sum(cell.count("\n") for cell in pair[1])
        if follows and (names := _joined(pair[0], pair[1], records[at + 2 :])):
            return Header(_filled(names[0], width), names[1], at + 2)
    if not _is_header(first, body):
        return Header(("",) * width, 0, above)
    return Header(_filled(first, width), 1, above + 1)


def _filled(row: Sequence[str], width: int) -> tuple[str, ...]:
    return (*row, *[""] * width)[:width]


def _titles(records: Sequence[Sequence[str]]) -> int:
    """How many rows stand above the header: those that fill far fewer cells than the rows of the table do."""
    filled = [sum(cell != "" for cell in row) for row in records]
    usual = Counter(filled[1:] if len(filled) > 2 else filled).most_common(1)[0][0]
    usual = max(usual, sorted(filled)[len(filled) // 2])
    if usual < 2:
        return 0
    for number, (row, count) in enumerate(zip(records[:30], filled, strict=False)):  # no more titles than that
        if count >= 0.7 * usual or (row[0] == "" and count * 3 >= usual):
            return number
    return 0


def _is_header(first: Sequence[str], body: Sequence[Sequence[str]]) -> bool:
    """Whether the first row is a header: it is, unless it fits the types of the rows below it."""
    years = [cell for cell in first if _YEAR(cell)]
    if len(years) == len(set(years)) >= 2 and not all(_YEAR(cell) for cell in first):
        return True  # a column for each year
    typed = 0
    for i, cell in enumerate(first):
        below = Counter(row[i] for row in body if i < len(row) and row[i])
        kind = _kind(below)
        typed += kind is not None
        if kind is not None and cell and _kind({cell: 1}) == kind:
            return False
    return bool(typed) or not any(cell and _kind({cell: 1}) for cell in first)


def _kind(cells: dict[str, int] | Counter[str]) -> str | None:
    if not cells:
        return None
    if dates.written("day", cells, None, forced=False) and not all(cell.isdecimal() for cell in cells):
        return "date"
    if (how := numbers.written(cells, None, forced=False)) and how.why_not is None:
        return "number"
    if (amounts := measures.written("", cells, None, forced=False)) and amounts.why_not is None:
        return "number"
    return "truth" if all(cell.casefold() in ("true", "false", "yes", "no") for cell in cells) else None


def _joined(
    groups: Sequence[str], names: Sequence[str], body: Sequence[Sequence[str]]
) -> tuple[tuple[str, ...], int] | None:
    """(names, of how many rows) where both rows are of the header, or the second alone below groups that its names do
    not need; None where they are no two rows of a header."""
    width = max(len(groups), len(names), *(len(row) for row in body[:1]), 1)
    groups, names = _filled(groups, width), _filled(names, width)
    if not body or not _are_names(names, body) or not _are_names(groups, body, some=True):
        return None
    if all(_is_unit(name) for name in names if name) and not all(_is_unit(group) for group in groups if group):
        units = (
            f"{group} ({name.strip('()[]')})" if name else group for group, name in zip(groups, names, strict=True)
        )
        return tuple(units), 2
    spans = any(g and not after and name for g, after, name in zip(groups, groups[1:], names[1:], strict=False))
    occurs = Counter(name for name in names if name)
    named = [group for group in groups if group]
    whole = all(group or name for group, name in zip(groups, names, strict=True))
    if not (spans or len(set(named)) < len(named)) or (sum(occurs.values()) * 2 < width and not whole):
        return None
    if max(occurs.values()) == 1 and all(name or not group for group, name in zip(groups, names, strict=True)):
        return (names, 1) if groups[0] == "" and len(named) > 1 else None
    return _by_group(groups, names, occurs), 2


def _by_group(groups: Sequence[str], names: Sequence[str], occurs: Counter[str]) -> tuple[str, ...]:
    """Each name with its group in front. A group ends where the next begins, the last one where the names end that
    other groups have, too."""
    last = max((i for i, name in enumerate(names) if occurs[name] > 1), default=len(names) - 1)
    joined, group = [], ""
    for i, (above, name) in enumerate(zip(groups, names, strict=True)):
        group = (above or (group if i <= last else "")) if name else ""
        joined.append(f"{group} {name}".strip() if name else above)  # without a name, merged over both rows
    return tuple(joined)


def _are_names(row: Sequence[str], body: Sequence[Sequence[str]], *, some: bool = False) -> bool:
    """Whether the cells are names and no values: none is typed (but for years) or a mark for no value, and columns
    below them are typed. `some`: the row is of groups, below which that is not asked."""
    cells = [cell for cell in row if cell]
    if not cells or any(is_missing(cell, None) or (_kind({cell: 1}) and not _YEAR(cell)) for cell in cells):
        return False
    below = (Counter(r[i] for r in body if i < len(r) and r[i]) for i in range(len(row)))
    return some or any(cell and _kind(of) and cell not in of for cell, of in zip(row, below, strict=True))


def _is_unit(cell: str) -> bool:
    bare = cell.strip("()[] ").lower()
    return bare in CURRENCY_OF or bare in KNOWN

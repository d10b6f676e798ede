"""Periods: the days, months and quarters that the question names, against the dates of the query.

A day may be written as a text, as a number like 20240630, as the day after (`< '2024-07-01'`), or in parts (a year and
a month number). A query that looks at dates and at none of these looks at another period. Years by themselves:
`literals.py`.
"""

from __future__ import annotations

import datetime as dt
import re
from calendar import month_abbr, month_name
from dataclasses import dataclass

from sqlglot import exp

from eval.scoring.evidence.question_reading import Observation, Observations, Reading
from eval.sql.traversal import every

_MONTHS = {name.casefold(): n for n, name in enumerate(month_name) if name} | {
    name.casefold(): n for n, name in enumerate(month_abbr) if name
}
_NAMES = "|".join(sorted(_MONTHS, key=len, reverse=True))
DAY_WRITTEN = (
    r"(?:the )?(?:(?:\d{4}-\d\d-\d\d)"
    rf"|\d{{1,2}}(?:st|nd|rd|th)?(?: of)? (?:{_NAMES})\.?,? \d{{4}}"
    rf"|(?:{_NAMES})\.? \d{{1,2}}(?:st|nd|rd|th)?,? \d{{4}})"
)
"""A day with its year, in a question in small letters."""
_ISO = re.compile(r"\b(\d{4})-(\d\d)(?:-(\d\d))?\b")
_DAY_FIRST = re.compile(rf"\b(\d{{1,2}})(?:st|nd|rd|th)?(?: of)? ({_NAMES})\b\.?(?:,? (\d{{4}}))?")
_MONTH_FIRST = re.compile(rf"\b({_NAMES})\b\.? (\d{{1,2}})(?:st|nd|rd|th)?\b(?!\d)(?:,? (\d{{4}}))?")
_MONTH = re.compile(
    rf"\b(?:in|of|during|for|from|since|until|to|through)(?: the month of)? ({_NAMES})\b,?(?: of)? (\d{{4}})"
)
_SHOWN = re.compile(r"\b(?:like|as|form|format|such as|e\.g\.|compared (?:with|to))\s+(?:of\s+)?['\"“]?$")
"""What stands before a date that only shows how dates are written, or that is compared with."""
_QUARTER = re.compile(r"\b(?:(first|second|third|fourth|1st|2nd|3rd|4th|last) quarter|quarter ([1-4])|q([1-4]))\b")
_ORDINALS = {"first": 1, "1st": 1, "second": 2, "2nd": 2, "third": 3, "3rd": 3, "fourth": 4, "4th": 4, "last": 4}
_AFTER = re.compile(r"\b(?:after|later|following|next|before)\b")
_WRITTEN = re.compile(r"\b(\d{4})-?(\d\d)(?:-?(\d\d))?\b")
_LAST = re.compile(rf"\b(?:to|through|till|until|and) ({DAY_WRITTEN})")
_BOTH_ENDS = re.compile(r"\bfrom\b|\bbetween\b|\binclu")
_YEARS = (1800, 2199)


@dataclass(frozen=True, slots=True, order=True)
class Day:
    """A day, or a month where `day` is 0."""

    year: int
    month: int
    day: int = 0

    def __str__(self) -> str:
        return f"{self.year:04}-{self.month:02}" + (f"-{self.day:02}" if self.day else "")


def observe(reading: Reading) -> Observations:
    named = [*days_in(reading.question), *_months_in(reading.question)]
    # The days and months of the query's constants
    days = set()
    for constant in reading.constants:
        match = _WRITTEN.match(constant.value)
        if match and _YEARS[0] <= int(match[1]) <= _YEARS[1] and 1 <= int(match[2]) <= 12:
            days.add(Day(int(match[1]), int(match[2]), int(match[3] or 0)))
    written = frozenset(days)
    if named and written:
        missing = next((d for d in named if not _looked_at(d, written, reading)), None)
        if missing is not None:
            yield Observation("date_missing", 1, f"The question names {missing}; the query looks at other dates.")
    if written:
        yield from _quarter(reading, written)
    yield from _last_day(reading)


def _quarter(r: Reading, written: frozenset[Day]) -> Observations:
    found = _QUARTER.search(r.question)
    if found is None or _AFTER.search(r.question):
        return
    number = _ORDINALS.get(found[1] or "") or int(found[2] or found[3] or 0)
    months = {*range(3 * number - 2, 3 * number + 1)}
    if not any(d.month in months for d in written) and not any(c.value[-1:] == str(number) for c in r.constants):
        yield Observation("date_missing", 1, f"The question names quarter {number}; the query looks at other dates.")


def days_in(question: str) -> list[Day]:
    """The days that a question in small letters names; a day without a year has that of the next one named."""
    found: list[tuple[int, int, int, int]] = []
    found += [(m.start(), int(m[1]), int(m[2]), int(m[3])) for m in _ISO.finditer(question) if m[3]]
    found += [(m.start(), int(m[3] or 0), _MONTHS[m[2]], int(m[1])) for m in _DAY_FIRST.finditer(question)]
    for match in _MONTH_FIRST.finditer(question):
        if not any(abs(match.start() - at) < 12 for at, *_ in found):
            found.append((match.start(), int(match[3] or 0), _MONTHS[match[1]], int(match[2])))
    days: list[Day] = []
    year = 0
    for at, named, month, day in sorted(found, reverse=True):
        year = named or year
        if year and 1 <= month <= 12 and 1 <= day <= 31 and not _SHOWN.search(question[:at]):
            days.append(Day(year, month, day))
    return days[::-1]


def _months_in(question: str) -> list[Day]:
    return [
        Day(int(m[2]), _MONTHS[m[1]]) for m in _MONTH.finditer(question) if not _SHOWN.search(question[: m.start()])
    ]


def _looked_at(day: Day, written: frozenset[Day], r: Reading) -> bool:
    """Whether a constant is the day, the one after or before, its month, or the number of the month by itself."""
    near = {(d.year, d.month, d.day) for d in _around(day)}
    if any((d.year, d.month, d.day) in near or (d.year, d.month, 0) == (day.year, day.month, d.day) for d in written):
        return True
    if day.day == 0 and any((d.year, d.month) == (day.year, day.month) for d in written):
        return True
    name = month_name[day.month].casefold()[:3]
    return any(c.value.lstrip("0") == str(day.month) or c.value.casefold().startswith(name) for c in r.constants)


def _around(day: Day) -> list[Day]:
    """The days that may stand for a bound: the day itself and its neighbours; of a month, its first and last days."""
    try:
        first = dt.date(day.year, day.month, day.day or 1)
    except ValueError:
        return [day]
    last = first if day.day else (first + dt.timedelta(days=31)).replace(day=1) - dt.timedelta(days=1)
    ends = {first, last, first - dt.timedelta(days=1), last + dt.timedelta(days=1)}
    return [Day(d.year, d.month, d.day) for d in ends]


def _last_day(r: Reading) -> Observations:
    """`to 30 June`, and the query takes what is before 30 June."""
    if not _BOTH_ENDS.search(r.question):
        return
    for match in _LAST.finditer(r.question):
        for day in days_in(match[1]):
            for node in every(r.tree, exp.LT):
                if isinstance(node.right, exp.Literal) and node.right.name == str(day):
                    yield Observation(
                        "last_day_left_out", 1, f"The question counts {day} in, and the query stops before."
                    )
                    return

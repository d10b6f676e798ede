"""How the values of a column may be read: the types, and the ways in which people write numbers and dates.

In: cells as text. Out: the readings that fit a cell, the value that a reading makes of it, and the one reading of a
column among those that fit all of its cells. A name such as `DATE dmy` is the column's type and the way of writing;
without a second word it is the plain way: `1234.5`, `2026-03-01`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

_TRUTH = {"true": 1, "false": 0, "t": 1, "f": 0, "yes": 1, "no": 0}
_D, _M, _Y = r"(0?[1-9]|[12]\d|3[01])", r"(0?[1-9]|1[0-2])", r"(\d{4})"
_CLOCK = r"[ T]([01]?\d|2[0-3]):([0-5]\d)(?::([0-5]\d)(?:\.\d{1,9})?)?"
_DMY, _MDY, _YMD = rf"{_D}([./-]){_M}\2{_Y}", rf"{_M}([/-]){_D}\2{_Y}", rf"{_Y}([/.]){_M}\2{_D}"

Fits = Callable[[str], object]


def _pattern(text: str) -> Callable[[str], re.Match[str] | None]:
    return re.compile(text, re.ASCII).fullmatch


READINGS: dict[str, Fits] = {
    "INTEGER": _pattern(r"[+-]?(0|[1-9]\d{0,17})"),
    "REAL": _pattern(r"[+-]?((0|[1-9]\d{0,14})(\.\d*)?|\.\d+)([eE][+-]?\d{1,3})?"),
    "BOOLEAN": lambda cell: cell.lower() in _TRUTH,
    "DATE": _pattern(r"\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])"),
    "TIMESTAMP": _pattern(
        r"\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])[ T]"
        r"([01]\d|2[0-3]):[0-5]\d(:[0-5]\d(\.\d{1,9})?)?(Z|[+-]\d\d:?\d\d)?"
    ),
    "INTEGER commas": _pattern(r"[+-]?[1-9]\d{0,2}(,\d{3}){0,4}|0"),
    "REAL commas": _pattern(r"[+-]?([1-9]\d{0,2}(,\d{3}){1,4}|0|[1-9]\d{0,14})(\.\d+)?"),
    "INTEGER points": _pattern(r"[+-]?[1-9]\d{0,2}(\.\d{3}){0,4}|0"),
    "REAL points": _pattern(r"[+-]?([1-9]\d{0,2}(\.\d{3}){1,4}|0|[1-9]\d{0,14})(,\d+)?"),
    "DATE dmy": _pattern(_DMY),
    "DATE mdy": _pattern(_MDY),
    "DATE ymd": _pattern(_YMD),
    "TIMESTAMP dmy": _pattern(_DMY + _CLOCK),
    "TIMESTAMP mdy": _pattern(_MDY + _CLOCK),
}
"""The readings by name, the preferred ones first, each with whether a cell fits it."""

_SAID = {
    "commas": "numbers with commas between thousands (1,234.5 is 1234.5)",
    "points": "numbers with a decimal comma (1.234,5 is 1234.5)",
    "dmy": "dates with the day first (3/2/2026 is 3 February)",
    "mdy": "dates with the month first (2/3/2026 is 3 February)",
    "ymd": "dates with the year first",
}


def sql_type(reading: str) -> str:
    return reading.partition(" ")[0]


def note(reading: str) -> str | None:
    """How a column was read, in words; None for the plain way."""
    return _SAID.get(reading.partition(" ")[2])


def chosen(fitting: Sequence[Sequence[str]], *, semicolons: bool) -> list[str]:
    """One reading for each column, of those that fit all of its values. Where two ways fit, the file's other columns
    and its semicolons tell whether people write the day first and a comma before decimals. A column that no reading
    fits is TEXT."""
    only = [kinds[0] for kinds in fitting if len(kinds) == 1]
    commas_are_decimal = semicolons or "REAL points" in only
    months_first = any(reading.endswith("mdy") for reading in only)
    day_first = not months_first and (commas_are_decimal or any(reading.endswith("dmy") for reading in only))
    readings = []
    for kinds in fitting:
        best = kinds[0] if kinds else "TEXT"
        if best.endswith("commas") and commas_are_decimal and "REAL points" in kinds:
            best = "REAL points"
        if best.endswith("dmy") and not day_first:
            best = next((kind for kind in kinds if kind.endswith("mdy")), best)
        readings.append(best)
    return readings


def is_ambiguous(fitting: Sequence[str]) -> bool:
    """Whether every date of a column could also be read with day and month exchanged."""
    return {"dmy", "mdy"} <= {kind.partition(" ")[2] for kind in fitting}


def stored(reading: str) -> Callable[[str], int | float | str]:
    """What turns a cell that fits the reading into the value to store."""
    return _STORED.get(reading, str)


def _number(thousands: str) -> Callable[[str], float]:
    return lambda cell: float(cell.replace(thousands, "").replace(",", "."))


def _date(pattern: str, order: str) -> Callable[[str], str]:
    matches = re.compile(pattern, re.ASCII).match

    def iso(cell: str) -> str:
        match = matches(cell)
        assert match is not None
        first, _, second, third, *clock = match.groups()
        parts = dict(zip(order, (first, second, third), strict=True))
        day = f"{parts['y']}-{int(parts['m']):02}-{int(parts['d']):02}"
        return day if not clock else f"{day} {int(clock[0]):02}:{clock[1]}:{clock[2] or '00'}"

    return iso


_STORED: dict[str, Callable[[str], int | float | str]] = {
    "INTEGER": int,
    "REAL": float,
    "BOOLEAN": lambda cell: _TRUTH[cell.lower()],
    "INTEGER commas": lambda cell: int(cell.replace(",", "")),
    "REAL commas": lambda cell: float(cell.replace(",", "")),
    "INTEGER points": lambda cell: int(cell.replace(".", "")),
    "REAL points": _number("."),
    "DATE dmy": _date(_DMY, "dmy"),
    "DATE mdy": _date(_MDY, "mdy"),
    "DATE ymd": _date(_YMD, "ymd"),
    "TIMESTAMP dmy": _date(_DMY + _CLOCK, "dmy"),
    "TIMESTAMP mdy": _date(_MDY + _CLOCK, "mdy"),
}

"""Recognises the formats of a column's values: dates, amounts, codes, and markers of missing values.

In: distinct values with their counts. Out: `Format`s, and values that stand for NULL as `Counted`. Uses only regular
expressions and small word lists; column names are ignored.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from agent.knowledge.profile.facts import CELL, Counted, Format
from agent.knowledge.schema_context import one_line

_DAY_FIRST, _MONTH_FIRST = "date as DD/MM/YYYY", "date as MM/DD/YYYY"
_EITHER = "date as MM/DD/YYYY or DD/MM/YYYY"
"""Dates up to the 12th are ambiguous; the other dates of the column decide which format it is."""
_FORMATS: tuple[tuple[str, re.Pattern[str]], ...] = tuple(
    (name, re.compile(pattern, re.I))
    for name, pattern in (
        ("date and time as YYYY-MM-DD hh:mm", r"\d{4}-\d\d-\d\d[ T]\d\d:\d\d.*"),
        ("date as YYYY-MM-DD", r"\d{4}-(?:0\d|1[0-2])-(?:[0-2]\d|3[01])"),
        ("date as YYYY/MM/DD", r"\d{4}/\d{1,2}/\d{1,2}(?: .*)?"),
        (_DAY_FIRST, r"(?:1[3-9]|2\d|3[01])/(?:0?[1-9]|1[0-2])/\d{2,4}(?: .*)?"),
        (_MONTH_FIRST, r"(?:0?[1-9]|1[0-2])/(?:1[3-9]|2\d|3[01])/\d{2,4}(?: .*)?"),
        (_EITHER, r"(?:0?[1-9]|1[0-2])/(?:0?[1-9]|1[0-2])/\d{2,4}(?: .*)?"),
        ("date as DD.MM.YYYY", r"(?:0?[1-9]|[12]\d|3[01])\.(?:0?[1-9]|1[0-2])\.\d{2,4}"),
        ("date as YYYYMMDD", r"(?:19|20)\d\d(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])"),
        ("date with the month's name", r"(?:\d{1,2}[ -])?(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*"
         r"[ .,-]+(?:\d{1,2},? )?(?:\d{2}|\d{4})"),
        ("year and month as YYYY-MM", r"(?:19|20)\d\d-(?:0[1-9]|1[0-2])"),
        ("time as hh:mm", r"(?:[01]?\d|2[0-4]):[0-5]\d(?::[0-5]\d(?:\.\d+)?)?(?: ?[ap]m)?"),
        ("duration as m:ss.sss", r"\d{1,3}:[0-5]\d[.,]\d{1,3}"),
        ("amount with a currency sign", r"[-+(]?\s?[$€£¥₹]\s?[\d,. ]+\)?|[\d,. ]+\s?[$€£¥₹]"),
        ("per cent sign", r"[-+]?\d+(?:[.,]\d+)?\s?%"),
        ("number with thousands separators", r"[-+]?\d{1,3}(?:,\d{3})+(?:\.\d+)?"),
        ("whole number with leading zeros", r"0\d+"),
        ("whole number", r"[-+]?\d+"),
        ("decimal number", r"[-+]?\d*\.\d+(?:e[-+]?\d+)?"),
        ("number with a unit", r"[-+]?\d+(?:[.,]\d+)?\s?[a-z%°\"']{1,5}\.?"),
        ("e-mail address", r"[^@\s]+@[^@\s]+\.[a-z]{2,}"),
        ("web address", r"(?:https?://|www\.)\S+"),
        ("UUID", r"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}"),
        ("telephone number", r"\+?\(?\d[\d\s().x/+-]{6,}\d"),
        ("JSON", r"[\[{].*[\]}]"),
        ("list separated by commas", r"[^,]{1,40}(?:,\s?[^,]{1,40}){2,}"),
    )
)  # fmt: skip
_DIGITLESS = tuple(
    (name, pattern)
    for name, pattern in _FORMATS
    if name in ("e-mail address", "web address", "JSON", "list separated by commas")
)
"""The formats of texts without digits."""
_DIGIT = re.compile(r"\d")
_CODE = re.compile(r"(?=.*\d)(?=.*[A-Z])[A-Z0-9]+(?:[-_./][A-Z0-9]+)*\Z")
_BOOLEAN = (
    {"y", "n"}, {"yes", "no"}, {"t", "f"}, {"true", "false"}, {"0", "1"}, {"on", "off"},
)  # fmt: skip
_NONE = frozenset(
    {"n/a", "na", "n.a.", "#n/a", "null", "none", "nil", "nan", "-", "--", "---", "?", "??"}
    | {"unknown", "undefined", "missing", "tbd", "tba", "0000-00-00", "9999-12-31"}
)
_SENTINELS = frozenset({-1.0, -9.0, -99.0, -999.0, -9999.0, 9999.0, 99999.0, 999999.0})
_LEAST = 0.05
"""Minimum share of the values for a format to be reported."""
_LEAST_OF = {"time as hh:mm": 0.95, "duration as m:ss.sss": 0.9, "list separated by commas": 0.5}
"""The same for formats that are easily confused: a scale of 1:18 is not a time."""


def formats(values: Mapping[str, int]) -> tuple[Format, ...]:
    """The formats of a text column's values, the most frequent first; none if the texts are plain words."""
    total = sum(values.values())
    counts: dict[str, int] = {}
    example: dict[str, str] = {}
    for value, rows in values.items():
        name = _format(value.strip())
        if name:
            counts[name] = counts.get(name, 0) + rows
            example.setdefault(name, one_line(value, CELL))
    if _EITHER in counts and (known := max(_DAY_FIRST, _MONTH_FIRST, key=lambda n: counts.get(n, 0))) in counts:
        counts[known] += counts.pop(_EITHER)
    distinct = {v.strip().lower() for v in values} - _NONE - {""}
    if len(distinct) == 2 and distinct in _BOOLEAN:
        return (Format("yes or no as " + " and ".join(sorted(v.strip() for v in values)), 1.0, next(iter(values))),)
    kept = [
        Format(n, round(c / total, 3), example[n]) for n, c in counts.items() if c / total >= _LEAST_OF.get(n, _LEAST)
    ]
    return tuple(sorted(kept, key=lambda f: (-f.share, f.name))[:4])


def _format(value: str) -> str:
    digits = _DIGIT.search(value) is not None
    for name, pattern in _FORMATS if digits else _DIGITLESS:
        if pattern.fullmatch(value):
            return name
    return "code of letters and digits" if digits and _CODE.match(value) else ""


def null_likes(values: Mapping[str, int]) -> tuple[Counted, ...]:
    """Texts that stand for a missing value."""
    none = [v for v in values if not v.strip() or v.strip().lower() in _NONE]
    codes = sum(len(v) <= 5 and v.isalpha() and v.isupper() for v in values)
    if codes * 2 > len(values):
        none = [v for v in none if v != "NA"]  # in a column of codes, `NA` is a code
    counted = [Counted(one_line(v, CELL), values[v]) for v in none]
    return tuple(sorted(counted, key=lambda c: (-c.rows, c.value))[:5])


def sentinels(values: Mapping[float, int]) -> tuple[Counted, ...]:
    """Numbers that stand for a missing value: a single negative value, or a number of only nines far above all
    others."""
    placeholders = []
    ordered = sorted(values)
    for number in _SENTINELS & values.keys():
        others = [v for v in ordered if v != number]
        if len(others) < 5:
            continue
        if (number < 0 and others[0] >= 0) or (number > 0 and others[-1] * 10 < number):
            placeholders.append(Counted(f"{number:g}", values[number]))
    return tuple(sorted(placeholders, key=lambda c: c.value))

"""Facts about a column from its cells: counts, range, samples, enumerated values, formats, markers of missing values.

In: the cells that were read. Out: `ColumnFacts`. This module runs no statement; formats (dates, amounts, codes) are
told by regular expressions and small word lists, whatever the column is called.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import date, time
from decimal import Decimal

from agent.knowledge.profile.facts import CELL, ColumnFacts, Counted, Format
from agent.knowledge.profile.row_sample import Whole
from agent.knowledge.schema_context import one_line
from eval.databases.values import json_value
from eval.schema import Column

ENUMERATED = 25
"""Maximum distinct values of a column whose values are all listed."""
_SAMPLES = 5
_FORMATTED = 500
"""Maximum distinct texts whose format is examined."""


def shown(value: object) -> str:
    """A cell as readable text, on one line, shortened."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return f"{value:.10g}"
    if isinstance(value, (bytes, bytearray, memoryview)):
        return f"({len(bytes(value)):,} bytes)"
    return one_line(str(json_value(value)), CELL)


def column_facts(
    table: str, column: Column, cells: Sequence[object], totals: Whole | None, *, key: bool = False
) -> ColumnFacts:
    """The facts of one column from the cells read; `whole`: the result of a pass over all rows; `key`: the column
    identifies rows."""
    filled = [c for c in cells if c is not None]
    unhashable = (list, dict, bytearray, memoryview, set)
    counts = Counter(shown(c) if isinstance(c, unhashable) else c for c in filled)
    numbers = [c for c in filled if isinstance(c, (int, float, Decimal)) and not isinstance(c, bool)]
    finite = [n for n in numbers if math.isfinite(n)]
    texts = {c: n for c, n in counts.items() if isinstance(c, str)}
    dates = [c for c in filled if isinstance(c, (date, time))]
    if not filled:
        kind = "empty"
    elif len(numbers) * 2 > len(filled):
        kind = "number"
    elif len(dates) * 2 > len(filled):
        kind = "date"
    else:
        kind = "text" if sum(texts.values()) * 2 > len(filled) else "other"
    listed = counts.most_common(ENUMERATED)
    few = 0 < len(counts) <= ENUMERATED and len(counts) * 2 <= max(len(filled), 4)
    named = kind != "other" or all(isinstance(v, bool) for v in counts)
    written: Sequence[object] = ()
    if kind == "number" and finite:
        written = [min(finite), max(finite)]
    elif kind == "date":
        written = sorted(str(json_value(d)) for d in dates)
    elif kind == "text":
        written = sorted(t for t in texts if t.strip())
    low, high = (shown(written[0]), shown(written[-1])) if written else (None, None)
    if totals is not None and totals.low is not None and kind != "text":
        low, high = shown(totals.low), shown(totals.high)
    looked = formats(dict(list(texts.items())[:_FORMATTED])) if kind == "text" else ()
    if looked and looked[0].name.startswith(("date", "year", "time")) and looked[0].share > 0.8:
        low, high = (low, high) if "YYYY-MM" in looked[0].name or "YYYYMMDD" in looked[0].name else (None, None)
    elif kind == "text":
        low = high = None
    return ColumnFacts(
        table=table,
        column=column.name,
        type=one_line(column.type, CELL),
        rows=len(cells),
        nulls=totals.nulls if totals is not None else len(cells) - len(filled),
        distinct=len(counts),
        key=key,
        samples=tuple(dict.fromkeys(shown(v) for v, _ in listed[:_SAMPLES])),
        values=tuple(Counted(shown(v), n) for v, n in listed) if few and named else (),
        kind=kind,  # type: ignore[arg-type]
        low=low,
        high=high,
        mean=round(sum(map(float, finite)) / len(finite), 4) if kind == "number" and finite and not key else None,
        longest=max((len(t) for t in texts), default=0),
        whole=totals is not None,
        formats=looked,
        null_likes=null_likes(texts) if texts else sentinels(Counter(float(n) for n in numbers)),
    )


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

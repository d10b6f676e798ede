"""Derives what a profile says from the rows that were read: facts of columns, patterns in the data, pitfalls for
queries.

In: the schema, the rows read. Out: `ColumnFacts` (counts, range, samples, enumerated values, formats, markers of
missing values), `Pattern`s and `Pitfall`s. No statement is run here. Formats (dates, amounts, codes) are told by
regular expressions and small word lists, whatever the column is called. Each rule on patterns and pitfalls is one small
function over one table or column, which applies only where the rows support it.
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from datetime import date, time
from decimal import Decimal
from itertools import permutations

from agent.knowledge.profile.facts import CELL, ColumnFacts, Counted, Format, KeyFacts, Pattern, Pitfall, TableFacts
from agent.knowledge.profile.row_sample import Rows, Whole
from agent.knowledge.schema_context import one_line, quoted_if_needed
from eval.databases.values import json_value
from eval.schema import Column, Schema, Table

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


_START = re.compile(r"start|begin|from|open|hire|created|order|valid_from|admit|check_?in|departure", re.I)
_END = re.compile(r"end|finish|to|close|leave|updated|ship|valid_to|discharge|check_?out|arrival|required", re.I)
_TEMPORAL = re.compile(r"date|time|year", re.I)
_LEVEL_COLUMNS = 8
_LEVEL_CELL = 60
"""Maximum characters of a value that can name a hierarchy level."""
_LEAST_ROWS = 12
_NUMERIC_TEXT = ("whole number", "decimal number", "number with thousands separators", "amount with a currency sign",
                 "per cent sign", "number with a unit")  # fmt: skip


def trees(schema: Schema) -> Iterator[Pattern]:
    """Tables whose rows refer to rows of the same table."""
    for table in schema.tables:
        for key in table.foreign_keys:
            if key.ref_table.casefold() == table.name.casefold() and len(key.columns) == 1:
                text = f"rows refer to rows of the same table by {key.columns[0]}: a tree, walked with WITH RECURSIVE"
                yield Pattern("hierarchy", table.name, key.columns, text)


def patterns(table: Table, read: Rows) -> Iterator[Pattern]:
    """Columns that depend on another column of the table, and periods with a start and an end."""
    if len(read.cells) >= _LEAST_ROWS:
        yield from _levels(table, read)
        yield from _periods(table, read)


def _levels(table: Table, read: Rows) -> Iterator[Pattern]:
    """Text columns whose values each belong to one value of another column, as cities belong to countries."""
    keyed = {c.casefold() for k in table.foreign_keys for c in k.columns} | {c.casefold() for c in table.primary_key}
    chosen: list[tuple[int, str, set[str]]] = []
    for place, column in enumerate(read.columns):
        values = {v for r in read.cells if isinstance(v := r[place], str)}
        if any(len(v) > _LEVEL_CELL for v in values):
            continue  # prose
        if column.name.casefold() not in keyed and 2 <= len(values) <= len(read.cells) // 2:
            chosen.append((place, column.name, values))
    for (a, inner, inner_values), (b, outer, outer_values) in permutations(chosen[:_LEVEL_COLUMNS], 2):
        if len(inner_values) < len(outer_values) * 1.5:
            continue
        pairs = {(r[a], r[b]) for r in read.cells if isinstance(r[a], str) and r[b] is not None}
        if len(pairs) == len({p[0] for p in pairs}) >= 3:
            yield Pattern("levels", table.name, (inner, outer), f"each {inner} has one {outer}: {outer} > {inner}")


def _periods(table: Table, read: Rows) -> Iterator[Pattern]:
    """Pairs of date columns in which one date is never later than the other."""
    dated = [(i, c.name) for i, c in enumerate(read.columns) if _TEMPORAL.search(c.name) or _TEMPORAL.search(c.type)]
    for (a, first), (b, last) in permutations(dated[:6], 2):
        if not (_START.search(first) and _END.search(last)):
            continue
        both = [(r[a], r[b]) for r in read.cells if r[a] is not None and type(r[a]) is type(r[b])]
        if len(both) >= _LEAST_ROWS:
            ordered = sum(x <= y for x, y in both)  # type: ignore[operator]
            if ordered / len(both) >= 0.98 and any(x != y for x, y in both):
                odd = len(both) - ordered
                note = f", but for {odd:,} rows" if odd else ""
                yield Pattern("period", table.name, (first, last), f"{first} is never after {last}{note}")


def pitfalls(
    schema: Schema, tables: Sequence[TableFacts], columns: Sequence[ColumnFacts], keys: Sequence[KeyFacts]
) -> Iterator[Pitfall]:
    """Mistakes that a query on this database can make, the costliest first."""
    for facts in columns:
        yield from _of_column(facts)
    for key in keys:
        if key.orphans and key.checked:
            lost = f"{key.orphans:,} of {key.checked:,} keys find no row in {key.ref_table}"
            yield Pitfall(key.table, ", ".join(key.columns), f"{lost}: an inner join loses those rows")
    yield from _fan_outs(keys)
    yield from _shared_names(schema)
    for table in tables:
        if table.rows == 0:
            yield Pitfall(table.name, "", "has no rows: joining it leaves nothing")
    for listed in schema.tables:
        odd = [c.name for c in listed.columns if not c.name.isascii() or not re.match(r"[A-Za-z_]\w*\Z", c.name)]
        if odd:
            example = quoted_if_needed(odd[0], schema.dialect)
            more = f" and {len(odd) - 1} more" if len(odd) > 1 else ""
            yield Pitfall(listed.name, "", f"names that must be quoted: {example}{more}")


def _of_column(c: ColumnFacts) -> Iterator[Pitfall]:
    dated = bool(c.formats) and c.formats[0].name.startswith("date")
    if c.kind == "text" and c.formats:
        form = c.formats[0]
        holding = f"text holding {'an' if form.name[0] in 'aeio' else 'a'} {form.name} ({form.example})"
        if form.share >= 0.9 and dated and "YYYY-MM-DD" not in form.name:
            yield Pitfall(c.table, c.column, f"{holding}: it does not sort as a date")
        elif form.share >= 0.9 and form.name in _NUMERIC_TEXT and not c.key:
            yield Pitfall(c.table, c.column, f"{holding}: cast before comparing")
        elif len(c.formats) > 1 and dated and c.formats[1].name.startswith("date"):
            yield Pitfall(c.table, c.column, f"dates written in several ways: {form.name}, {c.formats[1].name}")
    if c.null_likes:
        mark = "'" if c.kind == "text" else ""
        listed = ", ".join(f"{mark}{v.value}{mark} ({v.rows:,})" for v in c.null_likes[:3])
        yield Pitfall(c.table, c.column, f"values that seem to mean missing: {listed}")
    folded = Counter(v.value.strip().casefold() for v in c.values)
    twice = [f for f, n in folded.items() if n > 1]
    if twice:
        both = ", ".join(f"'{v.value}'" for v in c.values if v.value.strip().casefold() == twice[0])
        yield Pitfall(c.table, c.column, f"the same value written differently: {both}")
    elif any(s != s.strip() for s in c.samples if s.strip()):
        yield Pitfall(c.table, c.column, "values with spaces around them: trim before comparing")
    if c.kind == "empty" and c.rows:
        yield Pitfall(c.table, c.column, "has no value in any row that was read")
    elif c.nulls > 0 and c.kind != "empty" and not c.key and (c.kind in ("number", "date") or dated):
        first = "averages leave them out, " if c.kind == "number" else ""
        yield Pitfall(c.table, c.column, f"{c.nulls:,} NULLs: {first}comparisons are never true")


def _fan_outs(keys: Sequence[KeyFacts]) -> Iterator[Pitfall]:
    """Fan-out: tables that several other tables reference with many rows, and tables with two foreign keys to one
    table."""
    behind: dict[str, list[str]] = defaultdict(list)
    twice: dict[tuple[str, str], list[str]] = defaultdict(list)
    for key in keys:
        if key.table != key.ref_table:
            twice[key.table, key.ref_table].append("+".join(key.columns))
            if key.cardinality == "n:1" and key.table not in behind[key.ref_table]:
                behind[key.ref_table].append(key.table)
    for (table, ref), columns in twice.items():
        if len(columns) > 1:
            text = f"refers to {ref} in {len(columns)} ways ({', '.join(columns[:4])}): choose the intended one"
            yield Pitfall(table, "", text)
    for ref, children in behind.items():
        if len(children) > 1:
            names = ", ".join(children[:4]) + (" …" if len(children) > 4 else "")
            text = f"joining two of its many-row tables ({names}) multiplies rows: aggregate each first"
            yield Pitfall(ref, "", text)


def _shared_names(schema: Schema) -> Iterator[Pitfall]:
    """Non-key column names that occur in several tables, grouped by those tables."""
    owners: dict[str, list[str]] = defaultdict(list)
    written: dict[str, str] = {}
    for table in schema.tables:
        keyed = {c.casefold() for k in table.foreign_keys for c in k.columns}
        for column in table.columns:
            if column.name.casefold() not in keyed and not column.primary_key:
                owners[column.name.casefold()].append(table.name)
                written.setdefault(column.name.casefold(), column.name)
    together: dict[tuple[str, ...], list[str]] = defaultdict(list)
    for name, tables in owners.items():
        if len(tables) > 1:
            together[tuple(tables)].append(written[name])
    for owning, names in sorted(together.items(), key=lambda o: (-len(o[0]), o[1]))[:8]:
        listed = ", ".join(owning[:5]) + (" …" if len(owning) > 5 else "")
        shown = ", ".join(names[:8]) + (" …" if len(names) > 8 else "")
        are = f"are columns of {len(owning)} tables" if len(names) > 1 else f"is a column of {len(owning)} tables"
        yield Pitfall("", shown, f"{are} ({listed}): qualify {'them' if len(names) > 1 else 'it'}")

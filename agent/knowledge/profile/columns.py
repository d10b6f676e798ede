"""Facts about a column from its cells: counts, range, samples, enumerated values, formats.

In: the cells that were read. Out: `ColumnFacts`. This module runs no statement.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from datetime import date, time
from decimal import Decimal

from agent.knowledge.profile.facts import CELL, ColumnFacts, Counted
from agent.knowledge.profile.formats import formats, null_likes, sentinels
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

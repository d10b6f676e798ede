"""The difference of two results: their row counts, and a few rows that only one of them has.

In: gold's result and the answer's. Out: a `Difference`, small regardless of the size of the results.
"""

from __future__ import annotations

from collections import Counter
from itertools import islice
from typing import Any

from eval.assessment.records import Difference
from eval.databases import ExecutionResult
from eval.databases.values import json_value
from eval.metrics.comparison import same_result

SHOWN = 5
"""Rows of each kind."""
_LOOKED_AT = 20_000
"""Rows of each result that are compared for this; beyond them only the counts are reported."""
_CELL = 120
_COLUMNS = 12


def difference(gold: ExecutionResult, other: ExecutionResult, *, ordered: bool) -> Difference:
    expected, actual = (
        [tuple(map(_cell, row[:_COLUMNS])) for row in islice(r.rows, _LOOKED_AT)] for r in (gold, other)
    )
    missing, extra = _less(expected, actual), _less(actual, expected)
    return Difference(
        gold_columns=tuple(map(str, gold.columns[:_COLUMNS])),
        columns=tuple(map(str, other.columns[:_COLUMNS])),
        gold_rows=len(gold.rows),
        rows=len(other.rows),
        missing=missing,
        extra=extra,
        reordered=ordered and same_result(gold, other, ordered=False),
    )


def _less(these: list[tuple[Any, ...]], those: list[tuple[Any, ...]]) -> tuple[tuple[Any, ...], ...]:
    there = Counter(map(repr, those))
    missing = []
    for row in these:
        if there[key := repr(row)] > 0:
            there[key] -= 1
            continue
        missing.append(row)
        if len(missing) == SHOWN:
            break
    return tuple(missing)


def _cell(value: object) -> Any:
    if isinstance(value, bytes | bytearray | memoryview):
        return f"<{len(bytes(value)):,} bytes>"
    cell = json_value(value)
    if isinstance(cell, float):
        return float(f"{cell:.9g}")
    if isinstance(cell, list | dict):
        cell = str(cell)
    return cell[: _CELL - 1] + "…" if isinstance(cell, str) and len(cell) > _CELL else cell

"""Whether two results are the same, and the rates and tests built on that.

In: results of the gold query and of another (`ExecutionResult`, or plain rows). Out: yes or no. Equality of results
follows the official test-suite evaluation (github.com/taoyds/test-suite-sql-eval): a multiset of rows, a list where
the gold query orders, any order of columns, column names ignored. It departs from it where that is exact by accident:
numbers are compared by tolerance, the number of columns counts even when nothing is returned, and only an ORDER BY of
the outermost query makes order count.

What equals what:

- Numbers by value, whatever their type: `1`, `1.0`, `Decimal("1")` and `True` are one (SQLite has no booleans).
  Two whole numbers below 2**53 must be equal exactly, so that neighbouring ids never merge; otherwise a relative
  tolerance of 1e-6 applies, with an absolute floor of 1e-9.
- Text is text: `"1"` is not `1`, case and spaces count. NULL equals NULL only; NaN equals NaN.
- BLOBs by their bytes, and never equal to text.
- Dates and times as ISO text, a timestamp at midnight as its date, so that SQLite, which has only text for them, gives
  the verdict that DuckDB and PostgreSQL give.
- Lists and objects element by element.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Sequence
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from itertools import pairwise
from operator import ne
from typing import TypeAlias

from eval.databases.base import ExecutionResult

RELATIVE_TOLERANCE = 1e-6
ABSOLUTE_FLOOR = 1e-9

Rows: TypeAlias = Sequence[Sequence[object]]
_Column: TypeAlias = tuple[Hashable, ...]
_Bag: TypeAlias = Counter[Hashable]

_AS_THEY_ARE = frozenset({int, str, bytes, bool, type(None)})
_WITH_FLOAT = _AS_THEY_ARE | {float}
_WHOLE_LIMIT = 2.0**53
_SEARCH_STEPS = 2_000
"""Prefixes of column orders tried before giving up; reached only by results with many look-alike columns."""


def same_result(gold: ExecutionResult | Rows, other: ExecutionResult | Rows, *, ordered: bool) -> bool:
    """True when `other` answers as `gold` does: EX on one database. A result that did not succeed equals nothing.

    `ordered`: the outermost gold query has an ORDER BY, so the order of rows counts. Linear in the cells, but for
    a sort of those columns' fractional numbers that are not equal to the last digit.
    """
    gold_rows, other_rows = _rows_of(gold), _rows_of(other)
    if gold_rows is None or other_rows is None or len(gold_rows) != len(other_rows):
        return False
    if isinstance(gold, ExecutionResult) and isinstance(other, ExecutionResult):
        if gold.truncated != other.truncated:
            return False
        if gold.columns and other.columns and len(gold.columns) != len(other.columns):
            return False
    if not gold_rows:
        return True
    if len(gold_rows[0]) != len(other_rows[0]):
        return False
    gold_columns, other_columns = _columns(gold_rows), _columns(other_rows)
    if gold_columns == other_columns:
        return True
    if not ordered and _same_bag(_row_bag(gold_columns), _row_bag(other_columns)):
        return True
    return _same_in_some_column_order(gold_columns, other_columns, ordered)


def same_set(gold: ExecutionResult | Rows, other: ExecutionResult | Rows) -> bool:
    """BIRD's comparison: the same set of rows; order, repetition and column names are ignored, the columns' order is
    not (`set(predicted) == set(gold)` in its evaluation.py), numbers by tolerance."""
    gold_rows, other_rows = _rows_of(gold), _rows_of(other)
    if gold_rows is None or other_rows is None:
        return False
    if not gold_rows or not other_rows:
        return not gold_rows and not other_rows
    if len(gold_rows[0]) != len(other_rows[0]):
        return False
    gold_columns, other_columns = _columns(gold_rows), _columns(other_rows)
    if set(zip(*gold_columns, strict=True)) == set(zip(*other_columns, strict=True)):
        return True
    stands_for = _close_numbers([*gold_columns, *other_columns])
    gold_columns, other_columns = _replaced(gold_columns, stands_for), _replaced(other_columns, stands_for)
    return set(zip(*gold_columns, strict=True)) == set(zip(*other_columns, strict=True))


def _rows_of(result: ExecutionResult | Rows) -> Rows | None:
    if isinstance(result, ExecutionResult):
        return result.rows if result.ok else None
    return result


def _columns(rows: Rows) -> list[_Column]:
    """Columns of hashable values that are equal exactly when the module's docstring says so, tolerance aside."""
    columns: list[_Column] = []
    for column in zip(*rows, strict=True):
        types = frozenset(map(type, column))
        without_nan = float not in types or not any(map(ne, column, column))  # only NaN differs from itself
        if types <= _WITH_FLOAT and without_nan:
            columns.append(column)
        else:
            columns.append(tuple(map(_cell, column)))
    return columns


def _cell(value: object) -> Hashable:
    match value:
        case float():
            return value if value == value else "\0NaN"
        case Decimal():
            if value.is_nan():
                return "\0NaN"
            return int(value) if value.is_finite() and value == value.to_integral_value() else float(value)
        case datetime():
            midnight = value.tzinfo is None and value.time() == time()
            return value.date().isoformat() if midnight else value.isoformat(sep=" ")
        case date() | time():
            return value.isoformat()
        case timedelta():
            return ("interval", value)
        case bytearray() | memoryview():
            return bytes(value)
        case list() | tuple():
            return tuple(map(_cell, value))
        case dict():
            return frozenset((str(key), _cell(item)) for key, item in value.items())
        case _:
            return value if type(value) in _AS_THEY_ARE else str(value)


def _row_bag(columns: Sequence[_Column]) -> _Bag:
    return Counter(zip(*columns, strict=True))


def _same_bag(a: _Bag, b: _Bag) -> bool:
    """Equality of counters that hold no zero counts; `Counter.__eq__` allows for those and is ten times slower."""
    return dict.__eq__(a, b)


def _same_in_some_column_order(gold: list[_Column], other: list[_Column], ordered: bool) -> bool:
    """True when some order of the other's columns makes the two results equal within tolerance.

    Columns can stand for each other only if they hold the same bag of values, which usually leaves one choice each.
    """
    gold_bags, other_bags = [Counter(c) for c in gold], [Counter(c) for c in other]
    other_spans = [_span(bag) for bag in other_bags]
    choices: list[list[int]] = []
    merge: set[int] = set()
    merge_with: set[int] = set()
    for i, wanted in enumerate(gold_bags):
        exact = [j for j, bag in enumerate(other_bags) if _same_bag(bag, wanted)]
        span = _span(wanted)
        may_be_close = [j for j, s in enumerate(other_spans) if j not in exact and _close_spans(span, s)]
        close = [j for j in may_be_close if _close_bags(wanted, other_bags[j])]
        if not exact and not close:
            return False
        choices.append(exact + close)
        if close:
            merge.add(i)
            merge_with.update(choices[i])
    if merge:
        stands_for = _close_numbers([gold[i] for i in merge] + [other[j] for j in merge_with])
        gold = [_replaced([c], stands_for)[0] if i in merge else c for i, c in enumerate(gold)]
        other = [_replaced([c], stands_for)[0] if j in merge_with else c for j, c in enumerate(other)]
    if ordered:
        # With the rows' order fixed, the columns only have to be the same columns, in any order.
        return Counter(gold) == Counter(other)
    return _column_order_exists(gold, other, choices)


def _column_order_exists(gold: list[_Column], other: list[_Column], choices: list[list[int]]) -> bool:
    """Build orders column by column, those with fewest choices first; drop one as soon as its rows so far differ."""
    turn = sorted(range(len(gold)), key=lambda i: len(choices[i]))
    forced = next((depth for depth, i in enumerate(turn) if len(choices[i]) > 1), len(turn))
    start = [choices[i][0] for i in turn[:forced]]
    if len(set(start)) < forced:
        return False
    steps = 0

    def same_so_far(picked: list[int]) -> bool:
        return _same_bag(_row_bag([gold[i] for i in turn[: len(picked)]]), _row_bag([other[j] for j in picked]))

    def extend(picked: list[int]) -> bool:
        nonlocal steps
        depth = len(picked)
        if depth == len(turn):
            return True
        tried: set[_Column] = set()
        for j in choices[turn[depth]]:
            if j in picked or other[j] in tried or steps >= _SEARCH_STEPS:
                continue
            tried.add(other[j])
            steps += 1
            prefix = [*picked, j]
            if same_so_far(prefix) and extend(prefix):
                return True
        return False

    return (not start or same_so_far(start)) and extend(start)


_Span: TypeAlias = tuple[bool, float, float]


def _span(bag: _Bag) -> _Span | None:
    """Whether a column holds floats, and its least and greatest number; None without numbers."""
    types = set(map(type, bag))
    if float not in types and int not in types:
        return None
    numbers = list(bag) if types <= {int, float} else [value for value in bag if _is_number(value)]
    return (float in types, min(numbers), max(numbers)) if numbers else None  # type: ignore[type-var, return-value]


def _close_spans(a: _Span | None, b: _Span | None) -> bool:
    """A cheap necessary condition for `_close_bags`. Columns without floats are equal exactly or not at all."""
    return a is not None and b is not None and (a[0] or b[0]) and _close(a[1], b[1]) and _close(a[2], b[2])


def _is_fraction(value: object) -> bool:
    """A float that tolerance applies to: finite, and not a whole number that floats hold exactly."""
    return type(value) is float and math.isfinite(value) and not (abs(value) < _WHOLE_LIMIT and value.is_integer())


def _is_number(value: object) -> bool:
    return type(value) is int or (type(value) is float and math.isfinite(value))


def _close(a: float, b: float) -> bool:
    try:
        return math.isclose(a, b, rel_tol=RELATIVE_TOLERANCE, abs_tol=ABSOLUTE_FLOOR)
    except OverflowError:  # an int beyond any float
        return False


def _close_bags(a: _Bag, b: _Bag) -> bool:
    """True when what the two bags do not share are numbers that pair off within tolerance."""
    only_a, only_b = a - b, b - a
    if not only_a or not only_b or only_a.total() != only_b.total():
        return False
    if not all(map(_is_number, only_a)) or not all(map(_is_number, only_b)):
        return False
    left, right = sorted(only_a.elements()), sorted(only_b.elements())  # type: ignore[type-var]
    return all(_close(x, y) and (_is_fraction(x) or _is_fraction(y)) for x, y in zip(left, right, strict=True))  # type: ignore[arg-type]


def _close_numbers(columns: Sequence[_Column]) -> dict[Hashable, Hashable]:
    """For each number within tolerance of its lower neighbour, the number that stands for both.

    Closeness chains along the sorted values; that makes it transitive, without which rows could not be counted.
    """
    numbers = sorted({v for column in columns for v in set(column) if _is_number(v)})  # type: ignore[type-var]
    stands_for: dict[Hashable, Hashable] = {}
    for lower, upper in pairwise(numbers):
        if _close(lower, upper) and (_is_fraction(lower) or _is_fraction(upper)):  # type: ignore[arg-type]
            stands_for[upper] = stands_for.get(lower, lower)
    return stands_for


def _replaced(columns: Sequence[_Column], stands_for: dict[Hashable, Hashable]) -> list[_Column]:
    return [tuple([stands_for.get(value, value) for value in column]) for column in columns]

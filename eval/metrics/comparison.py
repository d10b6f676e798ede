"""Decide whether two results are the same; EX, TS and BIRD's comparison build on this.

In: results of the gold query and of another query (`ExecutionResult`, or plain rows). Out: yes or no. Two results are
the same when they hold the same rows: as a multiset, or as a list when the gold query's outermost SELECT has an ORDER
BY. Columns are compared by position; their names are ignored. (The official test-suite evaluation,
github.com/taoyds/test-suite-sql-eval, also tries every other column order, which accepts an answer that returns names
where ids were asked for.) Values are compared as follows:

- Numbers are equal by value, whatever their type: `1`, `1.0`, `Decimal("1")` and `True` are equal (SQLite has no
  booleans). Two whole numbers below 2**53 must be equal exactly, so that neighbouring ids never merge; otherwise a
  relative tolerance of 1e-6 applies, with an absolute floor of 1e-9.
- A number equals the text that writes it plainly (`3` and `"3"`, not `"3.0"` or `"03"`): a foreign key is often
  declared with another type than the key it refers to, and a query may return either. All other text is compared as
  text: case and spaces count. NULL equals only NULL; NaN equals NaN.
- BLOBs are compared by their bytes, and never equal text.
- Dates and times are compared as ISO text, and a timestamp at midnight as its date, so that SQLite, which has only text
  for them, gives the same verdict as DuckDB and PostgreSQL.
- Lists and objects are compared element by element.
- Two results without rows are equal, whatever their columns; with `columns_count`, only if the column counts match.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from itertools import pairwise
from operator import itemgetter, ne
from typing import TypeAlias

from eval.databases.types import ExecutionResult

RELATIVE_TOLERANCE = 1e-6
ABSOLUTE_FLOOR = 1e-9

Rows: TypeAlias = Sequence[Sequence[object]]
_Column: TypeAlias = Sequence[Hashable]

_AS_THEY_ARE = frozenset({int, str, bytes, bool, type(None)})
_WITH_FLOAT = _AS_THEY_ARE | {float}
_WHOLE_LIMIT = 2.0**53
_PLAIN_NUMBER = re.compile(r"-?(?:0|[1-9]\d{0,17})(?:\.\d{0,17}[1-9])?")


def same_result(
    gold: ExecutionResult | Rows, other: ExecutionResult | Rows, *, ordered: bool, columns_count: bool = False
) -> bool:
    """True when `other` has the same result as `gold`: EX on one database. A failed result equals nothing.

    `ordered`: the outermost gold query has an ORDER BY, so the order of rows counts. `columns_count`: results without
    rows must also have the same number of columns, as TS requires. The time is linear in the number of cells, apart
    from a sort of the numbers in rows that are not exactly equal.
    """
    gold_rows, other_rows = _rows_of(gold), _rows_of(other)
    if gold_rows is None or other_rows is None or len(gold_rows) != len(other_rows):
        return False
    if isinstance(gold, ExecutionResult) and isinstance(other, ExecutionResult):
        if gold.truncated != other.truncated:
            return False
        if columns_count and len(gold.columns) != len(other.columns):
            return False
    if not gold_rows:
        return True
    if len(gold_rows[0]) != len(other_rows[0]):
        return False
    pairs = [_alike(*a, *b) for a, b in zip(_typed_columns(gold_rows), _typed_columns(other_rows), strict=True)]
    if all(a == b or _close_in_order(a, b) for a, b in pairs):
        return True
    return not ordered and _same_bag(pairs)


def same_set(gold: ExecutionResult | Rows, other: ExecutionResult | Rows) -> bool:
    """BIRD's comparison: the same set of rows (`set(predicted) == set(gold)` in its evaluation.py). Row order,
    repetition and column names are ignored, the order of columns is not; numbers are compared with tolerance."""
    gold_rows, other_rows = _rows_of(gold), _rows_of(other)
    if gold_rows is None or other_rows is None:
        return False
    if not gold_rows or not other_rows:
        return not gold_rows and not other_rows
    if len(gold_rows[0]) != len(other_rows[0]):
        return False
    pairs = list(zip(_columns(gold_rows), _columns(other_rows), strict=True))
    if _row_set(a for a, _ in pairs) == _row_set(b for _, b in pairs):
        return True
    pairs = [_merged(a, b) for a, b in pairs]
    return _row_set(a for a, _ in pairs) == _row_set(b for _, b in pairs)


def columns_within(part: ExecutionResult | Rows, whole: ExecutionResult | Rows) -> bool:
    """True when `whole` shows what `part` shows, with further columns or other ones in between: as many rows, and for
    each column of `part` another one of its own with the same values in any order. Without rows nothing is shown."""
    some, all_of_it = _rows_of(part), _rows_of(whole)
    if not some or not all_of_it or len(some) != len(all_of_it) or len(some[0]) > len(all_of_it[0]):
        return False
    return _column_bags(some) <= _column_bags(all_of_it)


def _column_bags(rows: Rows) -> Counter[Hashable]:
    return Counter(frozenset(Counter(column).items()) for column in _columns(rows))


def _rows_of(result: ExecutionResult | Rows) -> Rows | None:
    if isinstance(result, ExecutionResult):
        return result.rows if result.ok else None
    return result


def _row_set(columns: Iterable[_Column]) -> set[tuple[Hashable, ...]]:
    return set(zip(*columns, strict=True))


def _columns(rows: Rows) -> list[_Column]:
    return [column for column, _ in _typed_columns(rows)]


def _typed_columns(rows: Rows) -> list[tuple[_Column, frozenset[type]]]:
    """The columns, with values made hashable so that they are equal exactly when the module's docstring says so,
    tolerance aside; with the types that occur."""
    columns: list[tuple[_Column, frozenset[type]]] = []
    for column in zip(*rows, strict=True):
        types = frozenset(map(type, column))
        without_nan = float not in types or not any(map(ne, column, column))  # only NaN differs from itself
        if types <= _WITH_FLOAT and without_nan:
            columns.append((column, types))
        else:
            cells = tuple(map(_cell, column))
            columns.append((cells, frozenset(map(type, cells))))
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


def _alike(a: _Column, types_a: frozenset[type], b: _Column, types_b: frozenset[type]) -> tuple[_Column, _Column]:
    """The two columns; when one holds numbers and the other texts, texts that represent numbers become numbers."""
    numbers = {int, float}
    if (str in types_a and types_b & numbers) or (str in types_b and types_a & numbers):
        return tuple(map(_number_written, a)), tuple(map(_number_written, b))
    return a, b


def _number_written(value: Hashable) -> Hashable:
    if type(value) is str and _PLAIN_NUMBER.fullmatch(value):
        return float(value) if "." in value else int(value)
    return value


def _same_bag(pairs: Sequence[tuple[_Column, _Column]]) -> bool:
    """Whether both have the same rows in any order. Exactly equal rows are paired off; the rest must pair off with
    close numbers treated as equal."""
    columns = _unpaired_by_fractions(pairs)
    if columns is None or not columns:
        return columns is not None
    gold, other = (Counter(zip(*side, strict=True)) for side in zip(*columns, strict=True))
    if dict.__eq__(gold, other):  # ten times faster than Counter's, which allows for zero counts
        return True
    left, right = list((gold - other).elements()), list((other - gold).elements())
    merged: list[tuple[_Column, _Column]] = []
    for a, b in zip(zip(*left, strict=True), zip(*right, strict=True), strict=True):
        pair = _merged(a, b)
        if Counter(pair[0]) != Counter(pair[1]):
            return False
        merged.append(pair)
    return dict.__eq__(*(Counter(zip(*columns, strict=True)) for columns in zip(*merged, strict=True)))


def _close_in_order(a: _Column, b: _Column) -> bool:
    if {*map(type, a), *map(type, b)} == {float} and max(map(abs, a)) < 1e8 and all(map(math.isclose, a, b)):  # type: ignore[arg-type]
        return True  # within 1e-9, which below 1e8 separates whole numbers: as good, in a tenth of the time
    return all(x == y or _equal_numbers(x, y) for x, y in zip(a, b, strict=True))


def _unpaired_by_fractions(pairs: Sequence[tuple[_Column, _Column]]) -> Sequence[tuple[_Column, _Column]] | None:
    """The rows, by column, that remain when both results are sorted by a column of floats and equal rows at the same
    position are removed. None: that column already differs. Empty: the rest is close row by row. All rows when there is
    no such column."""
    place = next((i for i, (a, b) in enumerate(pairs) if {*map(type, a), *map(type, b)} == {float}), None)
    if place is None:
        return pairs
    key = itemgetter(place)
    left, right = (sorted(zip(*columns, strict=True), key=key) for columns in zip(*pairs, strict=True))
    if not _close_in_order(list(map(key, left)), list(map(key, right))):
        return None
    met = [(a, b) for a, b in zip(left, right, strict=True) if a != b]
    rest = list(zip(zip(*(a for a, _ in met), strict=True), zip(*(b for _, b in met), strict=True), strict=True))
    return [] if all(_close_in_order(a, b) for a, b in rest) else rest


def _merged(a: _Column, b: _Column) -> tuple[_Column, _Column]:
    """The two columns, with one number replacing all numbers that lie within tolerance of their lower neighbour.

    Closeness is chained along the sorted values. That makes it transitive, which is necessary to count rows.
    """
    values = {*a, *b}
    numbers = sorted(v for v in values if _is_number(v))  # type: ignore[type-var]
    stands_for: dict[Hashable, Hashable] = {}
    for lower, upper in pairwise(numbers):
        if _equal_numbers(lower, upper):
            stands_for[upper] = stands_for.get(lower, lower)
    if not stands_for:
        return a, b
    return tuple([stands_for.get(v, v) for v in a]), tuple([stands_for.get(v, v) for v in b])


def _equal_numbers(a: Hashable, b: Hashable) -> bool:
    """Whether two numbers are equal within tolerance, where at least one is a fraction or beyond 2**53."""
    if type(a) is not float and type(b) is not float:
        return False
    try:
        close = math.isclose(a, b, rel_tol=RELATIVE_TOLERANCE, abs_tol=ABSOLUTE_FLOOR)  # type: ignore[arg-type]
    except (TypeError, OverflowError):  # not a number, or an int beyond any float
        return False
    return close and (_is_inexact(a) or _is_inexact(b))


def _is_inexact(value: Hashable) -> bool:
    """A float that is not a whole number that floats represent exactly."""
    return type(value) is float and not (abs(value) < _WHOLE_LIMIT and value.is_integer())


def _is_number(value: object) -> bool:
    return type(value) is int or (type(value) is float and math.isfinite(value))

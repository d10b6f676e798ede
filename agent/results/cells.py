"""Cells as stored in a SQLite file: comparable for sorting and filtering, and exact when read back.

In: columns of plain Python values (`eval.databases.base.Value`). Out: for each cell the value that SQLite compares, and
an exact form where SQLite cannot hold the value itself. NULL, 64-bit int, float, text and bytes are stored unchanged.
Other types get an exact form (a letter and a payload) and one of these values for comparison: bool: 0 or 1; NaN:
infinity (above all numbers, as in PostgreSQL); Decimal and longer int: the nearest number; date and time: ISO text, in
UTC where there is a zone; interval: its seconds; list and dict: JSON text; text that is not valid Unicode: text with
escapes.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal

from eval.databases.types import Value
from eval.databases.values import json_value

Stored = int | float | str | bytes | None
Exact = str | bytes | None
"""`None`: the stored cell is the value itself."""

_AS_IS = frozenset({type(None), int, float, str, bytes})
_LONGEST = 2**63


def stored_column(column: Sequence[Value], types: set[type]) -> tuple[Sequence[Stored], list[Exact] | None]:
    """The column of comparison values, and the exact forms, or None where all cells are stored unchanged.

    `types` are the types of its cells.
    """
    if types <= _AS_IS and not _has_odd(column, types):
        return column, None  # type: ignore[return-value]
    pairs = [stored_cell(cell) for cell in column]
    return [stored for stored, _ in pairs], [exact for _, exact in pairs]


def _has_odd(column: Sequence[Value], types: set[type]) -> bool:
    """Whether the column holds NaN, a long int or text that is not valid Unicode."""
    if float in types and any(cell != cell for cell in column):
        return True
    if int in types and any(type(cell) is int and not -_LONGEST <= cell < _LONGEST for cell in column):
        return True
    if str in types:
        text = column if types == {str} else [cell for cell in column if type(cell) is str]
        joined = "".join(text)  # type: ignore[arg-type]
        if not joined.isascii():
            try:
                joined.encode()
            except UnicodeEncodeError:
                return True
    return False


def stored_cell(cell: Value) -> tuple[Stored, Exact]:
    """The comparison value of one cell, and its exact form."""
    if cell is None or isinstance(cell, bytes):
        return cell, None
    if isinstance(cell, bool):
        return int(cell), "btrue" if cell else "bfalse"
    if isinstance(cell, int):
        return (cell, None) if -_LONGEST <= cell < _LONGEST else (_nearest(cell), f"i{cell}")
    if isinstance(cell, float):
        return (math.inf, "nNaN") if math.isnan(cell) else (cell, None)
    if isinstance(cell, str):
        shown = str(json_value(cell))
        return (cell, None) if shown == cell else (shown, b"u" + cell.encode("utf-8", "surrogatepass"))
    if isinstance(cell, Decimal):
        return _nearest(cell), f"d{cell}"
    if isinstance(cell, datetime):
        if cell.tzinfo is None:
            return cell.isoformat(), "T"
        return cell.astimezone(UTC).replace(tzinfo=None).isoformat(), f"T{cell.isoformat()}"
    if isinstance(cell, date):
        return cell.isoformat(), "D"
    if isinstance(cell, time):
        return cell.isoformat(), "t"
    if isinstance(cell, timedelta):
        return cell.total_seconds(), f"p{cell // timedelta(microseconds=1)}"
    return json.dumps(json_value(cell), ensure_ascii=False), "j"


def exact_column(stored: Sequence[Stored], exact: Sequence[Exact]) -> list[Value]:
    """The original values."""
    return [s if x is None else exact_cell(s, x) for s, x in zip(stored, exact, strict=True)]


_READ: dict[str, Callable[[str], Value]] = {
    "b": lambda text: text == "true",
    "i": int,
    "n": float,
    "d": Decimal,
    "T": datetime.fromisoformat,
    "D": date.fromisoformat,
    "t": time.fromisoformat,
    "p": lambda text: timedelta(microseconds=int(text)),
    "j": json.loads,
}
"""By the letter of an exact form."""


def exact_cell(stored: Stored, exact: str | bytes) -> Value:
    """The original value; a list or dict in the form that `json_value` gave it."""
    if isinstance(exact, bytes):
        return exact[1:].decode("utf-8", "surrogatepass")
    return _READ[exact[0]](exact[1:] or str(stored))


def _nearest(number: int | Decimal) -> int | float:
    """The nearest number that SQLite can hold; infinity for NaN."""
    if isinstance(number, Decimal):
        if not number.is_finite():
            return -math.inf if number == -math.inf else math.inf
        if number == number.to_integral_value() and abs(number) < _LONGEST:
            return int(number)
    try:
        return float(number)
    except OverflowError:
        return math.inf if number > 0 else -math.inf

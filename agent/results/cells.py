"""Cells as stored in a SQLite file: comparable for sorting and filtering, and exact when read back.

In: columns of plain Python values (`eval.databases.base.Value`). Out: for each cell the value that SQLite compares, and
an exact form where SQLite cannot hold the value itself. NULL, 64-bit int, float, text and bytes are stored unchanged.
Other types get an exact form (a letter and a payload) and one of these values for comparison: bool: 0 or 1; NaN:
infinity (above all numbers, as in PostgreSQL); Decimal and longer int: the nearest number; date and time: ISO text, in
UTC where there is a zone; interval: its seconds; list and dict: JSON text; text that is not valid Unicode: text with
escapes. While the columns pass, their `ColumnFacts` are gathered: enough to align and filter a column, and for an
export to choose a type before the first row is written.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from typing import Literal

from pydantic import BaseModel

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


Kind = Literal["number", "text", "date", "datetime", "boolean", "blob", "mixed", "empty"]

_KIND_OF: dict[type, Kind] = {
    int: "number",
    float: "number",
    Decimal: "number",
    date: "date",
    datetime: "datetime",
    bool: "boolean",
    bytes: "blob",
}
"""All others are text."""


class ColumnFacts(BaseModel, frozen=True):
    """One column of a kept result; over its kept rows, so a truncated result says less."""

    name: str
    """As the engine gives it; several columns may share it."""
    kind: Kind
    """By the values, not by a declaration: `mixed` holds several kinds, `empty` nothing but NULL."""
    types: tuple[str, ...]
    """Python's names of the types met, sorted: `int`, `Decimal`, `datetime`, …"""
    zoned: bool | None = None
    """Whether its times have a zone; None where some have one and some have none, or there are no times."""
    digits: int = 0
    """Most digits before the point among int and Decimal."""
    scale: int = 0
    """Most digits after the point among Decimal."""


class FactGatherer:
    """Collects the facts of one column, batch by batch."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._types: set[type] = set()
        self._zoned: set[bool] = set()
        self._digits = 0
        self._scale = 0

    def add(self, column: Sequence[Value], types: set[type]) -> None:
        """Take some values; `types` are the types of these cells."""
        own = types - {type(None)}
        self._types |= own
        if datetime in own and len(self._zoned) < 2:
            self._zoned |= {cell.tzinfo is not None for cell in column if isinstance(cell, datetime)}
        if int in own:
            ints = [abs(cell) for cell in column if type(cell) is int]
            self._digits = max(self._digits, len(str(max(ints))))
        if Decimal in own:
            for cell in column:
                if isinstance(cell, Decimal) and cell.is_finite():
                    exponent = cell.as_tuple().exponent
                    assert isinstance(exponent, int)
                    self._scale = max(self._scale, -exponent)
                    self._digits = max(self._digits, cell.adjusted() + 1)

    def facts(self) -> ColumnFacts:
        kinds = {_KIND_OF.get(kind, "text") for kind in self._types}
        kind: Kind = "empty" if not kinds else kinds.pop() if len(kinds) == 1 else "mixed"
        return ColumnFacts(
            name=str(json_value(self._name)),
            kind=kind,
            types=tuple(sorted(kind.__name__ for kind in self._types)),
            zoned=self._zoned == {True} if len(self._zoned) == 1 else None,
            digits=self._digits,
            scale=self._scale,
        )

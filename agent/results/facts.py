"""Facts about each column of a kept result, gathered while its rows are written.

In: columns of values, batch by batch. Out: a `ColumnFacts` for each: enough for the page to align and chart the column
and to offer filters, and for an export to choose a type before the first row is written.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

from eval.databases.types import Value
from eval.databases.values import json_value

MAX_DISTINCT = 1000
_MAX_SHOWN = 200
"""Maximum characters of a text shown as the minimum or maximum."""

Kind = Literal["number", "text", "date", "datetime", "boolean", "blob", "mixed", "empty"]

_KIND_OF: dict[type, Kind] = {
    int: "number",
    float: "number",
    Decimal: "number",
    str: "text",
    date: "date",
    datetime: "datetime",
    bool: "boolean",
    bytes: "blob",
    time: "text",
    timedelta: "text",
    list: "text",
    dict: "text",
}
_NUMBERS = frozenset({int, float, Decimal})


class ColumnFacts(BaseModel):
    """One column of a kept result; over its kept rows, so a truncated result says less."""

    model_config = ConfigDict(frozen=True)

    name: str
    """As the engine gives it; several columns may share it."""
    kind: Kind
    """By the values, not by a declaration: `mixed` holds several kinds, `empty` nothing but NULL."""
    types: tuple[str, ...]
    """Python's names of the types met, sorted: `int`, `Decimal`, `datetime`, …"""
    nulls: int
    minimum: Any = None
    """As JSON; None where values have no one order (mixed, blobs, lists). NaN is passed over."""
    maximum: Any = None
    distinct: int | None = None
    """Number of distinct values without NULL; None when there are more than `MAX_DISTINCT`."""
    digits: int = 0
    """Most digits before the point among int and Decimal."""
    scale: int = 0
    """Most digits after the point among Decimal."""


class FactGatherer:
    """Collects the facts of one column, batch by batch."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._types: set[type] = set()
        self._nulls = 0
        self._distinct: set[Value] | None = set()
        self._least: Any = None
        self._most: Any = None
        self._ordered = True
        self._digits = 0
        self._scale = 0

    def add(self, column: Sequence[Value], types: set[type]) -> None:
        """Take some values; `types` are the types of these cells."""
        own = types - {type(None)}
        if own != types:
            self._nulls += sum(cell is None for cell in column)
            column = [cell for cell in column if cell is not None]
        if not own:
            return
        self._types |= own
        if self._distinct is not None:
            try:
                self._distinct.update(column)
            except TypeError:  # lists and dicts
                self._distinct.update(map(repr, column))
            if len(self._distinct) > MAX_DISTINCT:
                self._distinct = None
        self._bound(column, own)
        if own & {int, Decimal}:
            self._measure(column, own)

    def facts(self) -> ColumnFacts:
        kinds = {_KIND_OF.get(kind, "text") for kind in self._types}
        kind: Kind = "empty" if not kinds else kinds.pop() if len(kinds) == 1 else "mixed"
        return ColumnFacts(
            name=str(json_value(self._name)),
            kind=kind,
            types=tuple(sorted(kind.__name__ for kind in self._types)),
            nulls=self._nulls,
            minimum=_shown(self._least) if self._ordered else None,
            maximum=_shown(self._most) if self._ordered else None,
            distinct=len(self._distinct) if self._distinct is not None else None,
            digits=self._digits,
            scale=self._scale,
        )

    def _bound(self, column: Sequence[Value], own: set[type]) -> None:
        self._ordered = self._ordered and (len(self._types) == 1 or self._types <= _NUMBERS)
        if not self._ordered or own & {bytes, list, dict}:
            self._ordered = False
            return
        known: list[Any] = list(column)
        if own & {float, Decimal}:
            known = [cell for cell in known if cell == cell]
        ends = [end for end in (self._least, self._most) if end is not None]
        if not known:
            return
        try:
            self._least, self._most = min([min(known), *ends]), max([max(known), *ends])
        except (TypeError, ArithmeticError):  # times with and without a zone
            self._ordered = False

    def _measure(self, column: Sequence[Value], own: set[type]) -> None:
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


def _shown(value: Value) -> Any:
    shown = json_value(value)
    return shown[:_MAX_SHOWN] if isinstance(shown, str) else shown

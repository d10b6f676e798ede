"""Facts about each column of a kept result, gathered while its rows are written.

In: columns of values, batch by batch. Out: a `ColumnFacts` for each: enough to align and filter the column, and for an
export to choose a type before the first row is written.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime
from decimal import Decimal
from typing import Literal

from pydantic import BaseModel

from eval.databases.types import Value
from eval.databases.values import json_value

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

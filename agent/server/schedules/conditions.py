"""When an alert is told.

In: a condition, the rows that an answer returned now, and what was seen before. Out: whether to tell, why, what to
remember, and which rows are new.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from agent.server.runs.encoding import as_json
from agent.store.records import Condition
from eval.errors import Text2SQLError

ROWS = 10_000
"""Rows that are compared; an answer with more has no `new rows`."""


class CannotTell(Text2SQLError):
    """The answer does not have what the condition asks for."""


@dataclass(frozen=True, slots=True)
class Seen:
    tells: bool
    why: str
    """In words, for the history; holds no value of the answer."""
    detail: str = ""
    """The value, for the message."""
    memory: dict[str, Any] = field(default_factory=dict)
    """To be remembered if it is told, or if there is nothing to tell."""
    rows: list[list[Any]] | None = None
    """The rows to send; None: all."""


def seen(
    condition: Condition, columns: Sequence[str], rows: Sequence[list[Any]], truncated: bool, before: Mapping[str, Any]
) -> Seen:
    """Raises CannotTell."""
    if condition.kind == "new rows":
        return _new_rows(rows, truncated, before)
    if condition.column not in columns:
        raise CannotTell(f"The answer has no column {condition.column!r} any more.")
    place = list(columns).index(condition.column)
    numbers = [number for row in rows if (number := _number(row[place])) is not None]
    if condition.kind == "changes":
        return _changes(condition, numbers, len(rows), before)
    if not numbers:
        return Seen(False, f"{condition.column} has no number.", memory={"held": False})
    above = condition.kind == "above"
    number = max(numbers) if above else min(numbers)
    held = number > condition.value if above else number < condition.value
    why = f"{condition.column} is {'' if held else 'not '}{condition.kind} {condition.value:,.10g}"
    if held and before.get("held"):
        return Seen(False, f"{why}, as the last time.", memory={"held": True})
    return Seen(held, f"{why}.", f"{condition.column} is {number:,.10g}.", {"held": held})


def _changes(condition: Condition, numbers: Sequence[float], rows: int, before: Mapping[str, Any]) -> Seen:
    if rows != 1:
        raise CannotTell("A change needs an answer of one row.")
    if not numbers:
        return Seen(False, f"{condition.column} has no number.", memory=dict(before))
    (number,) = numbers
    if "value" not in before:
        return Seen(False, "Changes count from here.", memory={"value": number})
    was = float(before["value"])
    least = abs(was) * condition.value / 100 if condition.percent else condition.value
    changed = number != was and abs(number - was) >= least
    by = f"{condition.value:,.10g}{' %' * condition.percent}"
    why = f"{condition.column} has {'' if changed else 'not '}changed by {by}."
    detail = f"{condition.column} is {number:,.10g}, was {was:,.10g}."
    return Seen(changed, why, detail, {"value": number if changed else was})


def _new_rows(rows: Sequence[list[Any]], truncated: bool, before: Mapping[str, Any]) -> Seen:
    if truncated or len(rows) > ROWS:
        raise CannotTell(f"The answer has more rows than the {ROWS:,} that can be compared.")
    marks = [hashlib.blake2b(as_json(row).encode(), digest_size=8).hexdigest() for row in rows]
    memory = {"rows": list(dict.fromkeys(marks))}
    if "rows" not in before:
        return Seen(False, "New rows count from here.", memory=memory)
    known = set(before["rows"])
    new = [row for row, mark in zip(rows, marks, strict=True) if mark not in known]
    return Seen(bool(new), f"{len(new):,} new row{'' if len(new) == 1 else 's'}.", memory=memory, rows=new)


def _number(cell: object) -> float | None:
    if isinstance(cell, bool) or not isinstance(cell, int | float | str):
        return None
    try:
        number = float(cell)
    except ValueError:
        return None
    return number if number == number else None

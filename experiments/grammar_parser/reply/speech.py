"""The words for parts of a plan: tables, columns, figures, values and periods, as a person says them.

In: expressions of a plan and the vocabulary. Out: phrases without articles: `order date`, `total amount`, `March 2024`.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass, replace

from agent.knowledge.vocabulary import Vocabulary
from eval.language.lexicon import measures
from experiments.grammar_parser.plan.algebra import (
    Aggregate,
    Arithmetic,
    Column,
    Condition,
    Constant,
    DatePart,
    Elapsed,
    Expression,
    OneOf,
    OverGroups,
    Scalar,
    Star,
    Within,
)

CALLED = {"sum": "total", "avg": "average", "min": "lowest", "max": "highest", "median": "median"}
_UNITS = {"month_of_year": "month"}
_SIGNS = {"+": "plus", "-": "minus", "*": "times", "/": "divided by"}


class Speech:
    """The words of one schema."""

    def __init__(self, vocabulary: Vocabulary, called: Mapping[str, str] = CALLED) -> None:
        self.vocabulary, self._called = vocabulary, called

    def table(self, name: str) -> str:
        return " ".join(self.vocabulary.tables[name].words)

    def rows(self, name: str) -> str:
        return self.vocabulary.tables[name].plural

    def column(self, c: Column, of: str = "") -> str:
        """The column's words, after those of its table unless they are said, or the table is `of`."""
        name, owner = " ".join(self.vocabulary.columns[c.key].words), self.table(c.table)
        if c.role:
            holder, _, key = c.role.rpartition(".")
            words = self.vocabulary.columns[holder, key].words
            return f"{' '.join(w for w in words if w not in ('id', 'key', 'code'))} {name}"
        return name if c.table == of or set(owner.split()) & set(name.split()) else f"{owner} {name}"

    def expression(self, e: Expression, of: str = "") -> str:
        match e:
            case Column():
                return self.column(e, of)
            case Star():
                return f"all columns of {self.table(e.table)}"
            case DatePart():
                return f"{_UNITS.get(e.unit, e.unit)} of {self.column(e.of, of)}"
            case Elapsed(end=None):
                return f"age, from {self.column(e.start, of)} on"
            case Elapsed(end=Column() as end):
                return f"{e.unit}s from {self.column(e.start, of)} to {self.column(end, of)}"
            case Arithmetic() if self.measure(e):
                return self.measure(e)
            case Arithmetic() if (change := compared(e)) is not None:
                kind = "growth in percent" if change.percent else "change"
                return f"{kind} of the {self.aggregate(change.figure, of)} from {change.first} to {change.second}"
            case Arithmetic():
                return f"{self.expression(e.left, of)} {_SIGNS[e.sign]} {self.expression(e.right, of)}"
            case Constant():
                return value(e.value)
            case Aggregate():
                return self.aggregate(e, of)
            case Scalar():
                return f"the {self.expression(e.of.show[0], of)}"
            case OverGroups():
                inner = self.expression(e.of, of).removeprefix("sum of the ")
                kinds = {"share": "share of the", "running": "running total of the", "change": "change of the"}
                return f"{kinds.get(e.kind, 'growth of the')} {inner}"
        return ""

    def aggregate(self, e: Aggregate, of: str = "") -> str:
        if e.of is None:
            return f"number of {self.rows(e.table)}" if e.table else "number of rows"
        inner = self.expression(e.of, of)
        if e.function == "count":
            return f"number of {'different ' if e.distinct else ''}{inner} values"
        called = self._called[e.function]
        if isinstance(e.of, Column) and self.vocabulary.columns[e.of.key].role == "date":
            called = {"min": "earliest", "max": "latest"}.get(e.function, called)
        if called == "total" and isinstance(e.of, Arithmetic) and self.measure(e.of):
            return inner
        return f"sum of the {inner}" if called == "total" and "total" in inner.split() else f"{called} {inner}"

    def measure(self, e: Expression) -> str:
        """The business measure that is a price times a quantity: `revenue`."""
        if not (
            isinstance(e, Arithmetic) and e.sign == "*" and isinstance(e.left, Column) and isinstance(e.right, Column)
        ):
            return ""
        price, count = (self.vocabulary.columns[x.key].words for x in (e.left, e.right))
        for name, known in measures().items():
            if any(price[-len(w) :] == w for w in known.prices) and any(
                count[-len(w) :] == w for w in known.quantities
            ):
                return name
        return ""


@dataclass(frozen=True, slots=True)
class Change:
    """One figure under two conditions: their difference, or with `percent` the growth from the first to the second."""

    figure: Aggregate
    first: str
    second: str
    percent: bool


def compared(e: Expression) -> Change | None:
    """The change that an arithmetic of two conditional aggregates says; None for any other expression."""
    top = e.left if isinstance(e, Arithmetic) and e.sign == "/" else e
    percent = isinstance(top, Arithmetic) and top.sign == "*" and isinstance(top.left, Constant)
    inner = top.right if percent and isinstance(top, Arithmetic) else top
    if not isinstance(inner, Arithmetic) or inner.sign != "-":
        return None
    second, first = inner.left, inner.right
    if not (isinstance(first, Aggregate) and isinstance(second, Aggregate) and first.where and second.where):
        return None
    figure = replace(first, where=())
    return Change(figure, told(first.where[-1]), told(second.where[-1]), percent)


def told(c: Condition) -> str:
    """A condition by its value or period alone: `2024`, `beverages`."""
    if isinstance(c, Within):
        return called_period(c) or f"{value(c.low)} to {value(last_day(c))}"
    return " or ".join(value(v) for v in c.values) if isinstance(c, OneOf) else ""


def value(v: object) -> str:
    """A value as it is said: numbers without an idle decimal place, dates as ISO."""
    if isinstance(v, bool):
        return "yes" if v else "no"
    if isinstance(v, float) and v == int(v):
        return str(int(v))
    return v.isoformat() if isinstance(v, dt.date) else str(v)


def last_day(c: Within) -> object:
    """The last value of the range: a half-open range of days ends on the day before `high`."""
    if isinstance(c.high, dt.date) and not c.closed:
        return dt.date.fromordinal(c.high.toordinal() - 1)
    return c.high


def called_period(c: Within) -> str:
    """`2024`, `March 2024`, `Q2 2024` or a single day; empty where the range is none of these."""
    low, high = c.low, c.high
    if not (isinstance(low, dt.date) and isinstance(high, dt.date)) or c.closed:
        return ""
    months = 12 * (high.year - low.year) + high.month - low.month
    if low.day == high.day == 1:
        if months == 12 and low.month == 1:
            return str(low.year)
        if months == 3 and low.month % 3 == 1:
            return f"Q{low.month // 3 + 1} {low.year}"
        if months == 1:
            return f"{low:%B} {low.year}"
    return low.isoformat() if (high - low).days == 1 else ""

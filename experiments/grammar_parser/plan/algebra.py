"""The query algebra: what `grammar` builds, `rank` orders, `sql` writes and `reply` says in plain words.

Every value is frozen, and equal meanings are equal values. A column is named by its table and, where rows of one table
play two parts (`the manager of an employee`, `from one airport to another`), by the foreign key through which its row
is reached.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from dataclasses import dataclass, fields
from typing import Literal

Function = Literal["count", "sum", "avg", "min", "max", "median"]
Operator = Literal["=", "<>", ">", ">=", "<", "<="]
Unit = Literal["year", "quarter", "month", "week", "day", "weekday", "hour", "month_of_year"]

OPPOSITE: dict[str, Operator] = {"=": "<>", "<>": "=", ">": "<=", "<=": ">", "<": ">=", ">=": "<"}


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table; `role` is the foreign key (`table.column`) that leads to its row, if not the usual one."""

    table: str
    name: str
    role: str = ""

    @property
    def key(self) -> tuple[str, str]:
        return self.table, self.name


@dataclass(frozen=True, slots=True)
class Star:
    """All columns of a table."""

    table: str


@dataclass(frozen=True, slots=True)
class DatePart:
    """The year, month … of a date; `month_of_year` is the month without its year."""

    of: Column
    unit: Unit


@dataclass(frozen=True, slots=True)
class Elapsed:
    """The time from one date to another, in days, hours, minutes, weeks or years; `end` None is `today`."""

    start: Column
    end: Column | None
    unit: Literal["day", "hour", "minute", "week", "year"] = "day"
    today: dt.date | None = None


@dataclass(frozen=True, slots=True)
class Arithmetic:
    """One expression and another, joined by a sign."""

    sign: Literal["+", "-", "*", "/"]
    left: Expression
    right: Expression


@dataclass(frozen=True, slots=True)
class Constant:
    value: float | int | str | dt.date | bool


@dataclass(frozen=True, slots=True)
class Aggregate:
    """An aggregate of an expression, or with `of` None the number of rows of `table`. With `where`, only of those rows
    (a conditional aggregate: shares, comparisons side by side)."""

    function: Function
    of: Expression | None = None
    table: str = ""
    distinct: bool = False
    where: tuple[Condition, ...] = ()


@dataclass(frozen=True, slots=True)
class Scalar:
    """The one value of another query."""

    of: Select


@dataclass(frozen=True, slots=True)
class OverGroups:
    """A figure of each group in the light of the others: its share in percent, the total so far, the change."""

    kind: Literal["share", "running", "change", "growth"]
    of: Aggregate | Arithmetic
    order: DatePart | Column | None = None


Expression = Column | Star | DatePart | Elapsed | Arithmetic | Constant | Aggregate | Scalar | OverGroups


@dataclass(frozen=True, slots=True)
class Compare:
    left: Expression
    operator: Operator
    right: Expression


@dataclass(frozen=True, slots=True)
class OneOf:
    """The column holds one of these values."""

    left: Expression
    values: tuple[str | int | float, ...]
    negated: bool = False


@dataclass(frozen=True, slots=True)
class Like:
    left: Expression
    pattern: str
    negated: bool = False


@dataclass(frozen=True, slots=True)
class Missing:
    """The column holds no value."""

    left: Expression
    negated: bool = False


@dataclass(frozen=True, slots=True)
class Within:
    """From `low` up to, not including, `high`; with `closed`, including it."""

    left: Expression
    low: float | int | dt.date | str
    high: float | int | dt.date | str
    closed: bool = False
    negated: bool = False


@dataclass(frozen=True, slots=True)
class Related:
    """Rows of `table` that have (or, negated, have not) a row of `to` for which the conditions hold."""

    table: str
    to: str
    where: tuple[Condition, ...] = ()
    negated: bool = False


@dataclass(frozen=True, slots=True)
class Among:
    """The expression's value is (not) among those of another query."""

    left: Expression
    of: Select
    negated: bool = False


@dataclass(frozen=True, slots=True)
class Either:
    """At least one of the conditions holds."""

    of: tuple[Condition, ...]


@dataclass(frozen=True, slots=True)
class All:
    """All of the conditions hold: a part of an `Either`."""

    of: tuple[Condition, ...]


Condition = Compare | OneOf | Like | Missing | Within | Related | Among | Either | All


@dataclass(frozen=True, slots=True)
class Order:
    by: Expression
    descending: bool = False


@dataclass(frozen=True, slots=True)
class Select:
    """One SELECT. `tables` are those that the question names, the one whose rows are meant first."""

    show: tuple[Expression, ...]
    tables: tuple[str, ...] = ()
    where: tuple[Condition, ...] = ()
    group: tuple[Expression, ...] = ()
    having: tuple[Condition, ...] = ()
    order: tuple[Order, ...] = ()
    limit: int | None = None
    offset: int = 0
    distinct: bool = False
    per: tuple[Expression, ...] = ()
    """Rows are ranked within equal values of these, and `limit` applies to each."""
    keep_empty: bool = False
    """Rows of the first table without any related row are kept, with a count of 0."""
    combine: Combine | None = None


@dataclass(frozen=True, slots=True)
class Combine:
    """The rows that are also (not) among those of another query, or those of both."""

    how: Literal["union", "intersect", "except"]
    other: Select


Plan = Select


def walk(node: object) -> Iterator[object]:
    """A node and all nodes below it, subqueries included."""
    todo = [node]
    while todo:
        here = todo.pop()
        if isinstance(here, tuple):
            todo.extend(here)
        elif hasattr(here, "__dataclass_fields__"):
            yield here
            todo.extend(getattr(here, f.name) for f in fields(here))  # type: ignore[arg-type]


def own(node: object) -> Iterator[object]:
    """A node and all nodes below it that belong to the same SELECT."""
    todo = [node]
    while todo:
        here = todo.pop()
        if isinstance(here, tuple):
            todo.extend(here)
        elif isinstance(here, (Scalar, Combine)):
            continue
        elif isinstance(here, Related):
            yield here
        elif isinstance(here, Among):
            todo.append(here.left)
        elif hasattr(here, "__dataclass_fields__"):
            yield here
            todo.extend(getattr(here, f.name) for f in fields(here))  # type: ignore[arg-type]


def tables_of(node: object) -> list[str]:
    """The tables that a node needs joined, in order of appearance, without those of subqueries."""
    found: list[str] = []
    for here in own(node):
        if isinstance(here, Column) and here.role:
            found.append(here.role.rpartition(".")[0])
        elif isinstance(here, (Column, Star, Related)) or (
            isinstance(here, Aggregate) and here.of is None and here.table
        ):
            found.append(here.table)
    return list(dict.fromkeys(found))


def aggregates(node: object) -> bool:
    """Whether an expression holds an aggregate of its own SELECT."""
    return any(isinstance(here, (Aggregate, OverGroups)) for here in own(node))

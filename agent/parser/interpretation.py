"""The meaning of a question before any SQL: a small query algebra over schema columns.

The reader fills a `Query`, `sql_builder` turns it into SQL, and `explanation` into plain words.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

ColumnKey = tuple[str, str]
"""(table, column) with their names in the schema."""

Function = Literal["", "count", "sum", "avg", "min", "max"]
CALLED: dict[str, str] = {"sum": "total", "avg": "average", "min": "lowest", "max": "highest"}
"""The aggregates in words."""
Operator = Literal["=", "<>", ">", ">=", "<", "<=", "between", "not between", "like", "not like", "null", "not null"]
Unit = Literal["day", "hour", "minute", "week"]

_OPPOSITES: tuple[tuple[Operator, Operator], ...] = (
    ("=", "<>"), (">", "<="), ("<", ">="), ("like", "not like"), ("between", "not between"), ("null", "not null"),
)  # fmt: skip
OPPOSITE: dict[Operator, Operator] = dict(_OPPOSITES) | {other: one for one, other in _OPPOSITES}
"""The operator that says the opposite of another one."""


@dataclass(frozen=True, slots=True)
class Expression:
    """A column, a count of rows, an aggregate, or the aggregate of a product of two columns."""

    function: Function = ""
    column: ColumnKey | None = None
    table: str | None = None
    """For a count of rows: the table whose rows are counted."""
    distinct: bool = False
    factor: ColumnKey | None = None
    """A second column that the first is multiplied by."""
    less: ColumnKey | None = None
    """A column with the fraction (0..1) by which the product is reduced: a discount."""
    share: bool = False
    """The count as a percentage of all rows: the query's conditions select the rows that count."""
    via: str = ""
    """For a column of a row that another row of the same table refers to: the referring column (`manager_id`)."""
    part: str = ""
    """`year`, `quarter`, `month`, `week`, `day`, `weekday` (0 is Sunday) or `hour` of a date column; all but the last
    two include their year."""
    since: ColumnKey | None = None
    """The time from this date to the column's date, in `unit`."""
    unit: Unit = "day"

    @property
    def tables(self) -> tuple[str, ...]:
        tables = [c[0] for c in (self.column, self.factor, self.less, self.since) if c]
        if self.table:
            tables.append(self.table)
        return tuple(dict.fromkeys(tables))


@dataclass(frozen=True, slots=True)
class Condition:
    """`left operator values`, or `left operator (aggregate)` when `against` is set."""

    left: Expression
    operator: Operator
    values: tuple[object, ...] = ()
    against: Query | None = None
    """A subquery of one value to compare with."""
    half_open: bool = False
    """For `between` on dates: the upper end is excluded."""

    @property
    def tables(self) -> tuple[str, ...]:
        return self.left.tables


@dataclass(frozen=True, slots=True)
class Membership:
    """Rows of the query's table `of` that have (or do not have) a partner in `query`, which selects keys."""

    of: str
    table: str
    """The related table."""
    where: Sequence[Clause] = ()
    negated: bool = True
    key: ColumnKey | None = None
    """What a row of `of` is known by, if that is not the key which the related table refers to."""

    @property
    def tables(self) -> tuple[str, ...]:
        return (self.of,)


Clause = tuple["Condition | Membership", ...]
"""Alternatives (OR); a query's clauses must all hold (AND)."""


@dataclass(frozen=True, slots=True)
class Span:
    """One calendar day, week, month, quarter or year: the days from `start` up to, not including, `end`."""

    start: dt.date
    end: dt.date
    unit: str
    words: str
    relative: bool = False
    any_year: bool = False
    """A month or quarter without a year."""


@dataclass(frozen=True, slots=True)
class Shape:
    """A computation on the figures of a plain query."""

    kind: Literal["share", "growth", "change", "periods", "difference", "compare", "median", "average", "count", "top",
                  "days", "took", "ratio"]  # fmt: skip
    """share: each group's figure as a percentage of all; growth: as a percentage of the previous period; change: as a
    percentage from one year to another; periods, compare: groups for two periods or two values; difference: of the
    figures of two periods; median: instead of the average; average, count: of the groups' figures, of the groups; top:
    the group with the highest figure; days: from one date to another; took: rows by the time between their dates;
    ratio: of two sums."""
    years: tuple[int, ...] = ()
    periods: tuple[Span, ...] = ()
    """For periods and difference: the two that are compared."""
    span: tuple[ColumnKey, ColumnKey] | None = None
    """For days and took: the dates at the start and the end."""
    function: Function = "avg"
    """For days: the aggregate of the times."""
    unit: Unit = "day"
    operator: Operator = ">"
    """For took: how the time is compared with `number`."""
    number: float = 0.0
    part: str = ""
    """For top: the part of the date that the plain query groups by."""
    descending: bool = True
    """For top: the highest figure rather than the lowest."""
    grouped: bool = False
    """The plain query must have groups for the shape to apply."""


@dataclass
class Query:
    """One SELECT."""

    select: list[Expression] = field(default_factory=list)
    tables: list[str] = field(default_factory=list)
    """Tables that the question names, the entity first."""
    where: list[Clause] = field(default_factory=list)
    base: list[Clause] = field(default_factory=list)
    """For a share: the conditions on all the rows that it is a share of; `where` selects the part."""
    group: list[Expression] = field(default_factory=list)
    having: list[Condition] = field(default_factory=list)
    order: list[tuple[Expression, bool]] = field(default_factory=list)
    """(expression, descending)."""
    default_order: list[tuple[Expression, bool]] = field(default_factory=list)
    """For rows whose order the question leaves open."""
    limit: int | None = None
    offset: int = 0
    distinct: bool = False
    within: list[Expression] = field(default_factory=list)
    """Rows are ranked within equal values of these, and `limit` applies to each (`the 3 best of each store`)."""
    keep_empty: bool = False
    """Groups without any row to count are also shown, with 0."""
    shape: Shape | None = None
    whole: Query | None = None
    """For a share of rows that are counted by groups: the number of all these rows."""
    intersect: Query | None = None
    """Rows are kept that are also among those of this query."""

    def aggregates(self) -> bool:
        return any(e.function for e in self.select)

    @property
    def each_once(self) -> bool:
        """Whether the groups only keep rows from being repeated."""
        return bool(self.group) and not (self.having or any(e.function for e in self.expressions()))

    @property
    def compares_values(self) -> bool:
        """Whether the groups are the stored values that the question sets against each other."""
        return self.shape is not None and self.shape.kind == "compare"

    def put_first(self, *tables: str) -> None:
        """Name these tables before the others."""
        self.tables = list(dict.fromkeys([*tables, *self.tables]))

    def exchange(self, new: dict[Expression, Expression]) -> None:
        """Show, order by and compare other expressions in place of these."""
        self.select = [new.get(e, e) for e in self.select]
        self.order = [(new.get(e, e), down) for e, down in self.order]
        self.default_order = [(new.get(e, e), down) for e, down in self.default_order]
        self.having = [replace(c, left=new.get(c.left, c.left)) for c in self.having]

    def ordered_by(self) -> list[Expression]:
        return [e for e, _ in self.order]

    def expressions(self) -> list[Expression]:
        """What is shown, ordered by, or compared for each group."""
        return [*self.select, *self.ordered_by(), *(c.left for c in self.having)]

    def restrictions(self) -> list[Condition | Membership]:
        """All that restricts the rows, alternatives included."""
        return [part for clause in self.where for part in clause]

    def conditions(self) -> list[Condition]:
        return [part for part in self.restrictions() if isinstance(part, Condition)]

"""Productions of periods and parts of dates: conditions, groups, comparisons and changes over time.

Each takes what it needs of a state and yields the states that it leads to; its name stands in the trail.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterator
from dataclasses import replace

from agent.knowledge.vocabulary import ColumnWord
from agent.parser.periods import Period
from eval.language.lexicon import word_set
from experiments.grammar_parser.grammar.columns import kind
from experiments.grammar_parser.grammar.context import Context
from experiments.grammar_parser.grammar.partial import (
    SIGNS,
    UNITS,
    column_of,
    function_of,
    joined,
    once,
)
from experiments.grammar_parser.grammar.state import Absent, State
from experiments.grammar_parser.link.items import Item
from experiments.grammar_parser.plan.algebra import (
    Aggregate,
    Compare,
    Condition,
    Constant,
    DatePart,
    Either,
    Elapsed,
    Expression,
    OneOf,
    Unit,
    Within,
)

Production = Callable[[Context, State, Item], Iterator[State]]


def period(c: Context, s: State, item: Item) -> Iterator[State]:
    period = item.period
    assert period is not None
    if s.waits("like") is not None:
        return
    a, b = item.start, item.end
    cmp, neg = s.waits("cmp"), s.waits("neg")
    year_only = period.year_only is not None
    candidates: list[tuple[ColumnWord, float]] = []
    if s.last is not None and s.last.role in ("date", "year"):
        candidates = [(s.last, 1.0)]
    if not candidates:
        candidates = c.dates(c.anchors(s), year_only)
    for column, score in candidates:
        e = column_of(column)
        operator = cmp.argument if cmp is not None else "="
        if cmp is not None and cmp.argument == "between":
            if cmp.number is None and cmp.expression is None:
                yield s.but(
                    "period begins",
                    a,
                    b,
                    score,
                    waiting=(
                        *s.without(cmp),
                        replace(cmp, expression=Constant(period.start), number=period.start.year),
                    ),
                    last=column,
                )
                continue
            if isinstance(cmp.expression, Constant):
                condition = _between(column, cmp.expression.value, period)
                yield s.but(
                    "between periods",
                    a,
                    b,
                    score,
                    waiting=s.without(cmp),
                    where=joined(s, condition),
                    phase="restrict",
                )
                continue
        condition = _in_period(column, period, operator)
        if neg is not None:
            condition = replace(condition, negated=True) if isinstance(condition, (Within, OneOf)) else condition
        show = s.show
        if s.last is not None and s.show and s.show[-1] == e and len(s.show) > 1:
            show = s.show[:-1]
        gone = s.without(cmp, neg)
        if neg is not None and s.head and column.table != s.head and isinstance(condition, Within):
            yield s.but(
                "absent in a period",
                a,
                b,
                score + 0.2,
                waiting=gone,
                absent=(*s.absent, Absent(s.head, column.table, (replace(condition, negated=False),))),
                phase="restrict",
            )
            continue
        if s.absent:
            inner = replace(s.absent[-1], where=(*s.absent[-1].where, condition))
            if column.table == s.absent[-1].table:
                yield s.but("period of absent rows", a, b, score, waiting=gone, absent=(*s.absent[:-1], inner))
                continue
        where = joined(s, condition)
        group = s.group
        last = s.where[-1] if s.where else None
        before = last.of[-1] if isinstance(last, Either) else last
        same = cmp is None and isinstance(before, (Within, OneOf)) and before.left == e and not s.absent
        if same and last is not None:
            where = (*s.where[:-1], Either((*(last.of if isinstance(last, Either) else (last,)), condition)))
        if s.vs and same:
            group = once(group, DatePart(e, period_unit(period)) if column.role == "date" else e)
            yield s.but("periods set against each other", a, b, score, waiting=gone, where=where, group=group, column=e)
            continue
        yield s.but(
            "period",
            a,
            b,
            score,
            waiting=gone,
            where=where,
            column=e,
            show=show,
            phase="restrict" if s.show or s.head else s.phase,
            last=None,
            alternatives=False,
        )


def period_unit(period: Period) -> Unit:
    """The unit that a period is about as long as."""
    days = (period.end - period.start).days
    return "year" if days > 300 else "quarter" if days > 80 else "month" if days > 20 else "day"


def _in_period(column: ColumnWord, period: Period, operator: str) -> Condition:
    """A date in, before or after a period; of a year column, its year."""
    e = column_of(column)
    if column.role != "date":
        year: int | str = period.start.year if column.numeric else str(period.start.year)
        return (
            OneOf(e, (year,))
            if operator not in SIGNS or operator == "="
            else Compare(e, SIGNS[operator], Constant(year))
        )
    if operator in ("=", "<>"):
        return Within(e, period.start, period.end, negated=operator == "<>")
    after = operator in ("after", ">", "since", ">=")
    bound = period.end if operator in ("after", ">", "<=") else period.start
    return Compare(e, ">=" if after else "<", Constant(bound))


def _between(column: ColumnWord, start: object, period: Period) -> Condition:
    e = column_of(column)
    low = start if isinstance(start, dt.date) else period.start
    if column.role != "date":
        return Within(e, low.year, period.start.year, closed=True)
    return Within(e, low, period.end)


def unit(c: Context, s: State, item: Item) -> Iterator[State]:
    """`per month`, `monthly`, `which month`: a part of a date, as a group or as what is asked for."""
    group = s.waits("group")
    words = c.lattice.words
    lone = words[item.start].endswith("ly") or words[item.start] == "annual"
    for column, score in c.dates(c.anchors(s), item.argument == "year"):
        if column.role == "year" and item.argument != "year":
            continue
        e: Expression = column_of(column)
        if column.role == "date" and not (item.argument == "day" and c.daily(column)):
            e = DatePart(column_of(column), UNITS[item.argument])
        if lone or group is not None:
            yield s.but(
                "group by date part",
                item.start,
                item.end,
                score,
                waiting=s.without(group),
                group=(*s.group, e),
                phase=s.phase if lone else "restrict",
            )
        else:
            yield from kind(c, s, item, column, e, score - 0.1)


def trend(c: Context, s: State, item: Item) -> Iterator[State]:
    """`the trend of sales`, `over time`: by month, or by year where dates are years."""
    for column, score in c.dates(c.anchors(s), True):
        e = column_of(column)
        key: Expression = DatePart(e, "month") if column.role == "date" else e
        yield s.but("over time", item.start, item.end, score, group=(*s.group, key))


def over_groups(c: Context, s: State, item: Item) -> Iterator[State]:
    if item.argument in ("growth_month", "growth_year"):
        for column, score in c.dates(c.anchors(s), True)[:1]:
            e = column_of(column)
            unit = item.argument.partition("_")[2]
            key: Expression = DatePart(e, UNITS[unit]) if column.role == "date" else e
            yield s.but("growth by period", item.start, item.end, score, computed="growth", group=once(s.group, key))
        if not s.show:
            yield s.but("growth by period said", item.start, item.end, 0.5, computed=item.argument)
        return
    yield s.but(
        f"{item.kind} said", item.start, item.end, 0.4, computed=item.argument if item.kind == "growth" else item.kind
    )


def elapsed(c: Context, s: State, item: Item) -> Iterator[State]:
    """`delivery time`, `how long does delivery take`: from the first date of a row to the date named."""
    howlong = s.waits("howlong")
    if not item.argument and howlong is None:
        return
    for column, score in item.columns[:2]:
        start = next(
            (
                x
                for x in c.vocabulary.by_table[column.table]
                if x.role == "date" and x.key != column.key and not _DUE & set(x.words)
            ),
            None,
        )
        if start is None:
            continue
        time = Elapsed(column_of(start), column_of(column))
        agg = s.waits("agg")
        made = Aggregate(function_of(agg) if agg is not None else "avg", time)
        yield s.but(
            "time between dates",
            item.start,
            item.end,
            score,
            waiting=s.without(agg, howlong),
            show=(*s.show, made),
            column=made,
            head=s.head or column.table,
        )


_DUE = word_set(
    "due require required deadline expect expected promise promised plan planned estimate estimated schedule scheduled"
)


_DONE = word_set(
    "ship shipped deliver delivered delivery return returned close closed complete completed finish finished arrive "
    "arrival actual pay paid"
)


def late(c: Context, s: State, item: Item) -> Iterator[State]:
    """`late`: done after the date by which it was due."""
    for table in list(dict.fromkeys([*c.anchors(s), *c.named]))[:4]:
        dates = [x for x in c.vocabulary.by_table[table] if x.role == "date"]
        due = next((x for x in dates if _DUE & set(x.words)), None)
        done = next((x for x in dates if _DONE & set(x.words) and x is not due), None)
        if due is not None and done is not None:
            on_time = (item.argument == "on") != (s.waits("neg") is not None)
            condition = Compare(column_of(done), "<=" if on_time else ">", column_of(due))
            yield s.but(
                "late", item.start, item.end, 0.9, waiting=s.without(s.waits("neg")), where=joined(s, condition)
            )

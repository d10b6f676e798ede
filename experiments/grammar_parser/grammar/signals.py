"""Productions of words that say what to do: operators that wait for their object, orders, groups, clauses.

Each takes what it needs of a state and yields the states that it leads to; its name stands in the trail.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from eval.language.lexicon import word_set
from experiments.grammar_parser.grammar.context import Context
from experiments.grammar_parser.grammar.partial import (
    SIGNS,
    column_of,
    function_of,
    home,
    joined,
    named,
    once,
    scalar,
    shown_without,
)
from experiments.grammar_parser.grammar.state import Entity, State, Waiting
from experiments.grammar_parser.link.items import Item
from experiments.grammar_parser.plan.algebra import (
    Aggregate,
    Column,
    Compare,
    DatePart,
    Missing,
    Order,
)

Production = Callable[[Context, State, Item], Iterator[State]]


def count(c: Context, s: State, item: Item) -> Iterator[State]:
    a, b = item.start, item.end
    yield s.but("count said", a, b, 0.5, waiting=(*s.waiting, Waiting("count", item.argument, a, b)))
    order = s.waits("order")
    counted = next((e for e in s.show if isinstance(e, Aggregate) and e.function == "count"), None)
    if order is not None and counted is not None:
        yield s.but(
            "order by the count",
            a,
            b,
            0.7,
            waiting=s.without(order),
            order=(*s.order, Order(counted, order.argument == "desc")),
        )


def agg(c: Context, s: State, item: Item) -> Iterator[State]:
    """`average`: waits for its column; behind a comparison it may be that of the column named before."""
    cmp = s.waits("cmp")
    a, b = item.start, item.end
    yield s.but("agg said", a, b, 0.5, waiting=(*s.waiting, Waiting("agg", item.argument, a, b)))
    about = cmp.expression if cmp is not None else None
    if about is None and s.last is not None:
        about = column_of(s.last)
    if cmp is not None and cmp.number is None and about is not None and cmp.argument in SIGNS:
        made = Aggregate(function_of(Waiting("agg", item.argument)), about)
        show = shown_without(s, about)
        yield s.but(
            "compared with its aggregate",
            a,
            b,
            0.8,
            waiting=s.without(cmp),
            show=show,
            where=(*s.where, Compare(about, SIGNS[cmp.argument], scalar(made))),
            phase="restrict",
        )


def waits(kind: str, gain: float = 0.5) -> Production:
    def production(c: Context, s: State, item: Item) -> Iterator[State]:
        rows = s.waits("rows")
        number = rows.number if rows is not None and kind in ("sup", "common") else None
        yield s.but(
            f"{kind} said",
            item.start,
            item.end,
            gain,
            waiting=(*s.without(rows if number else None), Waiting(kind, item.argument, item.start, item.end, number)),
        )

    return production


def group(c: Context, s: State, item: Item) -> Iterator[State]:
    end = item.end
    yield s.but(
        "group said",
        item.start,
        end,
        0.5,
        waiting=(*s.waiting, Waiting("group", item.text, item.start, end)),
        each=s.each or "each" in item.text or "every" in item.text,
    )


def by(c: Context, s: State, item: Item) -> Iterator[State]:
    """`by`: of groups, or of the order of a ranking."""
    a, b = item.start, item.end
    yield s.but("by groups", a, b, 0.2, waiting=(*s.waiting, Waiting("group", item.text, a, b)))
    ranked = s.waits("ranked")
    if ranked is not None and item.text.startswith("by"):
        yield s.but(
            "by order", a, b, 0.3, waiting=(*s.without(ranked), Waiting("sup", ranked.argument, a, b, ranked.number))
        )


def common(c: Context, s: State, item: Item) -> Iterator[State]:
    """`the most common type`, `which type is most common`: kinds by their number of rows."""
    a, b = item.start, item.end
    rows = s.waits("rows") or s.waits("sup")
    number = rows.number if rows is not None else None
    yield s.but("common said", a, b, 0.5, waiting=(*s.without(rows), Waiting("common", item.argument, a, b, number)))
    kind = s.show[-1] if s.show else None
    if isinstance(kind, (Column, DatePart)):
        table = kind.table if isinstance(kind, Column) else kind.of.table
        by = Order(Aggregate("count", table=table), item.argument == "desc")
        yield s.but(
            "most common of the kinds",
            a,
            b,
            0.8,
            waiting=s.without(rows),
            group=once(s.group, kind),
            order=(*s.order, by),
            limit=int(number or 1),
        )


def sup(c: Context, s: State, item: Item) -> Iterator[State]:
    """`the most`: waits for what is ranked; behind a measure it ranks by it (`which country spends the most`)."""
    a, b = item.start, item.end
    rows = s.waits("rows")
    number = rows.number if rows is not None else None
    yield s.but("sup said", a, b, 0.5, waiting=(*s.without(rows), Waiting("sup", item.argument, a, b, number)))
    if isinstance(s.column, Aggregate) and s.show and s.show[-1] == s.column and len(s.show) > 1:
        by = Order(s.column, item.argument == "desc")
        yield s.but(
            "ranked by the measure",
            a,
            b,
            0.7,
            show=s.show[:-1],
            order=(*s.order, by),
            limit=int(number or 1),
            phase="restrict",
        )
    if s.head and s.focus and s.focus != s.head:
        by = Order(c.counted(s.focus), item.argument == "desc")
        yield s.but("ranked by related rows", a, b, 0.2, order=(*s.order, by), limit=int(number or 1), phase="restrict")


def most_rows(c: Context, s: State, item: Item) -> Iterator[State]:
    """`the highest number of`."""
    a, b = item.start, item.end
    waiting = (*s.waiting, Waiting("sup", item.argument, a, b), Waiting("count", "*", a, b))
    yield s.but("most rows said", a, b, 0.8, waiting=waiting)


def busy(c: Context, s: State, item: Item) -> Iterator[State]:
    """`the busiest day`: the kind with the most rows."""
    rows = s.waits("rows") or s.waits("sup")
    number = rows.number if rows is not None else None
    yield s.but(
        "busy said",
        item.start,
        item.end,
        0.6,
        waiting=(*s.without(rows), Waiting("common", item.argument, item.start, item.end, number)),
    )


def verb(c: Context, s: State, item: Item) -> Iterator[State]:
    """A verb waits for what it links."""
    waiting = Waiting("verb", item.text, item.start, item.end, nouns=item.nouns)
    before = s.column
    if isinstance(before, Column) and item.nouns & set(c.vocabulary.columns[before.key].words):
        yield s.but("verb of the column", item.start, item.end, 0.2)
    elif s.focus and item.nouns & set(c.vocabulary.tables[s.focus].words):
        yield s.but("verb of the rows", item.start, item.end, 0.2)
    anchor = s.focus or home(s)
    if anchor:
        for column in c.amounts_named(anchor, item.nouns)[:2]:
            yield s.but("verb of an amount", item.start, item.end, 0.3, last=column, phase="restrict")
    yield s.but("verb said", item.start, item.end, -0.5, waiting=(*s.waiting, waiting))


def compare(c: Context, s: State, item: Item) -> Iterator[State]:
    yield s.but("compare said", item.start, item.end, 0.3, vs=True)


def skip(c: Context, s: State, item: Item) -> Iterator[State]:
    yield s.but("kind of", item.start, item.end, 0.1)


def superior(c: Context, s: State, item: Item) -> Iterator[State]:
    """`their boss`: the row of the same table that a row refers to."""
    a, b = item.start, item.end
    table = item.tables[0][0]
    role = item.argument
    cmp = s.waits("cmp")
    if cmp is not None and cmp.number is None:
        about = (
            cmp.expression if isinstance(cmp.expression, Column) else column_of(s.last) if s.last is not None else None
        )
        if about is not None and about.table == table:
            condition = Compare(about, SIGNS[cmp.argument], replace(about, role=role))
            yield s.but(
                "compared with the superior",
                a,
                b,
                1.0,
                waiting=s.without(cmp),
                where=joined(s, condition),
                head=s.head or table,
                tables=named(s, table),
            )
        return
    names = tuple(Column(n.table, n.name, role) for n in c.vocabulary.name_columns(table))
    if not names:
        return
    yield s.but(
        "superior shown", a, b, 0.7, show=(*s.show, *names), head=s.head or table, focus=table, tables=named(s, table)
    )
    yield s.but(
        "superior said",
        a,
        b,
        0.4,
        waiting=(*s.waiting, Waiting("superior", role, a, b)),
        head=s.head or table,
        focus=table,
        tables=named(s, table),
        show=s.show or (Entity(table),),
    )


def missing(c: Context, s: State, item: Item) -> Iterator[State]:
    """`missing`, `unknown`: rows in which the column named holds nothing."""
    if s.last is not None:
        e = column_of(s.last)
        show = shown_without(s, e)
        negated = (item.argument == "not") != (s.waits("neg") is not None)
        yield s.but(
            "column missing",
            item.start,
            item.end,
            0.6,
            show=show,
            waiting=s.without(s.waits("neg")),
            where=(*s.where, Missing(e, negated)),
        )
    if item.argument == "not":
        yield s.but("present said", item.start, item.end, 0.0)
        return
    yield s.but(
        "missing said", item.start, item.end, 0.2, waiting=(*s.waiting, Waiting("neg", "missing", item.start, item.end))
    )


def first(c: Context, s: State, item: Item) -> Iterator[State]:
    """`the first 5 customers`, `the last order`: by date or by key."""
    yield s.but(
        "first said",
        item.start,
        item.end,
        0.3,
        waiting=(
            *s.waiting,
            Waiting(
                "sup", item.argument, item.start, item.end, concept=((("date",), 1), (("year",), 1), (("time",), 1))
            ),
        ),
    )


def direction(c: Context, s: State, item: Item) -> Iterator[State]:
    order = s.waits("order")
    descending = item.argument in ("desc", "alpha_desc", "young")
    if s.order and order is None:
        turned = (*s.order[:-1], replace(s.order[-1], descending=descending))
        yield s.but("direction", item.start, item.end, 0.6, order=turned)
    elif order is not None:
        yield s.but(
            "direction",
            item.start,
            item.end,
            0.6,
            waiting=(*s.without(order), replace(order, argument="desc" if descending else "asc")),
        )
    else:
        column = (
            s.column
            if s.column is not None and not isinstance(s.column, Aggregate)
            else next((x for x in s.show if isinstance(x, Column)), None)
        )
        if column is not None:
            yield s.but("direction", item.start, item.end, 0.4, order=(Order(column, descending),))


_OPENS = word_set("which who is are was were has have had when and but")
"""Words that open a clause only behind what the question is about, or not at all."""
_OF_ROWS = word_set("who which has have had")


def relative(c: Context, s: State, item: Item) -> Iterator[State]:
    """A relative word or preposition: what follows restricts the rows."""
    restricts = (s.show or s.head) and item.text not in _OPENS
    restricts = restricts or (s.head and item.text in _OF_ROWS)
    yield s.but("clause", item.start, item.end, 0.0, phase="restrict" if restricts else s.phase)


def alternative(c: Context, s: State, item: Item) -> Iterator[State]:
    yield s.but("or", item.start, item.end, 0.2, alternatives=True)


def versus(c: Context, s: State, item: Item) -> Iterator[State]:
    yield s.but("versus", item.start, item.end, 0.4, vs=True)


def also(c: Context, s: State, item: Item) -> Iterator[State]:
    yield s.but("also", item.start, item.end, 0.1)


def distinct(c: Context, s: State, item: Item) -> Iterator[State]:
    yield s.but("distinct", item.start, item.end, 0.4, distinct=True)

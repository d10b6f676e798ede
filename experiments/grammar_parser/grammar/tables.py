"""Productions of tables: the rows that a question is about, counts, describes, groups by or excludes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from experiments.grammar_parser.grammar.context import Context
from experiments.grammar_parser.grammar.partial import (
    ADDING,
    SIGNS,
    Made,
    Met,
    column_of,
    home,
    named,
    offered,
    places,
    ranking,
)
from experiments.grammar_parser.grammar.sales import sold
from experiments.grammar_parser.grammar.state import Absent, Entity, First, Others, State, Waiting
from experiments.grammar_parser.link.items import Item
from experiments.grammar_parser.plan.algebra import (
    Aggregate,
    Column,
    Compare,
    Constant,
    Expression,
    Function,
    Order,
    Star,
)


def table(c: Context, s: State, item: Item) -> Iterator[State]:
    """A table, and close rivals of it."""
    best = item.tables[0][1]
    for name, score in [p for p in item.tables[:3] if p[1] > best - 0.2]:
        common: dict[str, object] = {"focus": name, "tables": named(s, name), "last": None}
        yield from offered(Met(c, s, item, score, name, common), _PRODUCTIONS)


def _star(m: Met) -> Made:
    """`all information on customers`."""
    star = m.waits("star")
    if star is not None:
        yield m.new("all of the rows shown", head=m.s.head or m.table, waiting=m.s.without(star),
                    show=(*m.s.show, Star(m.table)), phase="restrict")  # fmt: skip
    return False


def _selling(m: Met) -> Made:
    """`the best-selling products`."""
    selling = m.waits("selling")
    if selling is None:
        return False
    shown = m.new("rows sold", head=m.s.head or m.table, show=m.s.show or (Entity(m.table),))
    number = int(selling.number or 1)
    yield from sold(m.c, shown, m.item.start, m.item.end, selling.argument, number, m.s.without(selling))
    return True


def _absent(m: Met) -> Made:
    """`without orders`."""
    neg, owner = m.waits("neg"), home(m.s)
    if neg is None or not owner or owner == m.table or m.waits("cmp") is not None:
        return False
    absent = (*m.s.absent, Absent(owner, m.table))
    yield m.new("absent rows", waiting=m.s.without(neg), head=owner, absent=absent)
    return True


def _share(m: Met) -> Made:
    share = m.waits("share")
    if share is None:
        return False
    waiting = m.s.without(share, m.waits("count"))
    yield m.new("share of rows", head=m.s.head or m.table, waiting=waiting, share=m.table)
    return True


def _full_names(m: Met) -> Made:
    fullname = m.waits("fullname")
    if fullname is not None:
        show = (*m.s.show, Entity(m.table))
        yield m.new("full names shown", 0.2, head=m.s.head or m.table, waiting=m.s.without(fullname), show=show)
    return False


def _compared_with_others(m: Met) -> Made:
    """`older than all customers in Rome`: the conditions that follow restrict those others."""
    s, cmp = m.s, m.waits("cmp")
    if cmp is None or cmp.number is not None or m.waits("agg") is not None or s.inner or cmp.argument not in SIGNS:
        return False
    about = cmp.expression if isinstance(cmp.expression, Column) else None
    if about is None and s.last is not None and (s.last.numeric or s.last.role == "date"):
        about = column_of(s.last)
    if about is not None and about.table == m.table:
        function: Function = "max" if SIGNS[cmp.argument] in (">", ">=") else "min"
        inner = Others(about, SIGNS[cmp.argument], function, about, len(s.where))
        yield m.new("compared with other rows", 0.3, waiting=s.without(cmp), inner=inner, phase="restrict")
    return False


def _grouped(m: Met) -> Made:
    group = m.waits("group")
    if group is None:
        return False
    key = (*m.s.group, Entity(m.table))
    yield m.new("group by rows", waiting=m.s.without(group), group=key, phase="restrict")
    return True


def _number_compared(m: Met) -> Made:
    """`with more than 2 orders`."""
    s, cmp = m.s, m.waits("cmp")
    if cmp is None or cmp.number is None or cmp.argument not in SIGNS or not (s.head or s.show):
        return False
    other = bool(s.head) and s.head != m.table
    having = (*s.having, Compare(m.c.counted(m.table), SIGNS[cmp.argument], Constant(cmp.number)))
    waiting = s.without(cmp, m.waits("count"))
    yield m.new("rows compared in number", 0.2 if other else -0.3, head=s.head or m.table, waiting=waiting,
                having=having, phase="restrict")  # fmt: skip
    return True


def _ordered(m: Met) -> Made:
    """`sorted by number of orders`."""
    order, count = m.waits("order"), m.waits("count")
    if order is None or count is None:
        return False
    by = ranking(m.s, m.c.counted(m.table), order.argument)
    yield m.new("order by rows", waiting=m.s.without(order, count), order=by)
    return True


def _ranked_by_rows(m: Met, sup: Waiting) -> State:
    """`with the most orders`."""
    number, gone = places(m.s, sup)
    return m.new("rank by rows" if m.s.head else "kinds ranked by rows", 0.2, head=m.s.head or m.table,
                 waiting=m.s.without(sup, m.waits("count"), *gone),
                 order=ranking(m.s, m.c.counted(m.table), sup.argument), limit=number, phase="restrict")  # fmt: skip


def _ranked_by_number(m: Met) -> Made:
    sup = m.waits("sup")
    if sup is None or m.waits("count") is None or not m.s.show or m.s.head == m.table:
        return False
    yield _ranked_by_rows(m, sup)
    return True


def _adjective(m: Met) -> Made:
    """`the oldest customers`: the column of the table that the adjective is about."""
    s, adjective = m.s, m.waits("adjective")
    if adjective is None:
        return False
    holder = Item("adjective", adjective.start, adjective.end, 1.0, concept=adjective.concept)
    number = int(adjective.number or 1)
    for column, sign, fit in m.c.by_concept(holder, [m.table])[:2]:
        by = Order(column_of(column), sign > 0)
        if s.head and s.head != m.table and s.show:
            nested = (*s.nested, First(m.table, by, number))
            yield m.new("rows of the first", fit, waiting=s.without(adjective), nested=nested, phase="restrict")
        else:
            yield m.new("first rows by adjective", fit, head=s.head or m.table, waiting=s.without(adjective),
                        show=s.show or (Entity(m.table),), order=(*s.order, by), limit=number)  # fmt: skip
    return m.waits("sup") is None


def _first(m: Met) -> Made:
    """`the first 5 customers`, `the 5 best customers`: by date, by rows, or by what is still to be said."""
    s, sup = m.s, m.waits("sup")
    if sup is None:
        return False
    head, show = s.head or m.table, s.show or (Entity(m.table),)
    if sup.concept:
        holder = Item("adjective", sup.start, sup.end, 1.0, concept=sup.concept)
        options: list[tuple[Expression, float]] = [
            (column_of(column), fit) for column, _, fit in m.c.by_concept(holder, [m.table])[:1]
        ]
        key = m.c.vocabulary.key_column(m.table)
        options += [(column_of(key), 0.3)] if key is not None else []
        for by, fit in options:
            yield m.new("first rows by date", fit, head=head, waiting=s.without(sup), show=show,
                        order=ranking(s, by, sup.argument), limit=int(sup.number or 1))  # fmt: skip
        return False
    if s.show and s.head != m.table:
        yield _ranked_by_rows(m, sup)
    waiting = (*s.without(sup), replace(sup, kind="ranked"))
    yield m.new("first rows", head=head, waiting=waiting, show=show, limit=int(sup.number or 1))
    return True


def _counted(m: Met) -> Made:
    s, count, agg = m.s, m.waits("count"), m.waits("agg")
    shown = (*s.show, Aggregate("count", table=m.table))
    head = s.head or m.table
    if count is not None:
        yield m.new("number of rows", head=head, waiting=s.without(count, agg), show=shown)
        return True
    if agg is not None and agg.argument == "sum":
        yield m.new("number of rows", -0.2, head=head, waiting=s.without(agg), show=shown)
    return False


def _mentioned(m: Met) -> Made:
    """The rows that are asked for, or rows related to them."""
    s = m.s
    if not s.head and s.show:
        yield m.new("rows described", 0.1, head=m.table)
    elif not s.head:
        yield m.new("rows shown", head=m.table, show=(Entity(m.table),))
    elif m.table == s.head:
        yield m.new("rows again")
    else:
        yield m.new("related rows", -0.02)
        if s.phase == "show" and m.before in ADDING and not any(isinstance(e, Aggregate) for e in s.show):
            yield m.new("also shown", -0.1, show=(*s.show, Entity(m.table)))
    return True


_PRODUCTIONS = (
    _star, _selling, _absent, _share, _full_names, _compared_with_others, _grouped, _number_compared, _ordered,
    _ranked_by_number, _adjective, _first, _counted, _mentioned,
)  # fmt: skip

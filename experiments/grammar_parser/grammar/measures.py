"""Productions of measures that are no single column: business amounts, adjectives, computed figures.

Each takes what it needs of a state and yields the states that it leads to; its name stands in the trail.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from experiments.grammar_parser.grammar.context import Context
from experiments.grammar_parser.grammar.partial import (
    SIGNS,
    column_of,
    function_of,
    joined,
)
from experiments.grammar_parser.grammar.state import State, Waiting
from experiments.grammar_parser.link.items import Item
from experiments.grammar_parser.plan.algebra import (
    Aggregate,
    Arithmetic,
    Compare,
    Constant,
    Expression,
    Order,
)

Production = Callable[[Context, State, Item], Iterator[State]]


def adjective(c: Context, s: State, item: Item) -> Iterator[State]:
    a, b = item.start, item.end
    rows = s.waits("rows") or s.waits("sup")
    number = rows.number if rows is not None else None
    waiting = Waiting("adjective", item.argument, a, b, number, item.concept)
    if item.argument == "superlative":
        # right before its table or column it waits; behind one it ranks what was named
        yield s.but("superlative", a, b, 0.5, waiting=(*s.without(rows), waiting))
        if s.head:
            for column, sign, fit in c.by_concept(item, [s.focus or s.head])[:2]:
                by = Order(column_of(column), sign > 0)
                yield s.but(
                    "rank by adjective",
                    a,
                    b,
                    fit - 0.1,
                    waiting=s.without(rows),
                    order=(*s.order, by),
                    limit=int(number or 1),
                )
    elif item.argument == "comparative":
        anchors = [t for t in (s.focus, s.head) if t]
        for column, sign, fit in c.by_concept(item, anchors)[:2]:
            e = column_of(column)
            sign_ = ">" if sign > 0 else "<"
            end = b + 1 if c.lattice.words[b : b + 1] == ["than"] else b
            yield s.but(
                "more in degree",
                a,
                end,
                fit,
                waiting=(*s.waiting, Waiting("cmp", sign_, a, b, expression=e)),
                last=column,
                phase="restrict",
            )
    else:
        # `big european cars`: the first ten in that order
        anchors = [t for t in (s.focus, s.head) if t]
        for column, sign, fit in c.by_concept(item, anchors)[:1]:
            by = Order(column_of(column), sign > 0)
            yield s.but("much in degree", a, b, fit - 0.5, order=(*s.order, by), limit=10)


def measure(c: Context, s: State, item: Item) -> Iterator[State]:
    a, b = item.start, item.end
    for expression, score in c.measure(item.argument, [t for t in (s.focus, s.head, *s.tables) if t]):
        yield from _amount(c, s, a, b, expression, score)


def _amount(c: Context, s: State, a: int, b: int, expression: Expression, score: float) -> Iterator[State]:
    """A measure is added up, unless another aggregate was said."""
    agg, sup, order, cmp, share, count = (s.waits(k) for k in ("agg", "sup", "order", "cmp", "share", "count"))
    made = Aggregate(function_of(agg) if agg is not None else "sum", expression)
    gone = (agg, sup, order, cmp, share)
    if share is not None:
        yield s.but("share of amount", a, b, score, waiting=s.without(share, agg), share="column", column=expression)
    elif sup is not None or order is not None:
        first = sup or order
        assert first is not None
        by = Order(made, first.argument != "asc" if sup is not None else first.argument == "desc")
        limit = int(sup.number or 1) if sup is not None else s.limit
        yield s.but(
            "rank by amount", a, b, score, waiting=s.without(*gone), order=(*s.order, by), limit=limit, column=made
        )
    elif cmp is not None and cmp.number is not None and cmp.argument in SIGNS:
        yield s.but(
            "amount of rows compared",
            a,
            b,
            score,
            waiting=s.without(cmp, agg),
            column=made,
            having=(*s.having, Compare(made, SIGNS[cmp.argument], Constant(cmp.number))),
        )
    elif s.phase == "show":
        yield s.but("amount shown", a, b, score, waiting=s.without(agg, count), show=(*s.show, made), column=made)
    else:
        yield s.but("amount named", a, b, score - 0.1, waiting=s.without(agg), column=made)
        yield s.but("amount shown", a, b, score - 0.2, waiting=s.without(agg, count), show=(*s.show, made), column=made)


def computed(c: Context, s: State, item: Item) -> Iterator[State]:
    """`profit margin`: of each row, or of the sums of groups."""
    a, b = item.start, item.end
    for made, score in c.made_of_two(item.argument, c.anchors(s)):
        sup, agg, order = s.waits("sup"), s.waits("agg"), s.waits("order")
        whole: Expression = made
        if made.sign == "/":
            whole = Arithmetic("/", Aggregate("sum", made.left), Aggregate("sum", made.right))
            if "margin" in item.text or "rate" in item.text or "percent" in item.text:
                whole = Arithmetic("*", Constant(100.0), whole)
        elif made.sign == "*":
            whole = Aggregate("sum", made)
        if agg is not None:
            whole = Aggregate(function_of(agg), made)
        if sup is not None or order is not None:
            first = sup or order
            assert first is not None
            by = Order(whole if s.group else made, first.argument != "asc")
            yield s.but(
                "rank by computed",
                a,
                b,
                score,
                waiting=s.without(sup, order),
                order=(*s.order, by),
                limit=int(sup.number or 1) if sup else s.limit,
            )
            continue
        yield s.but(
            "computed of groups",
            a,
            b,
            score,
            waiting=s.without(agg),
            show=(*s.show, whole),
            column=whole if isinstance(whole, Aggregate) else s.column,
        )
        if agg is None:
            yield s.but("computed of rows", a, b, score - 0.2, show=(*s.show, made))


def sign(c: Context, s: State, item: Item) -> Iterator[State]:
    """`negative profit`, `losing money`: a number below or above zero."""
    a, b = item.start, item.end
    yield s.but("sign said", a, b, 0.5, waiting=(*s.waiting, Waiting("cmp", item.argument[0], a, b, 0)))
    if "money" in item.text or "profit" in item.text or "loss" in item.text or "red" in item.text:
        for expression, score in c.measure("profit", [t for t in (s.focus, s.head) if t]):
            condition = Compare(expression, SIGNS[item.argument[0]], Constant(0))
            yield s.but("loss or profit", a, b, score, where=joined(s, condition), phase="restrict")

"""Shapes: computations on the figures of a plain query: shares, growth, medians, averages of groups.

In: a `Query` with its `Shape`, and the syntax tree of the plain query. Out: the query completed for its shape, and the
tree that computes it; None when the shape does not fit the query. Works only on trees, in any dialect.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterator
from dataclasses import replace

from sqlglot import exp

from agent.knowledge.vocabulary import Vocabulary
from agent.parser.group_by import compared
from agent.parser.interpretation import Condition, Expression, Query, Shape
from agent.parser.periods import months_later

GROWTH = "growth_percent"
"""The column of the growth of a series."""


def fitted(query: Query, shape: Shape, vocabulary: Vocabulary) -> bool:
    """Complete the query for its shape; False when they do not fit together."""
    if shape.part:  # group by a part of the date that the query groups by
        parted = {e: replace(e, part=shape.part) for e in query.group if e.column is not None and not e.part}
        query.select, query.group = ([parted.get(e, e) for e in of] for of in (query.select, query.group))
    figures = [e for e in query.select if e.function]
    plain = query.limit is None and query.intersect is None and not query.having and not query.within
    if shape.span is not None:
        return plain and _with_duration(query, shape)
    if not plain or len(figures) != (2 if shape.kind == "ratio" else 1) or (shape.grouped and not query.group):
        return False
    if shape.kind == "ratio" and any(e.function != "sum" or e.factor or e.less for e in figures):
        return False
    if shape.kind in ("growth", "top") and not any(e.part for e in query.group):
        return False
    if shape.kind == "median" and (figures[0].function != "avg" or figures[0].factor is not None):
        return False
    if shape.kind in ("change", "periods", "difference") and not _restrict(query, shape, vocabulary):
        return False
    if shape.kind == "compare":  # group by the column whose two values are compared
        by = compared(query)
        if by is None or by in query.select or query.group:
            return False
        query.select.insert(0, by)
        query.group = [by]
    if shape.kind in ("growth", "periods"):
        query.order = [(e, False) for e in query.group if e.part][:1]
    if shape.kind == "share":
        query.order = query.order or [(figures[0], True)]
    if shape.kind == "top":
        query.order, query.limit = [(figures[0], shape.descending)], 1
    query.shape = shape
    return True


def _with_duration(query: Query, shape: Shape) -> bool:
    """Put the time between two dates into the query; False when it does not count or list the rows that have it."""
    assert shape.span is not None
    start, end = shape.span
    if shape.kind == "took":
        passed = Expression(column=end, since=start, unit=shape.unit)
        if end[0] not in query.tables and not any(end[0] in e.tables for e in query.select):
            return False
        query.where.append((Condition(passed, shape.operator, (shape.number,)),))
        return True
    figures = [e for e in query.select if e.function]
    if len(figures) != 1 or figures[0].function != "count" or figures[0].share:
        return False
    figure = Expression(shape.function, end, since=start, unit=shape.unit)
    query.exchange({figures[0]: figure})
    if query.group and not query.order and not any(e.part for e in query.group):
        query.order = [(figure, True)]
    query.shape = shape
    return True


def _restrict(query: Query, shape: Shape, vocabulary: Vocabulary) -> bool:
    """Keep only the years or other periods that are compared."""
    whole = ("year", "date") if any(x.unit == "day" for x in shape.periods) else ("year",)
    timed = [e for e in query.group if e.column is not None and (e.part or vocabulary.columns[e.column].role in whole)]
    if len(timed) != 1 or (shape.kind == "change" and len(query.group) != 1):
        return False
    spans = [(x.start, x.end) for x in shape.periods] or [(dt.date(y, 1, 1), dt.date(y + 1, 1, 1)) for y in shape.years]
    column = Expression(column=timed[0].column)
    if timed[0].part or vocabulary.columns[timed[0].column].role == "date":  # type: ignore[index]
        kept = [Condition(column, "between", span, half_open=True) for span in spans]
    elif all(months_later(start, 12) == end for start, end in spans):
        numeric = vocabulary.columns[timed[0].column].numeric  # type: ignore[index]
        kept = [Condition(column, "=", (start.year if numeric else str(start.year),)) for start, _ in spans]
    else:
        return False
    query.where.append(tuple(kept))
    return True


# --- trees ---


def shaped(tree: exp.Select, query: Query) -> exp.Select:
    """The tree that computes the query's shape."""
    assert query.shape is not None
    build = _BUILDERS.get(query.shape.kind)
    return build(tree, query) if build is not None else tree


def _figure(tree: exp.Select, query: Query) -> exp.Expr:
    """The figure that the plain query shows."""
    return next(_shown(tree, query, lambda e: e.function)).unalias()


def _shown(tree: exp.Select, query: Query, wanted: Callable[[Expression], object]) -> Iterator[exp.Expr]:
    """What the plain query shows of one sort, with its alias."""
    return (shown for shown, e in zip(tree.expressions, query.select, strict=False) if wanted(e))


def _quotient(part: exp.Expr, whole: exp.Expr, times: str = "100.0") -> exp.Expr:
    """In percent, unless it is multiplied by another number."""
    nonzero = exp.Anonymous(this="NULLIF", expressions=[whole, exp.Literal.number(0)])
    return exp.Div(this=exp.Mul(this=exp.Literal.number(times), expression=part), expression=nonzero, typed=True)


def _over(call: exp.Expr, time: exp.Expr | None = None) -> exp.Window:
    window = exp.Window(this=call)
    if time is not None:
        window.set("order", exp.Order(expressions=[exp.Ordered(this=time.copy(), nulls_first=True)]))
    return window


def _time_of(tree: exp.Select, query: Query) -> exp.Expr:
    return next(_shown(tree, query, lambda e: e.part)).unalias()


def _share(tree: exp.Select, query: Query) -> exp.Select:
    shown = next(_shown(tree, query, lambda e: e.function))
    figure = shown.unalias()
    share = _quotient(figure.copy(), _over(exp.Sum(this=figure.copy())))
    shown.replace(exp.alias_(share, "share_percent"))
    return tree


def _ratio(tree: exp.Select, query: Query) -> exp.Select:
    """The first sum over the second."""
    above, below = _shown(tree, query, lambda e: e.function)
    ratio = _quotient(above.unalias().copy(), below.unalias().copy(), "1.0")
    above.replace(exp.alias_(ratio, "ratio"))
    below.pop()
    if not any(e.part for e in query.group):
        tree.set("order", None)
    return tree


def _growth(tree: exp.Select, query: Query) -> exp.Select:
    figure, time = _figure(tree, query), _time_of(tree, query)
    before = _over(exp.Anonymous(this="LAG", expressions=[figure.copy()]), time)
    growth = _quotient(exp.paren(exp.Sub(this=figure.copy(), expression=before.copy()), copy=False), before)
    return tree.select(exp.alias_(growth, GROWTH), copy=False)


def _only(figure: exp.Expr, condition: exp.Expr) -> exp.Expr:
    """An aggregate over the rows that satisfy a condition."""
    call = figure.copy()
    inner = call.this
    if isinstance(inner, exp.Distinct):
        case = exp.Case(ifs=[exp.If(this=condition, true=inner.expressions[0].copy())])
        inner.set("expressions", [case])
    else:
        counted = exp.Literal.number(1) if isinstance(inner, exp.Star) else inner.copy()
        call.set("this", exp.Case(ifs=[exp.If(this=condition, true=counted)]))
    return call


def _change(tree: exp.Select, query: Query) -> exp.Select:
    assert query.shape is not None
    figure, year = _figure(tree, query), _time_of(tree, query)
    first, last = (
        _only(figure, exp.EQ(this=year.copy(), expression=exp.Literal.string(str(y)))) for y in query.shape.years
    )
    change = _quotient(exp.paren(exp.Sub(this=last, expression=first.copy()), copy=False), first)
    return _alone(tree, exp.alias_(change, "change_percent"))


def _difference(tree: exp.Select, query: Query) -> exp.Select:
    """The later figure less the earlier one; the query's last clause has a condition for each period."""
    figure = _figure(tree, query)
    kept = tree.args["where"].this
    either = (kept.expression if isinstance(kept, exp.And) else kept).unnest()
    sides = [either.this.unnest(), either.expression.unnest()]
    assert query.shape is not None
    first, last = query.shape.periods
    if first.start > last.start:
        sides.reverse()
    earlier, later = (_only(figure, side.copy()) for side in sides)
    return _alone(tree, exp.alias_(exp.Sub(this=later, expression=earlier), "difference"))


def _alone(tree: exp.Select, figure: exp.Expr) -> exp.Select:
    """One figure in place of the groups."""
    tree.set("expressions", [figure])
    tree.set("group", None)
    tree.set("order", None)
    return tree


def _average(tree: exp.Select, query: Query) -> exp.Select:
    figure = exp.alias_(_figure(tree, query).copy(), "figure")
    tree.set("expressions", [figure])
    tree.set("order", None)
    outer = exp.Select().select(exp.alias_(exp.Avg(this=exp.column("figure")), "average"), copy=False)
    return outer.from_(tree.subquery("per_group", copy=False), copy=False)


def _median(tree: exp.Select, query: Query) -> exp.Select:
    value = _figure(tree, query).this
    groups = [e.copy() for e in (tree.args["group"].expressions if tree.args.get("group") else ())]
    shown = list(_shown(tree, query, lambda e: not e.function))
    names = [f"group_{k}" for k in range(1, len(groups) + 1)]
    place = exp.Window(
        this=exp.Anonymous(this="ROW_NUMBER", expressions=[]),
        partition_by=[g.copy() for g in groups],
        order=exp.Order(expressions=[exp.Ordered(this=value.copy(), nulls_first=True)]),
    )
    count = exp.Window(this=exp.Count(this=exp.Star()), partition_by=[g.copy() for g in groups])
    inner = tree.copy()
    inner.set("group", None)
    inner.set("order", None)
    inner.set(
        "expressions",
        [
            *(exp.alias_(g.copy(), n) for g, n in zip(groups, names, strict=True)),
            exp.alias_(value.copy(), "value"),
            exp.alias_(place, "place"),
            exp.alias_(count, "total"),
        ],
    )
    inner = inner.where(exp.Not(this=exp.Is(this=value.copy(), expression=exp.Null())), copy=False)
    kept = [
        names[k] for k, g in enumerate(groups) if any(g == (s.this if isinstance(s, exp.Alias) else s) for s in shown)
    ]
    doubled = exp.Mul(this=exp.Literal.number(2), expression=exp.column("place"))
    middle = exp.Between(
        this=doubled, low=exp.column("total"), high=exp.Add(this=exp.column("total"), expression=exp.Literal.number(2))
    )
    figure = exp.alias_(exp.Avg(this=exp.column("value")), "median")
    outer = exp.Select().select(*(exp.column(n) for n in kept), figure, copy=False)
    outer = outer.from_(inner.subquery("ranked", copy=False), copy=False).where(middle, copy=False)
    return outer.group_by(*(exp.column(n) for n in names), copy=False) if names else outer


def _count(tree: exp.Select, _: Query) -> exp.Select:
    """The number of groups of a grouped query."""
    keys = tree.args["group"].expressions[:1]
    tree.set("expressions", [keys[0].copy()])
    outer = exp.Select().select(exp.Count(this=exp.Star()), copy=False)
    return outer.from_(tree.subquery("kept", copy=False), copy=False)


def share_of(tree: exp.Select, whole: exp.Select) -> exp.Select:
    """The number that a statement counts, in percent of the number that another one counts."""
    part = _quotient(exp.Count(this=exp.Star()), whole.subquery(copy=False))
    tree.set("expressions", [exp.alias_(part, "share_percent")])
    return tree


_BUILDERS: dict[str, Callable[[exp.Select, Query], exp.Select]] = {
    "share": _share,
    "ratio": _ratio,
    "growth": _growth,
    "change": _change,
    "difference": _difference,
    "average": _average,
    "median": _median,
    "count": _count,
}

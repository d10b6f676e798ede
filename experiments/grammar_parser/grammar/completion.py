"""Completion: from a finished state to plans. What a question leaves unsaid is filled in here: what is shown, what is
grouped, which rows are meant once.

In: a state. Out: plans with a score and the names of what was assumed; where two completions are likely, both. A rule
yields plans and returns the draft to go on with, or None when nothing remains to be filled in.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from dataclasses import replace

from experiments.grammar_parser.grammar.context import Context
from experiments.grammar_parser.grammar.draft import (
    Completed,
    Draft,
    conditions,
    key_of,
    keys_of,
    names_of,
    person_near,
    shown_of,
)
from experiments.grammar_parser.grammar.partial import column_of
from experiments.grammar_parser.grammar.state import Entity, State
from experiments.grammar_parser.plan.algebra import (
    Aggregate,
    Among,
    Arithmetic,
    Column,
    Compare,
    Constant,
    DatePart,
    Either,
    Expression,
    OneOf,
    Order,
    OverGroups,
    Select,
    Star,
    Within,
    aggregates,
    tables_of,
)

Rule = Generator[Completed, None, Draft | None]

_DANGLING = {
    "group": -0.8, "distinct": 0.0, "both": -0.3, "ranked": -0.2, "rows": -0.8, "sup": -1.2, "adjective": -1.2,
    "count": -1.0, "agg": -1.4, "cmp": -1.6, "neg": -1.6, "order": -1.0, "share": -1.6, "like": -1.6, "common": -1.2,
    "verb": -0.7, "fullname": 0.0, "star": -0.2,
}  # fmt: skip
"""What an operator that never met its object costs."""


def completions(c: Context, s: State) -> Iterator[Completed]:
    """The plans of one state."""
    draft = _begun(c, s)
    for rule in _RULES:
        if draft is None:
            return
        draft = yield from rule(draft)
    if draft is not None:
        yield draft.done()


# -- what the state says ---------------------------------------------------------------------------------------------


def _begun(c: Context, s: State) -> Draft | None:
    """The plan as far as the state says it; None where nothing is asked for."""
    draft = Draft(c, s, s.head, Select(()), score=sum(step.score for step in s.productions()))
    for waiting in s.waiting:
        if waiting.kind == "count" and not any(isinstance(e, Aggregate) for e in s.show):
            continue
        draft = draft.assuming(f"{waiting.kind} without object", _DANGLING.get(waiting.kind, -0.5))
    if not draft.head:
        draft = _with_head(draft)
    if not draft.head:
        return None
    shown = _shown(draft)
    if shown is None:
        return None
    draft, show = shown
    absent = {a.table for a in s.absent}
    where = []
    for condition, assumed in conditions(c, s, draft.head):
        where.append(condition)
        if assumed and assumed not in draft.assumed:
            draft = draft.assuming(assumed)
    if s.distinct:
        show = tuple(
            replace(e, distinct=True) if isinstance(e, Aggregate) and e.function == "count" and e.of is not None else e
            for e in show
        )
    plan = Select(
        show,
        tuple(dict.fromkeys((draft.head, *(t for t in s.tables if t not in absent)))),
        tuple(dict.fromkeys(where)),
        tuple(dict.fromkeys(e for g in s.group for e in keys_of(c, g))),
        s.having,
        s.order,
        s.limit,
        s.offset if s.limit is not None else 0,
        s.distinct and not any(aggregates(e) for e in show),
    )
    return replace(draft, plan=plan, named_groups=tuple(dict.fromkeys(e for g in s.group for e in shown_of(c, g))))


def _with_head(draft: Draft) -> Draft:
    """The table of a question that names none: that of what is shown, or of the first condition."""
    s = draft.s
    for part in (s.show, s.group, s.where, s.having, s.order, (s.column,)):
        for e in part:
            if isinstance(e, Entity):
                return replace(draft, head=e.table)
            if e is not None and (tables := tables_of(e)):
                return replace(draft.assuming("rows not named", -0.1), head=tables[0])
    tables = list(draft.c.vocabulary.tables)
    return replace(draft, head=tables[0]) if len(tables) == 1 else draft


def _shown(draft: Draft) -> tuple[Draft, tuple[Expression, ...]] | None:
    """What is shown, rows by their names; None where nothing is."""
    c, s, head = draft.c, draft.s, draft.head
    shown: list[Expression] = []
    if s.waits("fullname") is not None and not any(isinstance(e, Entity) for e in s.show):
        shown.extend(names_of(c, head))
    for e in s.show:
        shown.extend(n for n in (names_of(c, e.table) if isinstance(e, Entity) else (e,)) if n not in shown)
    if s.waits("count") is not None and not any(isinstance(e, Aggregate) for e in shown):
        counted = Aggregate("count", table=head)
        rows = not shown or (bool(s.show) and all(isinstance(e, Entity) for e in s.show))
        return draft.assuming("rows counted"), ((counted,) if rows else (*shown, counted))
    if shown:
        return draft, tuple(shown)
    if s.share or s.group:
        return draft, ()
    if isinstance(s.column, Aggregate):
        return draft, (s.column,)
    if not (s.where or s.having or s.order or s.absent or s.nested):
        return None
    person = person_near(c, head) if "who" in c.lattice.words[:3] else ""
    if person and person != head:
        return draft.assuming("people by name", 0.8), names_of(c, person)
    return draft.assuming("rows not asked for by name", -0.1), names_of(c, head)


# -- computations ----------------------------------------------------------------------------------------------------


def _shares(d: Draft) -> Rule:
    """`what share of sales comes from technology`, `share of orders by status`."""
    s, plan = d.s, d.plan
    if not s.share:
        return d
    of: Expression | None = None
    if s.share == "column" and s.column is not None:
        of = s.column.of if isinstance(s.column, Aggregate) and s.column.of is not None else s.column
    if plan.group:
        rows = s.share if s.share != "column" else d.head
        figure = Aggregate("sum", of) if of is not None else Aggregate("count", table=rows)
        show = (*d.named_groups, OverGroups("share", figure))
        yield d.assuming("share of groups", show=show).done()
        return None
    if not plan.where:
        return d
    whole = Aggregate("sum", of) if of is not None else Aggregate("count", table=d.head)
    part = Arithmetic("*", Constant(100.0), replace(whole, where=plan.where))
    share = Arithmetic("/", part, whole)
    yield replace(d.assuming("share"), plan=Select((share,), (d.head,))).done()
    return None


def _changes(d: Draft) -> Rule:
    """`growth from 2023 to 2024`, `sales growth by year`, `running total by month`."""
    s = d.s
    if not s.computed or not d.figures:
        return d
    figure, either = d.figures[0], next((x for x in d.plan.where if isinstance(x, Either) and len(x.of) == 2), None)
    if not isinstance(figure, Aggregate):
        return d
    if not d.plan.group and either is not None:
        first, second = (replace(figure, where=(x,)) for x in either.of)
        change = Arithmetic("-", second, first)
        if s.computed.startswith("growth") or s.waits("share") is not None:
            change = Arithmetic("/", Arithmetic("*", Constant(100.0), change), first)
        rest = tuple(x for x in d.plan.where if x is not either)
        plan = Select((change,), d.plan.tables, rest)
        yield replace(d.assuming("change between periods", 1.0), plan=plan).done()
        return None
    group, named = d.plan.group, d.named_groups
    if not group:
        dated = next((x for x, _ in d.c.dates(tables_of(d.figures), True)), None)
        if dated is None:
            return d
        column = column_of(dated)
        key: Expression = DatePart(column, "year" if s.computed.endswith("year") else "month")
        group = named = (key if dated.role == "date" else column,)
    last = group[-1]
    if not isinstance(last, (DatePart, Column)):
        return d
    running = s.computed == "running"
    made = OverGroups("running" if running else "growth" if s.computed.startswith("growth") else "change", figure, last)
    show = (*named, made) if running else (*named, figure, made)
    yield d.assuming(f"{made.kind} over groups", show=show, group=group, order=(Order(last),)).done()
    return None


def _comparisons(d: Draft) -> Rule:
    """`was 2015 warmer than 2014`, `lunch or dinner: which has bigger bills`: the groups with their average."""
    cmp, where = d.s.waits("cmp"), d.plan.where
    if cmp is None or cmp.number is not None:
        return d
    several = next((x for x in where if isinstance(x, Either) or (isinstance(x, OneOf) and len(x.values) > 1)), None)
    about = cmp.expression or next((e for e in d.plan.show if d.number(e)), None)
    key = _compared_by(several, d)
    if key is None or about is None:
        return d
    figure = about if isinstance(about, Aggregate) else Aggregate("avg", about)
    compared = d.assuming("groups compared", 1.5)
    yield replace(compared, plan=Select((key, figure), d.plan.tables, where, (key,))).done()
    if any(w in ("which", "who", "what") for w in d.c.lattice.words):
        order = (Order(figure, cmp.argument in (">", ">=")),)
        yield replace(compared, plan=Select((key,), d.plan.tables, where, (key,), order=order, limit=1)).done()
    return compared


def _compared_by(several: Either | OneOf | None, d: Draft) -> Expression | None:
    """What values or periods that are set against each other group by."""
    if isinstance(several, OneOf):
        return several.left
    if several is None or not isinstance(several.of[0], (Within, OneOf)):
        return None
    left = several.of[0].left
    dated = isinstance(left, Column) and d.c.vocabulary.columns[left.key].role == "date"
    return DatePart(left, "year") if isinstance(left, Column) and dated else left


# -- groups ----------------------------------------------------------------------------------------------------------


def _first_of_each(d: Draft) -> Rule:
    """`the oldest customer per country`."""
    plan = d.plan
    apart = plan.group and not d.figures and not set(d.plain) <= {*d.named_groups, *plan.group}
    if not apart or plan.limit is None or not plan.order or not d.plain:
        return d
    show = (*[g for g in d.named_groups if g not in plan.show], *plan.show)
    group: tuple[Expression, ...] = ()
    order = plan.order
    if d.ranked_by_figure or d.kinds():
        group, order = tuple(dict.fromkeys((*plan.group, *d.group_of_rows()))), d.summed()
    yield d.assuming("first of each group", show=show, group=group, order=order, per=plan.group).done()
    return None


def _figure_of_groups(d: Draft) -> Rule:
    """`sales by region`, `orders per customer`: the figure that was not said."""
    plan = d.plan
    if not plan.group or d.figures:
        return d
    if d.ranked_by_figure or plan.having:
        show = plan.show if d.plain else (*[g for g in d.named_groups if g not in plan.show], *plan.show)
        d = d.but(show=show)
        if d.plain and not set(d.plain) <= {*plan.group, *d.named_groups}:
            d = d.but(group=tuple(dict.fromkeys((*plan.group, *d.plain))))
        return d
    if isinstance(d.s.column, Aggregate):
        return d.but(show=(*d.named_groups, d.s.column))
    rest = [e for e in plan.show if e not in d.named_groups and e not in plan.group]
    columns = [e for e in rest if isinstance(e, Column) and d.number(e)]
    if columns and len(columns) == len(rest):
        yield from _summed_or_averaged(d, columns)
        return None
    counted = (*d.named_groups, Aggregate("count", table=d.head))
    if not rest:
        yield d.assuming("rows counted by group", -0.1, show=counted).done()
        return None
    if d.s.each and all(isinstance(e, (Column, Star)) for e in rest):  # `the name of each customer`
        yield d.assuming("each row", -0.2, show=tuple(rest), group=()).done()
    yield d.assuming("rows of groups counted", -0.3, show=counted).done()
    return None


def _summed_or_averaged(d: Draft, columns: list[Column]) -> Iterator[Completed]:
    likely = all(d.total(e).function == "sum" for e in columns)
    for function in ("sum", "avg"):
        figures = {e: replace(d.total(e), function=function) for e in columns}
        order = tuple(
            replace(o, by=figures[o.by]) if isinstance(o.by, Column) and o.by in figures else o for o in d.plan.order
        )
        gain = 0.0 if (function == "sum") == likely else -0.5
        show = (*d.named_groups, *figures.values())
        yield d.assuming(f"{function} not said", gain, show=show, order=order).done()


def _figures_beside_groups(d: Draft) -> Rule:
    """Groups with their figures: both orders of columns, where the groups were not said to be shown."""
    plan = d.plan
    if not plan.group or not d.figures:
        return d
    missing = tuple(g for g in d.named_groups if g not in plan.show)
    extra = tuple(e for e in d.plain if e not in plan.group and e not in d.named_groups)
    d = d.but(group=tuple(dict.fromkeys((*plan.group, *extra))))
    if not missing and not d.plain:
        return d
    yield d.but(show=(*missing, *plan.show)).done()
    if missing:
        rest = tuple(e for e in plan.show if aggregates(e) or e not in d.named_groups)
        yield d.assuming("figure before group", -0.1, show=(*rest, *missing)).done()
    return None


def _grouped_by_what_is_shown(d: Draft) -> Rule:
    """`customers and their number of orders`, `customers with more than 2 orders`, `states by revenue`."""
    plan = d.plan
    if plan.group:
        return d
    if d.figures and d.plain:
        group = tuple(dict.fromkeys((*d.group_of_rows(), *d.plain)))
        return d.assuming("grouped by what is shown", -0.1, group=group)
    if d.ranked_by_figure or plan.having:
        if d.figures:
            yield from _counted_groups(d)
            return None
        return d.but(group=d.group_of_rows())
    if plan.order and d.plain and d.kinds():
        ranked = d.assuming("kinds ranked by total")
        yield ranked.but(group=tuple(dict.fromkeys(d.plain)), order=d.summed()).done()
        return ranked.assuming("kinds ranked by row", -0.4)
    return d


def _counted_groups(d: Draft) -> Iterator[Completed]:
    """`how many customers have more than 2 orders`: the groups that pass are counted."""
    plan, key = d.plan, key_of(d.c, d.head)
    if key is None:
        return
    inner = Select((key,), plan.tables, plan.where, (key,), plan.having, plan.order, plan.limit)
    only = plan.show[0] if len(plan.show) == 1 else None
    if isinstance(only, Aggregate) and only.function == "count" and only.of is None and only.table == d.head:
        counted = Select(plan.show, (d.head,), (Among(key, inner),))
        yield replace(d.assuming("groups counted"), plan=counted).done()
    elif plan.order and plan.limit:
        first = Select(plan.show, plan.tables, (*plan.where, Among(key, inner)))
        yield replace(d.assuming("figures of the first group", -0.1), plan=first).done()


# -- rows ------------------------------------------------------------------------------------------------------------


def _ranked_by_unsaid_measure(d: Draft) -> Rule:
    """`the best cars`: by the likeliest measures."""
    plan = d.plan
    if plan.limit is None or plan.order or plan.group or d.figures or not d.plain:
        return d
    ranked = d.s.waits("ranked")
    falling = ranked is None or ranked.argument != "asc"
    kinds, gain = tuple(dict.fromkeys(d.plain)), 0.0
    if d.categories():
        counted = (Order(Aggregate("count", table=d.head), falling),)
        yield d.assuming("kinds ranked by number of rows", -0.3, group=kinds, order=counted).done()
    for place, measure in enumerate(d.c.amounts(d.head)[:3]):
        gain = -0.3 - 0.15 * place
        by = d.assuming("measure of a ranking not said", gain, order=(Order(column_of(measure), falling),))
        yield (by.but(group=kinds, order=by.summed()) if by.kinds() else by).done()
    return d


def _kinds_by_their_total(d: Draft) -> Rule:
    """`states with negative profit`: the total of a kind's rows, not one of them."""
    plan = d.plan
    if d.figures or plan.group or not d.plain or not d.categories():
        return d
    numbers = [x for x in plan.where if isinstance(x, Compare) and d.number(x.left)]
    if numbers:
        made = tuple(replace(x, left=d.total(x.left)) for x in numbers if isinstance(x.left, Column))
        kept = tuple(x for x in plan.where if x not in numbers)
        group = tuple(dict.fromkeys(d.plain))
        yield d.assuming("kinds compared by total", where=kept, group=group, having=(*plan.having, *made)).done()
    kind = d.plain[0]
    refused = [x for x in plan.where if isinstance(x, OneOf) and x.negated and isinstance(x.left, Column)]
    if refused and len(d.plain) == 1:
        kept = tuple(x for x in plan.where if x not in refused)
        none = tuple(
            Among(kind, Select((kind,), (d.head,), (replace(x, negated=False),)), negated=True) for x in refused
        )
        yield d.assuming("kinds without the value", -0.1, where=(*kept, *none), distinct=True).done()
    return d


def _each_once(d: Draft) -> Rule:
    """Rows as they are, and without repetition."""
    yield d.done()
    plan = d.plan
    if plan.group or plan.distinct or d.figures or not d.plain or plan.limit is not None:
        return None
    if d.repeats() or not d.identified():
        yield d.assuming("each once", 0.1, distinct=True).done()
    return None


_RULES = (
    _shares, _changes, _comparisons, _first_of_each, _figure_of_groups, _figures_beside_groups,
    _grouped_by_what_is_shown, _ranked_by_unsaid_measure, _kinds_by_their_total, _each_once,
)  # fmt: skip

"""Doubts about figures: what is counted, added up, averaged and shared, and by what rows are ranked."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from eval.language.lexicon import word_set
from experiments.grammar_parser.grammar.context import Context
from experiments.grammar_parser.plan.algebra import (
    Aggregate,
    Column,
    DatePart,
    Expression,
    OneOf,
    Order,
    Select,
    aggregates,
    own,
    tables_of,
)
from experiments.grammar_parser.trust.registry import DOUBTFUL, OPEN, Choice, Finding, doubt
from experiments.grammar_parser.trust.view import View


@doubt("date_averaged", OPEN)
def _averages_dates(view: View) -> Iterator[Finding]:
    """The average of dates or keys, the sum of years."""
    for a in view.aggregates:
        word = view.word(a.of) if isinstance(a.of, Column) and a.function in ("avg", "sum", "median") else None
        if word is not None and (word.role in ("date", "id") or word.primary or word.foreign
                                 or (word.role == "year" and a.function == "sum")):  # fmt: skip
            yield Finding(
                f"{word.name} holds {'dates' if word.role in ('date', 'year') else 'keys'}, which nobody adds up"
            )


@doubt("sum_repeated", DOUBTFUL)
def _summed_repeatedly(view: View) -> Iterator[Finding]:
    """Amounts that are added up once for each row of another table (`revenue by product` from whole orders)."""
    for a in view.aggregates:
        owners = tables_of(a.of) if a.function in ("sum", "avg") and a.of is not None else []
        if (
            len(owners) == 1
            and view.joins is not None
            and view.joins.multiplies(owners[0])
            and owners[0] in view.needed
        ):
            rows = " ".join(view.vocabulary.tables[owners[0]].words)
            yield Finding(f"the whole amount of each {rows} is counted for everything that it is joined with")
            return


@doubt("fan_out", OPEN)
def _fan_out(view: View) -> Iterator[Finding]:
    """Every row of one table meets every row of another, because they only share a parent."""
    added = any(a.function in ("sum", "avg") for a in view.aggregates)
    for table in sorted(view.joins.fan_outs() if view.joins is not None else ()):
        if added or table not in view.plan.tables:
            yield Finding(f"rows are paired that only share a row of {view.vocabulary.tables[table].plural}")


@doubt("own_rows_counted", OPEN)
def _counts_single_rows(view: View) -> Iterator[Finding]:
    """Groups by the key of the only table, or a count of a column's values where one value was asked for: each is 1."""
    p, fixed = view.plan, _fixed(view.plan)
    key = view.vocabulary.key_column(view.needed[0]) if len(view.needed) == 1 else None
    figured = any(aggregates(e) for e in (*p.show, *(o.by for o in p.order)))
    if key is not None and figured and any(isinstance(e, Column) and e.key == key.key for e in p.group):
        yield Finding("each group is one row, so that its figure says nothing")
    elif any(a.function == "count" and a.distinct and a.of in fixed for a in view.aggregates):
        yield Finding("the one value that was asked for is counted, and not its rows")


def _fixed(p: Select) -> set[Expression]:
    """What equals one value in every row."""
    return {c.left for c in p.where if isinstance(c, OneOf) and len(c.values) == 1 and not c.negated}


@doubt("total_of_a_rank", OPEN)
def _totals_a_rank(view: View) -> Iterator[Finding]:
    """`our 5 most expensive sales` read as the total of all."""
    p = view.plan
    if p.show and all(aggregates(e) for e in p.show) and not (p.group or p.per) and (p.limit or 1) > 1:
        yield Finding("one total has no first rows")


@doubt("rank_open", OPEN)
def _ranks_by_nothing(view: View) -> Iterator[Finding]:
    """`the three best carers` read as any three: what they may be ranked by is offered."""
    if view.plan.limit is not None and not view.plan.order and view.said("sup", "common"):
        yield Finding("nothing was found to rank by; name what ranks them", _ranked_otherwise(view))


_VAGUE = word_set("best worst top bottom leading greatest strongest weakest important valuable successful popular")


@doubt("measure_guessed", DOUBTFUL)
def _vague(view: View) -> Iterator[Finding]:
    """`the best customers`: the likeliest measure ranks them, and others are offered."""
    word = next((i.text for i in view.said("sup") if set(i.text.split()) & _VAGUE), "")
    word = word or next((view.heard(i) for s, i in view.items if s.production == "much in degree"), "")
    told = view.said("selling", "common", "busy", "sup_count")
    if word and not told and view.plan.order and not _named(view, view.plan.order[0].by):
        choices = _ranked_otherwise(view)
        instead = f"; {' or '.join(c.label for c in choices)} would be another choice" if choices else ""
        yield Finding(f"“{word}” is taken as {spoken(view, view.plan.order[0].by)}{instead}", choices, word)


def _named(view: View, by: Expression) -> bool:
    """Whether the question names what ranks: its column, its measure or the rows counted."""
    keys = {n.key for n in own(by) if isinstance(n, Column)}
    counted = {n.table for n in own(by) if isinstance(n, Aggregate)} - {*view.plan.tables[:1]}
    columns = any(c.key in keys for i in view.said("column") for c, _ in i.columns[:3])
    return columns or bool(view.said("measure")) or any(i.table in counted for i in view.said("table"))


def measures_of(table: str, context: Context) -> list[Expression]:
    """What the rows of a table may be ranked by when nothing is said, the likeliest first: the total and the number of
    the rows that refer to them, then their own numbers."""
    words, totals, counts = context.vocabulary, list[Expression](), list[Expression]()
    below = context.graph.referring(table, many=True)
    for child in sorted(below, key=lambda t: (words.tables[t].bridge, -(words.tables[t].table.row_count or 0))):
        amounts = [c for c in context.amounts(child) if context.summed(c) and _MONEY & set(c.words)]
        totals.extend(Aggregate("sum", Column(*c.key)) for c in amounts[:1])
        counts.append(Aggregate("count", table=child))
    own_amounts: list[Expression] = [Column(*c.key) for c in context.amounts(table)]
    return [*totals[:1], *counts[:1], *own_amounts, *totals[1:], *counts[1:]]


_MONEY = word_set("total amount revenue price cost value sum fee payment income")


def _ranked_otherwise(view: View) -> tuple[Choice, ...]:
    """The plan ranked by the two likeliest other measures of the rows that it names."""
    p = view.plan
    others = (
        [e for e in measures_of(p.tables[0], view.context) if not (p.order and e == p.order[0].by)] if p.tables else []
    )
    return tuple(Choice(_ranked(view, e), spoken(view, e)) for e in others[:2])


def _ranked(view: View, by: Expression) -> Select:
    """The plan ranked by this; each of the rows shown is a group where it is a figure."""
    p = view.plan
    key = view.vocabulary.key_column(p.tables[0])
    rows = tuple(dict.fromkeys((*([Column(*key.key)] if key else []), *(e for e in p.show if not aggregates(e)))))
    order = Order(by, not p.order or p.order[0].descending)
    return replace(p, group=(p.group or rows) if aggregates(by) else (), order=(order,), limit=p.limit or 1)


def spoken(view: View, e: Expression) -> str:
    """A measure in words."""
    if isinstance(e, Aggregate):
        if e.of is None:
            return f"number of {view.vocabulary.tables[e.table].plural}" if e.table else "number of rows"
        called = {"sum": "total", "avg": "average", "min": "lowest", "max": "highest"}.get(e.function, e.function)
        said = spoken(view, e.of)
        return said if said.split()[0] == called else f"{called} {said}"
    return " times ".join(" ".join(view.word(n).words) for n in own(e) if isinstance(n, Column))


@doubt("one_rating_of_many", DOUBTFUL, rests_on_choices=True)
def _ranks_by_one_of_many(view: View) -> Iterator[Finding]:
    """`the trainer with the best rating`, who has many: by the highest single one, or by all together?"""
    p = view.plan
    tables = {t for e in p.show if not aggregates(e) for t in tables_of(e)}
    by = p.order[0].by if p.order and p.limit is not None else None
    if not isinstance(by, Column) or by.table in tables or p.group or p.tables[:1] != tuple(tables):
        return
    if view.joins is not None and view.joins.multiplies(p.tables[0]):
        figure = Aggregate("sum" if view.context.summed(view.word(by)) else "avg", by)
        said, extreme = spoken(view, figure), "highest" if p.order[0].descending else "lowest"
        choice = Choice(_ranked(view, figure), said)
        yield Finding(f"the single {extreme} value ranks; the {said} would be another choice", (choice,))


_SUMS = word_set("payment expense donation refund contribution deposit withdrawal cost fee premium fine payout grant")
"""Rows that people name when they mean the money."""


@doubt("count_or_amount", DOUBTFUL, rests_on_choices=True)
def _counts_amounts(view: View) -> Iterator[Finding]:
    """`top 10 members by payments`, `which member paid the most`: by their number, or by their amount?"""
    p = view.plan
    if view.said("count", "sup_count", "common", "agg", "busy"):
        return
    sums = [
        e for e in p.show if isinstance(e, Aggregate) and e.table and view.vocabulary.tables[e.table].words[-1] in _SUMS
    ]
    for e in (*(o.by for o in p.order if p.limit is not None), *sums):
        if isinstance(e, Aggregate) and e.function == "count" and e.of is None and e.table:
            amounts = [c for c in view.context.amounts(e.table) if _MONEY & set(c.words) and view.context.summed(c)]
            if len(amounts) == 1:
                total = Aggregate("sum", Column(*amounts[0].key))
                order = tuple(replace(o, by=total) if o.by == e else o for o in p.order)
                other = replace(p, show=tuple(total if x == e else x for x in p.show), order=order)
                said = spoken(view, total)
                yield Finding(f"rows are counted; the {said} would be another choice", (Choice(other, said),))
                return


@doubt("hour_of_a_day", OPEN)
def _hour_of_a_day(view: View) -> Iterator[Finding]:
    """`per hour` of dates that are stored without a clock time."""
    for part in (n for n in view.nodes if isinstance(n, DatePart) and n.unit == "hour"):
        known = view.context.values.values(*part.of.key)[:20]
        timed = any(":" in v for v in known) if known else view.word(part.of).column.type.upper() != "DATE"
        if not timed:
            yield Finding(f"{part.of.name} has no time of day")

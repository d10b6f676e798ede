"""In which order and how many: `sort by name`, `highest first`, `the top 3`, `the second one`.

In: the plan before and a `Fragment`. Out: the plan with its order and limit changed where the fragment says so.
"""

from __future__ import annotations

from dataclasses import replace

from experiments.grammar_parser.dialogue.fragment import Fragment
from experiments.grammar_parser.dialogue.projection import one_figure
from experiments.grammar_parser.dialogue.restrictions import all_conditions
from experiments.grammar_parser.plan.algebra import Column, Compare, Expression, Order, Select, aggregates


def ordered(p: Select, f: Fragment) -> Select:
    s = f.state
    if s.order:
        return replace(p, order=s.order, limit=s.limit if s.limit is not None else None)
    if s.nested and isinstance(s.nested[0], tuple):
        _, order, limit = s.nested[0]
        return replace(p, order=(order,), limit=limit)
    if f.direction and not f.waits("order"):
        by = p.order[0].by if p.order else _figure(p, f)
        return replace(p, order=(Order(by, f.direction == "desc"),)) if by is not None else p
    return p


def _figure(p: Select, f: Fragment) -> Expression | None:
    """What rows are ranked by, if nothing is said: their figure, their first number, else what is shown first."""
    figures = [e for e in p.show if aggregates(e)]
    columns = [e for e in p.show if isinstance(e, Column)]
    compared = [n.left for n in all_conditions(p) if isinstance(n, Compare) and isinstance(n.left, Column)]
    numbers = [e for e in (*columns, *compared) if f.context.vocabulary.columns[e.key].role == "number"]
    return next(iter((*figures, *numbers, *columns)), None)


_PLACES = {"second": 2, "third": 3, "fourth": 4, "fifth": 5, "2nd": 2, "3rd": 3}


def limited(p: Select, f: Fragment) -> Select:
    """`top 3`, `the worst`, `only 5`, `the second one`: how many rows, of the order before or of the figure shown."""
    s = f.state
    if s.order or s.nested or (p.show and one_figure(p) and not p.group):
        return p
    place = next((n for word, n in _PLACES.items() if word in f.links.words), 0)
    if place and p.order and not s.productions()[2:]:
        return replace(p, limit=1, offset=place - 1)
    if f.superlative is None or f.direction:
        missed = {f.context.lattice.tokens[i].number for i in s.missed}
        only = f.number is not None and (f.number in missed or s.waits("rows") is not None or not s.productions()[2:])
        return replace(p, limit=f.number) if only and 0 < (f.number or 0) <= 1000 and len(f.links.body) <= 5 else p
    argument, said = f.superlative
    number = said or f.number or 1
    ascending = argument == "asc"
    if p.order and (
        p.limit is None or p.limit == number or {"bottom", "worst", "lowest", "fewest"} & set(f.links.words)
    ):
        turned = ascending == p.order[0].descending
        order = (replace(p.order[0], descending=not ascending), *p.order[1:]) if turned else p.order
        return replace(p, order=order, limit=number)
    if p.order:
        return replace(p, limit=number)
    by = _figure(p, f)
    return replace(p, order=(Order(by, not ascending),) if by is not None else (), limit=number)

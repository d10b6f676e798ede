"""A follow-up's edit of a plan: one typed edit after the other, each for one kind of piece.

In: the plan before and a `Fragment`. Out: the plan that both make; None where the fragment changes nothing.
"""

from __future__ import annotations

from dataclasses import replace

from experiments.grammar_parser.dialogue.fragment import Fragment
from experiments.grammar_parser.dialogue.projection import grouped, shown, table
from experiments.grammar_parser.dialogue.ranking import limited, ordered
from experiments.grammar_parser.dialogue.restrictions import compared, conditions, figures_compared, related
from experiments.grammar_parser.plan.algebra import Column, Expression, Select, Star, aggregates, tables_of


def edited(before: Select, f: Fragment) -> Select | None:
    """The plan that the fragment makes of the one before; None where it changes nothing."""
    plan = before
    for edit in (table, shown, grouped, conditions, related, compared, figures_compared, ordered, limited):
        plan = edit(plan, f)
    return _fitting(plan, f) if plan != before else None


def _fitting(p: Select, f: Fragment) -> Select:
    """The plan with every column grouped that stands beside figures, and without an order of figures it has no more."""
    plain = tuple(e for e in p.show if not aggregates(e) and not isinstance(e, Star))
    ranked = any(aggregates(o.by) for o in p.order)
    if (any(aggregates(e) for e in p.show) and plain) or (plain and (ranked or p.having)):
        if not p.per:
            keys = tuple(k for k in (_own_key(e, f) for e in plain) if k is not None)
            p = replace(p, group=tuple(dict.fromkeys((*p.group, *keys, *plain))))
    elif not any(aggregates(e) for e in p.show) and not ranked and not p.having:
        p = replace(p, group=())
    needed = [t for part in (p.show, p.where, p.group, p.having, p.order) for t in tables_of(part)]
    return replace(p, tables=tuple(dict.fromkeys((*p.tables, *needed))))


def _own_key(e: Expression, f: Fragment) -> Column | None:
    """The key of the rows that a column names."""
    if isinstance(e, Column) and e in f.names(e.table):
        return f.key(e.table)
    return None

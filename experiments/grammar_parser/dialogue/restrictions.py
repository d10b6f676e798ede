"""Which rows a follow-up means: another value or period in place of the one before, one more condition, another bound.

In: the plan before and a `Fragment`. Out: the plan with its conditions changed where the fragment says so.
"""

from __future__ import annotations

from dataclasses import fields, replace

from experiments.grammar_parser.dialogue.fragment import Fragment
from experiments.grammar_parser.dialogue.projection import mapped, only_these
from experiments.grammar_parser.plan.algebra import (
    OPPOSITE,
    All,
    Among,
    Column,
    Compare,
    Condition,
    Constant,
    Either,
    OneOf,
    Related,
    Select,
    Within,
    aggregates,
    tables_of,
)


def conditions(p: Select, f: Fragment) -> Select:
    """Another value or period of a column in place of the one before; any other condition is one more."""
    own = f.state.where
    if "add" in f.links.kinds and f.links.asks is False and p.where and own and not any(aggregates(e) for e in p.show):
        return replace(p, where=(_either(p.where, own),))
    for condition in own:
        condition = _dated_alike(condition, p, f)
        old = [n for n in all_conditions(p) if _rivals(n, condition)]
        if old and _both(old[0], condition, f):
            tables = tables_of(condition)
            p = replace(p, where=tuple(Related(f.head, tables[0], (c,)) if c == old[0] else c for c in p.where))
            p = replace(p, where=(*p.where, Related(f.head, tables[0], (condition,))), distinct=False,
                        tables=tuple(t for t in p.tables if t != tables[0]))  # fmt: skip
            continue
        if old:
            first, *rest = old
            p = mapped(p, lambda n, a=first, b=condition: b if n == a else n)
            p = replace(p, where=tuple(c for c in p.where if c not in rest))
        else:
            p = _restricted(p, condition, f)
    return p


def _both(old: Condition, new: Condition, f: Fragment) -> bool:
    """`which of those also speak Dutch?`: both values hold, each for one of the rows that belong to the head's row."""
    tables = tables_of(new)
    if not (f.links.refers and isinstance(old, OneOf) and len(tables) == 1 and tables[0] != f.head):
        return False
    joins = f.context.graph.plan([f.head, tables[0]])
    return joins is not None and joins.multiplies(f.head)


def _either(old: tuple[Condition, ...], new: tuple[Condition, ...]) -> Condition:
    if (
        len(old) == len(new) == 1
        and isinstance(old[0], OneOf)
        and isinstance(new[0], OneOf)
        and old[0].left == new[0].left
    ):
        return replace(old[0], values=(*old[0].values, *new[0].values))
    return Either(tuple(c[0] if len(c) == 1 else All(c) for c in (old, new)))


def _restricted(p: Select, condition: Condition, f: Fragment) -> Select:
    """One more condition; of rows of which there may be several for each, that there is one."""
    tables = tables_of(condition)
    known = {
        t
        for part in (p.show, p.where, p.group, p.order, p.tables)
        for t in (part if part is p.tables else tables_of(part))
    }
    if len(tables) == 1 and tables[0] not in known:
        joins = f.context.graph.plan([f.head, tables[0]])
        if joins is not None and joins.multiplies(f.head):
            return replace(p, where=(*p.where, Related(f.head, tables[0], (condition,))))
    if p.limit is not None and f.links.refers and not p.per:
        return replace(only_these(p, f), show=p.show, where=(*only_these(p, f).where, condition))
    return replace(p, where=(*p.where, condition))


def all_conditions(p: Select) -> list[Condition]:
    found: list[Condition] = []
    todo: list[object] = [p]
    while todo:
        here = todo.pop(0)
        if isinstance(here, tuple):
            todo.extend(here)
        elif hasattr(here, "__dataclass_fields__"):
            if isinstance(here, (OneOf, Within, Compare)):
                found.append(here)
            todo.extend(getattr(here, x.name) for x in fields(here))  # type: ignore[arg-type]
    return found


def _rivals(old: Condition, new: Condition) -> bool:
    """Whether a new condition takes an old one's place: another value of the column, another period, another bound."""
    left = getattr(new, "left", None)
    if getattr(old, "left", None) != left or left is None:
        return False
    if isinstance(new, OneOf):
        return isinstance(old, OneOf) and old.negated == new.negated
    if _period(old) or _period(new):
        return _period(old) and _period(new)
    if isinstance(old, Compare) and isinstance(new, Compare):
        return old.operator[0] == new.operator[0]
    return isinstance(old, Within) and isinstance(new, Within)


def _period(c: Condition) -> bool:
    low = (
        c.low
        if isinstance(c, Within)
        else c.right.value
        if isinstance(c, Compare) and isinstance(c.right, Constant)
        else None
    )
    return hasattr(low, "year")


def _dated_alike(c: Condition, p: Select, f: Fragment) -> Condition:
    """A period is about the date that the plan before restricts."""
    if not _period(c) or not isinstance(c.left, Column):  # type: ignore[union-attr]
        return c
    if " ".join(f.context.vocabulary.columns[c.left.key].words) in " ".join(f.links.words):  # type: ignore[union-attr]
        return c
    dates = [n.left for n in all_conditions(p) if _period(n)]  # type: ignore[union-attr]
    return replace(c, left=dates[0]) if dates else c  # type: ignore[arg-type]


def related(p: Select, f: Fragment) -> Select:
    """`without orders`, `who have a dog`: rows with or without rows of another table."""
    for absent in f.state.absent:
        p = replace(p, where=(*p.where, Related(f.head, absent.table, absent.where, negated=True)))
    used = {t for part in (p.show, p.where, p.group, p.having, p.order) for t in tables_of(part)} | set(p.tables)
    used |= {a.table for a in f.state.absent} | {n.to for n in p.where if isinstance(n, Related)}
    ranked = {t for part in (f.state.having, f.state.order, f.state.show) for e in part for t in tables_of(e)}
    for table in f.state.tables:
        if table not in used | ranked and table != f.head and f.state.phase == "restrict":
            p = replace(p, where=(*p.where, Related(f.head, table)))
    return p


def compared(p: Select, f: Fragment) -> Select:
    """`more than 100?`: another bound of the comparison before, or a bound of the figure of each group."""
    cmp = f.waits("cmp")
    if cmp is None or cmp.number is None:
        return p
    sign = cmp.argument if cmp.argument in OPPOSITE else ">"
    for old in (n for n in all_conditions(p) if isinstance(n, Compare) and isinstance(n.right, Constant)):
        new = replace(old, operator=sign, right=Constant(cmp.number))  # type: ignore[arg-type]
        return mapped(p, lambda n, a=old, b=new: b if n == a else n)
    figures = [e for e in p.show if aggregates(e)]
    if p.group and figures:
        return replace(p, having=(*p.having, Compare(figures[0], sign, Constant(cmp.number))))  # type: ignore[arg-type]
    return p


def figures_compared(p: Select, f: Fragment) -> Select:
    """`those with more than 5 orders`: a condition on the figure of each row."""
    if not f.state.having:
        return p
    key = f.key(f.head)
    if key is not None and any(aggregates(e) for e in p.show):
        tables = (f.head, *(t for c in f.state.having for t in tables_of(c)))
        inner = Select((key,), tuple(dict.fromkeys(tables)), (), (key,), f.state.having)
        return replace(p, where=(*p.where, Among(key, inner)))
    return replace(p, having=f.state.having)

"""What a follow-up shows: another table, other columns and figures, a count, a list, other groups.

In: the plan before and a `Fragment`. Out: the plan with what is shown and grouped changed where the fragment says so.
"""

from __future__ import annotations

from dataclasses import fields, replace
from typing import TypeVar

from experiments.grammar_parser.dialogue.fragment import Fragment, entities
from experiments.grammar_parser.grammar.state import Entity
from experiments.grammar_parser.plan.algebra import (
    Aggregate,
    Among,
    Column,
    Expression,
    OneOf,
    Select,
    Star,
    aggregates,
)

_Node = TypeVar("_Node")


def table(p: Select, f: Fragment) -> Select:
    """`and suppliers?`: another table in place of the one before."""
    s, named = f.state, [t for t in f.state.tables if t not in p.tables]
    bare = not (s.where or s.group or s.order or s.having or s.absent or s.limit)
    if len(named) != 1 or not bare or f.links.refers or f.links.asks or not f.links.kinds & {"join", "swap"}:
        return p
    if any(not isinstance(e, Entity) for e in s.show) or f.links.tied:
        return p
    new, old = named[0], f.head
    show: tuple[Expression, ...] = tuple(
        replace(e, table=new) if isinstance(e, Aggregate) and e.table == old else e for e in p.show
    )
    if all(isinstance(e, (Column, Star)) and e in (*f.names(old), Star(old)) for e in p.show):
        show = f.names(new)
    known = f.context.vocabulary.columns
    moved = mapped(replace(p, show=show), lambda n: replace(n, table=new) if isinstance(n, Column) and n.table == old
                   and (new, n.name) in known else n)  # fmt: skip
    return replace(moved, tables=tuple(new if t == old else t for t in p.tables))


def shown(p: Select, f: Fragment) -> Select:
    s = f.state
    made = tuple(e for e in s.show if not isinstance(e, Entity))
    figures = tuple(e for e in made if aggregates(e))
    columns = tuple(n for e in made if not aggregates(e) for n in _by_name(e, f))
    counted = s.waits("count") is not None and not figures
    rows = figures == (Aggregate("count", table=f.head),)
    if (counted or rows) and not columns:
        return (
            _counted(p, f)
            if not s.group
            else replace(p, show=(Aggregate("count", table=f.head),), order=(), limit=None)
        )
    functions = [w.argument for w in s.waiting if w.kind == "agg"]
    if functions and not made:
        return _other_functions(p, functions)
    if f.superlative is not None and not made and not p.order and not p.group and one_figure(p):
        return _other_functions(p, ["min" if f.superlative[0] == "asc" else "max"])
    flags = [c for c in columns if isinstance(c, Column) and f.context.vocabulary.columns[c.key].role == "flag"]
    if flags and ("narrow" in f.links.kinds or (f.links.refers and f.links.asks)):
        return replace(p, where=(*p.where, *(OneOf(c, (1,)) for c in flags)))
    if figures:
        grouped = any(aggregates(e) for e in p.show) or "each" in f.links.kinds  # `for each of those, …`
        groups = tuple(e for e in p.show if not aggregates(e)) if grouped else ()
        kept = replace(p, order=(), limit=None) if not groups else p
        if p.limit is not None and not groups:
            kept = only_these(p, f)
        order = tuple(replace(o, by=figures[0]) if aggregates(o.by) else o for o in kept.order)
        show = (*columns, *figures, *groups) if f.figure_first else (*groups, *columns, *figures)
        return replace(kept, show=show, order=order, distinct=False)
    other = [t for t in s.tables if t not in p.tables and t != f.head]
    if f.links.asks and f.links.refers and other and not (made or s.where or s.order or s.having or s.absent):
        return replace(p, show=f.names(other[0]), distinct=True)  # `which categories are they in?`
    listed = tuple(n for t in entities(s) for n in f.names(t) if t != f.head or not columns)
    if columns or (listed and set(entities(s)) - {f.head}):
        return replace(_columns(p, f, (*listed, *columns)), distinct=p.distinct or s.distinct)
    if f.links.words[0] == "who" and (s.order or s.where or s.having) and not set(f.names(f.head)) & set(p.show):
        return replace(_listed(p, f), distinct=False)
    if (
        (f.links.asks and f.links.words[0] != "how")
        and any(aggregates(e) for e in p.show)
        and not (s.group or s.order or made)
    ):
        return _listed(p, f)
    return p


_KEYS = ("id", "key", "code", "number", "no")


def _by_name(e: Expression, f: Fragment) -> tuple[Expression, ...]:
    """`with their suppliers`: a foreign key as the names of the rows that it refers to, unless the key is asked for."""
    words = f.context.vocabulary
    if not isinstance(e, Column) or not words.columns[e.key].foreign or set(_KEYS) & set(f.links.words):
        return (e,)
    keys = (k for k in words.tables[e.table].table.foreign_keys if k.columns == (e.name,))
    there = next((k.ref_table for k in keys if k.ref_table in words.tables and k.ref_table != e.table), "")
    return f.names(there) if there and words.name_columns(there) else (e,)


def _columns(p: Select, f: Fragment, columns: tuple[Expression, ...]) -> Select:
    """`with their emails`, `what are their names?`, `and the price?` of figures."""
    figured = [e for e in p.show if aggregates(e)]
    numeric = all(isinstance(e, Column) and f.context.vocabulary.columns[e.key].role == "number" for e in columns)
    if (
        figured
        and f.links.kinds & {"join", "swap"}
        and numeric
        and not f.links.refers
        and isinstance(figured[0], Aggregate)
    ):
        made = tuple(replace(figured[0], of=e, table="", distinct=False) for e in columns)
        return replace(p, show=tuple(e for e in p.show if not aggregates(e)) + made, order=())
    if figured and not any(not aggregates(e) for e in p.show):
        p = replace(_listed(p, f), show=())
    asked = f.links.asks and "add" not in f.links.kinds and f.links.words[0] not in ("with", "include", "add")
    if asked and (f.links.refers or not f.links.kinds):
        return replace(p, show=columns)
    return replace(p, show=(*p.show, *(c for c in columns if c not in p.show)))


def _listed(p: Select, f: Fragment) -> Select:
    """`who are they?` after a count: the rows by their names."""
    having = bool(p.having)
    keep = p.group if having else ()
    return replace(p, show=f.names(f.head), group=keep, order=p.order if having else (), distinct=False)


def only_these(p: Select, f: Fragment) -> Select:
    """The plan of the rows that the plan before shows, as a condition."""
    key = f.key(f.head)
    if key is None:
        return p
    inner = replace(p, show=(key,), distinct=False)
    return Select((), (f.head,), (Among(key, inner),))


def _counted(p: Select, f: Fragment) -> Select:
    count = (Aggregate("count", table=f.head),)
    if p.having or p.limit is not None or p.combine is not None:
        return replace(only_these(p, f), show=count)
    if p.distinct and len(p.show) == 1 and p.show[0] not in f.names(f.head):
        return replace(p, show=(Aggregate("count", p.show[0], distinct=True),), distinct=False, order=())
    return replace(p, show=count, group=(), order=(), distinct=False)


def one_figure(p: Select) -> bool:
    return len(p.show) == 1 and isinstance(p.show[0], Aggregate) and p.show[0].of is not None


def _other_functions(p: Select, functions: list[str]) -> Select:
    """`and the average?`: another function of the same column."""
    known = [e for e in p.show if isinstance(e, Aggregate) and e.of is not None]
    plain = [e for e in p.show if isinstance(e, Column)]
    of = known[0].of if known else plain[0] if len(plain) == len(p.show) == 1 else None
    if of is None:
        return p
    made = tuple(Aggregate(function, of) for function in functions)  # type: ignore[arg-type]
    groups = tuple(e for e in p.show if not aggregates(e)) if known else ()
    order = tuple(replace(o, by=made[0]) for o in p.order) if groups else ()
    return replace(p, show=(*groups, *made), order=order, limit=p.limit if groups else None, distinct=False)


def grouped(p: Select, f: Fragment) -> Select:
    """`and by region?`: another group, or the first one."""
    keys: list[Expression] = []
    shown: list[Expression] = []
    if "each" in f.links.kinds and f.state.show:
        p = replace(p, distinct=False, group=())
    if not f.state.group:
        return p
    for g in f.state.group:
        names = f.names(g.table) if isinstance(g, Entity) else (g,)
        key = f.key(g.table) if isinstance(g, Entity) else None
        keys.extend((*((key,) if key else ()), *names))
        shown.extend(names)
    figures = tuple(e for e in p.show if aggregates(e)) or (Aggregate("count", table=f.head),)
    order = tuple(o for o in p.order if aggregates(o.by))
    keep = order if order and p.limit is not None else ()
    show = (*figures, *shown) if f.figure_first else (*shown, *figures)
    limit = p.limit if keep else None
    return replace(p, show=show, group=tuple(dict.fromkeys(keys)), order=keep, distinct=False, limit=limit)


def mapped(node: _Node, change: object) -> _Node:
    """The node with every part replaced by what `change` makes of it, from the outermost in."""
    new = change(node)  # type: ignore[operator]
    if new is not node and new != node:
        return new  # type: ignore[no-any-return]
    if isinstance(node, tuple):
        return tuple(mapped(x, change) for x in node)  # type: ignore[return-value]
    if hasattr(node, "__dataclass_fields__"):
        parts = {x.name: mapped(getattr(node, x.name), change) for x in fields(node)}  # type: ignore[arg-type]
        return replace(node, **parts)  # type: ignore[type-var]
    return node

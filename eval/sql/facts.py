"""The facts of a query's form: its projections, grouping, filters, order and joins, read off the tree.

In: a `ParsedQuery` and, if there is one, the schema. Out: `QueryFacts`. Nothing here judges a query; scoring does that.
Every row of an unlinked source meets every row of the others (a cartesian product).
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterator
from typing import Literal

from sqlglot import exp

from eval.schema import Dialect, Schema
from eval.sql.binding import Binding, From
from eval.sql.bounds import with_headroom
from eval.sql.dialects import render
from eval.sql.nodes import MATCHES, called_name, is_aggregate_call
from eval.sql.scopes import bind
from eval.sql.sources import Origin
from eval.sql.traversal import every, output_select, unchanging, unwrapped
from eval.sql.types import Constant, ParsedQuery, QueryFacts

_COMPARISONS: dict[type[exp.Expr], str] = {
    **dict.fromkeys((exp.EQ, exp.NullSafeEQ), "="),
    **dict.fromkeys((exp.NEQ, exp.NullSafeNEQ), "<>"),
    exp.LT: "<",
    exp.LTE: "<=",
    exp.GT: ">",
    exp.GTE: ">=",
    **dict.fromkeys((exp.Like, exp.ILike, exp.Glob, exp.RegexpLike, exp.SimilarTo), "like"),
    exp.In: "in",
    exp.Between: "between",
}
_CLASSES = re.compile(r"\\\w|\[[^\]]*\]")
_LOOKED_THROUGH = 40
"""Nodes next to a constant that are searched for its column; the limit keeps the search short in long chains."""

_FLIPPED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}


@with_headroom
def facts(parsed: ParsedQuery, schema: Schema | None = None) -> QueryFacts:
    """Read the form of a query; empty facts when there is no tree. Never raises."""
    tree = parsed.tree
    if tree is None:
        return QueryFacts()
    try:
        with unchanging(tree):
            return _facts(tree, parsed.dialect, schema)
    except RecursionError:
        return QueryFacts()


def orders_rows(parsed: ParsedQuery) -> bool:
    """Whether the outermost query has an ORDER BY, so that the order of its rows is part of the answer."""
    node: exp.Expr | None = parsed.tree
    while isinstance(node, exp.Subquery) and isinstance(node.this, exp.Query):
        node = node.this
    return node is not None and bool(node.args.get("order"))


def _facts(tree: exp.Expression, dialect: Dialect, schema: Schema | None) -> QueryFacts:
    outer = unwrapped(tree)
    select = output_select(outer)
    calls = [
        (called_name(node) or "", node)
        for node in tree.find_all(exp.Func, bfs=False)
        if is_aggregate_call(node, dialect) and not _is_windowed(node)
    ]
    joins = every(tree, exp.Join)
    binding = bind(tree, dialect, schema)
    loose = tuple(name for clause in binding.froms for name in unlinked(binding, clause))
    projection = select.expressions if select is not None else []
    written = tuple(render(p.unalias(), dialect) for p in projection)
    shown = {id(n) for p in projection for n in p.dfs(prune=lambda n: isinstance(n, exp.Query))}
    group = select.args.get("group") if select is not None else None
    ctes = {cte.alias.casefold() for cte in every(tree, exp.CTE)}
    base_tables = sum(
        isinstance(t.this, exp.Identifier) and (bool(t.db) or t.name.casefold() not in ctes)
        for t in every(tree, exp.Table)
    )
    return QueryFacts(
        projection=written,
        projects_star=any(p.is_star and not p.find(exp.Count) for p in projection),
        aggregates=tuple(name for name, _ in calls),
        output_aggregates=tuple(name for name, node in calls if id(node) in shown),
        count_distinct=any(name == "count" and isinstance(node.this, exp.Distinct) for name, node in calls),
        distinct=bool(select is not None and select.args.get("distinct")),
        group_by=tuple(render(g, dialect) for g in group.expressions) if group else (),
        having=bool(select is not None and select.args.get("having")),
        order_by=_order_by(outer, dialect),
        limit=_whole_number(outer.args.get("limit")),
        offset=_whole_number(outer.args.get("offset")),
        set_operations=tuple(
            node.key if node.args.get("distinct") is not False else f"{node.key} all"
            for node in tree.find_all(exp.SetOperation, bfs=False)
        ),
        subqueries=_nested_queries(tree),
        joins=len(joins),
        outer_joins=sum(join.side in ("LEFT", "RIGHT", "FULL") for join in joins),
        window_functions=tuple(_window_functions(tree)),
        negations=_negations(tree, any(join.side in ("LEFT", "RIGHT", "FULL") for join in joins)),
        cartesian=bool(loose),
        literals=tuple(_constants(tree, binding)),
        from_tables=base_tables,
        unlinked=loose,
        join_columns=tuple(dict.fromkeys(join_columns(binding))),
    )


def _is_windowed(node: exp.Expr) -> bool:
    child, parent = node, node.parent
    while isinstance(parent, exp.Filter | exp.IgnoreNulls | exp.RespectNulls | exp.WithinGroup):
        child, parent = parent, parent.parent
    return isinstance(parent, exp.Window) and parent.this is child


def _window_functions(tree: exp.Expression) -> Iterator[str]:
    for window in tree.find_all(exp.Window, bfs=False):
        if isinstance(window.parent, exp.Select) and window.arg_key == "windows":
            continue
        node = window.this
        while isinstance(node, exp.Filter | exp.IgnoreNulls | exp.RespectNulls | exp.WithinGroup):
            node = node.this
        yield called_name(node) or node.key


def _order_by(outer: exp.Expr, dialect: Dialect) -> tuple[tuple[str, Literal["asc", "desc"]], ...]:
    order = outer.args.get("order")
    keys: list[tuple[str, Literal["asc", "desc"]]] = []
    for item in order.expressions if order is not None else ():
        descending = isinstance(item, exp.Ordered) and bool(item.args.get("desc"))
        key = item.this if isinstance(item, exp.Ordered) else item
        keys.append((render(key, dialect), "desc" if descending else "asc"))
    return tuple(keys)


def _whole_number(node: exp.Expr | None) -> int | None:
    if node is None:
        return None
    value = node.args.get("count") if isinstance(node, exp.Fetch) else node.expression
    if isinstance(value, exp.Literal) and not value.is_string and value.name.isdecimal():
        return int(value.name)
    return None


def _nested_queries(tree: exp.Expression) -> int:
    """Queries inside the outermost one: derived tables, CTEs, scalar, IN and EXISTS subqueries."""
    count = 0
    for node in every(tree, exp.Select, exp.SetOperation):
        parent = node.parent
        while isinstance(parent, exp.Subquery):
            parent = parent.parent
        count += parent is not None and not isinstance(parent, exp.SetOperation)
    return count


def _negations(tree: exp.Expression, outer_join: bool) -> int:
    count = 0
    for node in every(tree, exp.Not, exp.NEQ, exp.NullSafeNEQ, exp.Except, exp.Is):
        if isinstance(node, exp.Not):
            count += not (isinstance(node.this, exp.Is) and isinstance(node.this.expression, exp.Null))
        elif isinstance(node, exp.NEQ | exp.NullSafeNEQ | exp.Except):
            count += 1
        elif isinstance(node.expression, exp.Null):
            count += outer_join and not (isinstance(node.parent, exp.Not) or node.args.get("negate"))
    return count


def _constants(tree: exp.Expression, binding: Binding) -> Iterator[Constant]:
    apart = (exp.Limit, exp.Offset, exp.DataType, exp.Interval, exp.Fetch)
    for node in tree.dfs(prune=lambda n: isinstance(n, apart)):
        if not isinstance(node, exp.Literal):
            continue
        value, negative = node.name, isinstance(node.parent, exp.Neg)
        if isinstance(node.parent, MATCHES) and not any(map(str.isalnum, _CLASSES.sub("", value))):
            continue  # `^[0-9.]+$` asks for a form, not for a text
        child: exp.Expr = node.parent if negative and node.parent else node
        text = f"-{value}" if negative else value
        yield _constant(text, bool(node.is_string), *_compared(child.parent, child), binding)
    for column in tree.find_all(exp.Column, bfs=False):
        bound = binding.columns.get(id(column))
        if bound is not None and bound.is_string:  # in SQLite's double quotes, which the parser reads as a column
            yield _constant(column.name, True, *_compared(column.parent, column), binding)


def _constant(
    value: str, is_string: bool, column: exp.Column | None, operator: str | None, binding: Binding
) -> Constant:
    """A constant with the real column that it is compared with, else with the column as written."""
    if column is None:
        return Constant(value, is_string, operator=operator)
    bound = binding.columns.get(id(column))
    written = (column.table or None, column.name)
    table, name = bound.origin if bound is not None and bound.origin is not None else written
    return Constant(value, is_string, table, name, operator)


def _compared(holder: exp.Expr | None, child: exp.Expr) -> tuple[exp.Column | None, str | None]:
    """The column that a constant is compared with and the operator, as seen from the column."""
    while isinstance(holder, exp.Paren | exp.Escape | exp.Cast | exp.Tuple):
        child, holder = holder, holder.parent
    operator = _COMPARISONS.get(type(holder)) if holder is not None else None
    if holder is None or operator is None:
        return None, None
    other = holder.this
    if child is holder.this:
        other = holder.expression if isinstance(holder, exp.Binary) else None
        operator = _FLIPPED.get(operator, operator)
    return (_only_column(other) if isinstance(other, exp.Expr) else None), operator


def _only_column(node: exp.Expr) -> exp.Column | None:
    """The only column of an expression; None when there are several, a subquery, or too many nodes to search."""
    only: exp.Column | None = None
    for count, item in enumerate(node.dfs(prune=lambda n: isinstance(n, exp.Column))):
        if isinstance(item, exp.Query) or (only and isinstance(item, exp.Column)) or count > _LOOKED_THROUGH:
            return None
        only = item if isinstance(item, exp.Column) else only
    return only


Link = frozenset[Hashable]
"""What one condition links: sources by `id`, and constants that represent one value."""


def unlinked(binding: Binding, clause: From) -> tuple[str, ...]:
    """The sources of one FROM that no condition links to its first source; one-row sources do not count."""
    sources = [s for s in clause.scope.sources if not s.relation.single_row]
    if len(sources) < 2:
        return ()
    group: dict[Hashable, Hashable] = {}

    def root(item: Hashable) -> Hashable:
        while group.setdefault(item, item) != item:
            item = group[item]
        return item

    for link in _links_of(binding, clause):
        first, *rest = link
        for other in rest:
            group[root(other)] = root(first)
    start = root(id(sources[0]))
    return tuple(s.name for s in sources[1:] if root(id(s)) != start)


def join_columns(binding: Binding) -> Iterator[tuple[Origin, Origin]]:
    """Equalities between real columns of two sources, in FROM and in WHERE."""
    for clause in binding.froms:
        for condition in _conditions(clause):
            for equality in every(condition, exp.EQ):
                left, right = (binding.columns.get(id(side)) for side in (equality.this, equality.expression))
                if left and right and left.origin and right.origin and left.source is not right.source:
                    yield left.origin, right.origin


def _conditions(clause: From) -> Iterator[exp.Expr]:
    where = clause.select.args.get("where")
    if where is not None:
        yield where.this
    stack: list[exp.Expr] = [clause.select.args["from_"]] if clause.select.args.get("from_") else []
    stack += clause.select.args.get("joins") or []
    while stack:
        node = stack.pop()
        if isinstance(node, exp.Select | exp.SetOperation):
            continue
        if isinstance(node, exp.Join) and node.args.get("on") is not None:
            yield node.args["on"]
        stack += [c for c in node.iter_expressions() if isinstance(c, exp.Join | exp.Table | exp.Subquery | exp.From)]


def _links_of(binding: Binding, clause: From) -> Iterator[Link]:
    sources = clause.scope.sources
    for condition in _conditions(clause):
        yield from _links(condition, binding, clause)
    for i, source in enumerate(sources):
        if source.merged or source.joined_naturally:
            holders = [s for s in sources[:i] if s.relation.open or any(m in s.columns for m in source.merged)]
            yield frozenset({id(source), *(id(s) for s in holders[:1])})
        if isinstance(source.node, exp.Lateral | exp.Unnest | exp.Table | exp.Subquery):
            yield frozenset({id(source), *_mentioned(source.node, binding, clause)})


def _links(condition: exp.Expr, binding: Binding, clause: From) -> list[Link]:
    while isinstance(condition, exp.Paren):
        condition = condition.this
    if isinstance(condition, exp.And):
        return [link for part in condition.flatten() for link in _links(part, binding, clause)]
    if isinstance(condition, exp.Or):
        branches = [_links(part, binding, clause) for part in condition.flatten()]
        return list(set.intersection(*(_pairs(branch) for branch in branches)))
    mentioned = _mentioned(condition, binding, clause)
    if isinstance(condition, exp.EQ):
        for side in (condition.this, condition.expression):
            if isinstance(side, exp.Literal):
                mentioned = mentioned | {("constant", side.name)}
    return [mentioned] if len(mentioned) > 1 else []


def _pairs(links: list[Link]) -> set[Link]:
    return {frozenset({a, b}) for link in links for a in link for b in link if a != b}


def _mentioned(node: exp.Expr, binding: Binding, clause: From) -> Link:
    """The sources whose columns appear in a condition, including its subqueries. A source of an outer query has a
    single row in this scope, so it links sources as a constant does."""
    mine = {id(s) for s in clause.scope.sources}
    visible = {id(s) for scope in clause.scope.outwards() for s in scope.sources}
    mentioned: set[Hashable] = set()
    for column in every(node, exp.Column):
        entry = binding.columns.get(id(column))
        source = entry.source if entry else None
        if source is None:
            continue
        if source.relation.open and not column.table and len(mine) > 1 and id(source) in mine:
            return frozenset(mine)
        if id(source) in visible:
            mentioned.add(id(source))
    return frozenset(mentioned)

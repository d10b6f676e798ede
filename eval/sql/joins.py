"""How the sources of a FROM clause are joined: the conditions that link them, and the sources that no condition links.

In: a `Binding`. Out: the equalities between columns of two sources, and the unlinked sources. Every row of an unlinked
source meets every row of the others (a cartesian product).
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator

from sqlglot import exp

from eval.sql.binding import Binding, From
from eval.sql.sources import Origin
from eval.sql.traversal import every

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

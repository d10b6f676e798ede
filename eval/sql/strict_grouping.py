"""Write a grouped query for engines that group strictly: every column outside the keys goes into an aggregate.

SQLite and MySQL take a column of *some* row of the group; Spark and ClickHouse refuse it, and have `any_value` for that
choice. In: the tree of a query. Out: a new tree with the same meaning. A column is a key when the same column stands in
GROUP BY, by its expression, its position or its alias.
"""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp

from eval.schema import Dialect
from eval.sql.dialects import render
from eval.sql.nodes import is_aggregate_call
from eval.sql.traversal import every, from_items, own_nodes

_PARTS = ("having", "order")


def strictly_grouped(tree: exp.Expression, dialect: Dialect) -> exp.Expression:
    """The query with `any_value` around the columns that are neither grouped nor aggregated."""
    copy = tree.copy()
    for select in every(copy, exp.Select):
        _group(select, dialect)
    return copy


def _group(select: exp.Select, dialect: Dialect) -> None:
    group = select.args.get("group")
    clauses = [*select.expressions, *(select.args[part] for part in _PARTS if select.args.get(part) is not None)]
    if group is None and not any(is_aggregate_call(node, dialect) for c in clauses for node in own_nodes(c)):
        return
    if group is not None and (
        group.args.get("all") or not group.expressions or group.find(exp.Rollup, exp.Cube, exp.GroupingSets)
    ):
        return  # GROUP BY ALL, ROLLUP, CUBE and GROUPING SETS: the engine's own rules
    keys = _keys(select, group)
    outputs = {item.alias_or_name.casefold() for item in select.expressions if item.alias_or_name}
    items = (*from_items(select), *(select.args.get("laterals") or ()))
    sources = frozenset(item.alias_or_name.casefold() for item in items)
    aliases: set[str] = set()
    for item in select.expressions:
        _Grouped(keys, frozenset(aliases), sources, dialect).wrap(item)
        aliases |= {item.alias.casefold()} if item.alias else set()
    for part in _PARTS:
        clause = select.args.get(part)
        for item in clause.expressions if isinstance(clause, exp.Order) else [clause] if clause is not None else []:
            _Grouped(keys, frozenset(outputs), sources, dialect).wrap(item)


def _keys(select: exp.Select, group: exp.Expr | None) -> list[exp.Expr]:
    keys: list[exp.Expr] = []
    named = {item.alias.casefold(): item.unalias() for item in select.expressions if item.alias}
    for key in group.expressions if group is not None else ():
        if isinstance(key, exp.Literal) and key.is_int and 0 < int(key.name) <= len(select.expressions):
            keys.append(select.expressions[int(key.name) - 1].unalias())
        elif isinstance(key, exp.Column) and not key.table and key.name.casefold() in named:
            keys += [key, named[key.name.casefold()]]
        else:
            keys.append(key)
    return [key.copy() for key in keys]


@dataclass(frozen=True)
class _Grouped:
    """What one clause of a grouped query may name as it is."""

    keys: list[exp.Expr]
    outputs: frozenset[str]
    """Aliases that the clause sees."""
    sources: frozenset[str]
    """Names in FROM: a column of any other table belongs to an outer query."""
    dialect: Dialect

    def wrap(self, node: exp.Expr) -> None:
        """Put an aggregate around the columns that need one."""
        if isinstance(node, exp.Query | exp.Window | exp.Filter | exp.WithinGroup | exp.Lambda | exp.DataType):
            return
        if is_aggregate_call(node, self.dialect) or _is_key(node, self.keys, self.dialect):
            return
        if not isinstance(node, exp.Column):
            for child in list(node.iter_expressions()):
                self.wrap(child)
            return
        known = not node.table and node.name.casefold() in self.outputs
        foreign = node.table and node.parts[0].name.casefold() not in self.sources
        if isinstance(node.this, exp.Star) or known or foreign or node.parent is None:
            return
        chosen: exp.Expr = exp.Anonymous(this="any_value", expressions=[node.copy()])
        if self.dialect == "tsql":  # it has no any_value
            chosen = exp.Min(this=node.copy())
        node.replace(exp.alias_(chosen, node.this.copy()) if isinstance(node.parent, exp.Select) else chosen)


def _is_key(node: exp.Expr, keys: list[exp.Expr], dialect: Dialect) -> bool:
    for key in keys:
        if isinstance(node, exp.Column) and isinstance(key, exp.Column):
            same_table = not node.table or not key.table or node.table.casefold() == key.table.casefold()
            if same_table and node.name.casefold() == key.name.casefold():
                return True
        elif type(node) is type(key) and render(node, dialect).casefold() == render(key, dialect).casefold():
            return True
    return False

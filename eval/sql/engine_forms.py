"""Forms that ClickHouse and Spark refuse, written as they take them: `written_for_clickhouse`, `written_for_spark`.

In: the tree of a query and, if it is known, the schema. Out: a tree with the same meaning. Both group strictly
(`strictly_grouped`): SQLite and MySQL take a column of *some* row of the group; Spark and ClickHouse refuse it, and
have `any_value` for that choice. A column is a key when the same column stands in GROUP BY, by its expression, its
position or its alias.

ClickHouse tells names apart by case, and compares no text with a number. A column of texts is equal to a number where
their texts are, and larger or smaller than one by the number that it holds (as texts, '9' would be larger than '100');
a text that is no number is then NULL, as it is in a sum. Sail takes ORDER BY on an aggregate only where the aggregate
is selected, and tells table names apart by case.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from sqlglot import exp

from eval.schema import Dialect, Schema
from eval.sql.binding import Binding
from eval.sql.dialects import render
from eval.sql.nodes import is_aggregate_call
from eval.sql.scopes import bind
from eval.sql.sources import quoted_name, real_table
from eval.sql.traversal import every, from_items, group_keys, own_nodes

_EQUALITIES = (exp.EQ, exp.NEQ)
_ORDERINGS = (exp.LT, exp.LTE, exp.GT, exp.GTE, exp.Between)
_TEXT = re.compile(r"(LowCardinality\(|Nullable\()*(Fixed)?String\b")
_NUMBER = re.compile(r"(LowCardinality\(|Nullable\()*(U?Int\d+|Float\d+|Decimal)")
_SUMMED = (exp.Sum, exp.Avg)


def written_for_clickhouse(tree: exp.Expression, schema: Schema | None = None) -> exp.Expression:
    """The query in forms that ClickHouse takes. The given tree is not changed."""
    if schema is None:
        return strictly_grouped(tree, "clickhouse")
    spelled = tree.copy()
    binding = bind(spelled, "clickhouse", schema)
    _spell(spelled, binding, schema)
    kinds = _kinds(binding, schema)
    for node in list(every(spelled, *_EQUALITIES, *_ORDERINGS, exp.In, *_SUMMED)):
        _compare_alike(node, kinds)
    return strictly_grouped(spelled, "clickhouse")


def _spell(tree: exp.Expression, binding: Binding, schema: Schema) -> None:
    """Write tables, columns and aliases as they are spelled where they are defined."""
    for table in list(every(tree, exp.Table)):
        real = real_table(table, "clickhouse", schema) if isinstance(table.this, exp.Identifier) else None
        if real is not None and real.name != table.name and real.name.casefold() == table.name.casefold():
            if not table.alias:
                table.set("alias", exp.TableAlias(this=exp.to_identifier(table.name)))
            table.set("this", quoted_name(real.name))
    for column in list(every(tree, exp.Column)):
        bound_column = binding.columns.get(id(column))
        if bound_column is None or not isinstance(column.this, exp.Identifier):
            continue
        source = bound_column.source.name if bound_column.source is not None else ""
        if column.table and source != column.table and source.casefold() == column.table.casefold():
            column.set("table", exp.to_identifier(source))
        offered = bound_column.source.columns.get(column.name.casefold(), []) if bound_column.source is not None else []
        spellings = {output.name for output in offered}
        if len(spellings) == 1 and (declared := spellings.pop()) != column.name:
            column.set("this", exp.to_identifier(declared, quoted=column.this.args.get("quoted")))


def _kinds(binding: Binding, schema: Schema) -> dict[int, str]:
    """`text` or `number`, by the `id` of a column node whose type is known."""
    kinds: dict[int, str] = {}
    for node in binding.columns:
        _, column = binding.stored(node, schema) or (None, None)
        if column is not None and _TEXT.match(column.type):
            kinds[node] = "text"
        elif column is not None and _NUMBER.match(column.type):
            kinds[node] = "number"
    return kinds


def _compare_alike(node: exp.Expr, kinds: dict[int, str]) -> None:
    if isinstance(node, _SUMMED):
        if kinds.get(id(node.this)) == "text":
            node.set("this", _number(node.this))
        return
    if isinstance(node, exp.In):
        _be_alike(node, kinds)
        return
    if isinstance(node, _ORDERINGS):
        sides = [side for side in (node.this, *(node.args.get(name) for name in ("expression", "low", "high"))) if side]
        if any(_kind(side, kinds) == "number" or _is_number(side) for side in sides):
            for side in sides:
                if _kind(side, kinds) == "text":
                    side.replace(_number(side))
        return
    left, right = node.this, node.expression
    for one, other in ((left, right), (right, left)):
        if _kind(one, kinds) != "text":
            continue
        if isinstance(other, exp.Literal) and not other.is_string:
            other.replace(exp.Literal.string(other.name))
        elif _kind(other, kinds) == "number":
            other.replace(exp.Anonymous(this="toString", expressions=[other.copy()]))


def _is_number(node: exp.Expr) -> bool:
    inner = node.this if isinstance(node, exp.Neg) else node
    return isinstance(inner, exp.Literal) and not inner.is_string


def _number(node: exp.Expr) -> exp.Expr:
    return exp.Anonymous(this="toFloat64OrNull", expressions=[node.copy()])


def _be_alike(membership: exp.In, kinds: dict[int, str]) -> None:
    kind, shown = kinds.get(id(membership.this)), _only_column(membership.args.get("query"))
    if kind == "text":
        for item in membership.expressions:
            if isinstance(item, exp.Literal) and not item.is_string:
                item.replace(exp.Literal.string(item.name))
    if shown is not None and {kind, kinds.get(id(shown))} == {"text", "number"}:
        number = shown if kind == "text" else membership.this
        number.replace(exp.Anonymous(this="toString", expressions=[number.copy()]))


def _kind(node: exp.Expr, kinds: dict[int, str]) -> str | None:
    """The kind of a column, or of the one column of a subquery."""
    return kinds.get(id(_only_column(node) or node))


def _only_column(node: exp.Expr | None) -> exp.Expr | None:
    select = node.this if isinstance(node, exp.Subquery) else None
    return select.expressions[0].unalias() if isinstance(select, exp.Select) and len(select.expressions) == 1 else None


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
    written = group.expressions if group is not None else []
    keys = [key.copy() for key in (*written, *group_keys(select))]
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


def written_for_spark(tree: exp.Expression, schema: Schema | None = None) -> exp.Expression:
    """The query in forms that Spark and Sail take. The given tree is not changed."""
    written = strictly_grouped(tree, "spark")
    for select in every(written, exp.Select):
        _select_sorted_aggregates(select)
    if schema is not None:
        _spell_tables(written, schema)
    return written


def _select_sorted_aggregates(select: exp.Select) -> None:
    """`SELECT a … GROUP BY a ORDER BY count(*)` selects the count in a subquery and sorts outside."""
    order = select.args.get("order")
    if order is None or select.args.get("distinct") or select.is_star or select.args.get("windows"):
        return
    shown = [item.unalias() for item in select.expressions]
    hidden = [key.this for key in order.expressions if key.this not in shown]
    if not any(is_aggregate_call(node, "spark") for key in hidden for node in own_nodes(key)):
        return
    inner, outer = select.copy(), []
    inner.set("expressions", [])
    for part in ("order", "limit", "offset", "with_"):
        inner.set(part, None)
    for number, item in enumerate(select.expressions):
        inner.append("expressions", exp.alias_(item.unalias().copy(), f"_c{number}"))
        name = item.alias_or_name or item.sql(dialect="spark")
        outer.append(exp.alias_(exp.column(f"_c{number}"), quoted_name(name)))
    keys = []
    for number, key in enumerate(order.expressions):
        sorted_by = key.copy()
        sorted_by.set("this", exp.column(_sorted_name(key.this, select, inner, number)))
        keys.append(sorted_by)
    select.set("expressions", outer)
    for part in ("joins", "laterals", "where", "group", "having", "qualify", "sample"):
        select.set(part, None)
    select.set("from_", exp.From(this=exp.Subquery(this=inner, alias=exp.TableAlias(this=exp.to_identifier("_g")))))
    select.set("order", exp.Order(expressions=keys))


def _sorted_name(key: exp.Expr, select: exp.Select, inner: exp.Select, number: int) -> str:
    """The column of the subquery that holds a sort key: a selected one, by its alias or position, or a new one."""
    for place, item in enumerate(select.expressions):
        named = isinstance(key, exp.Column) and not key.table and key.name.casefold() == item.alias_or_name.casefold()
        if named or item.unalias() == key or (isinstance(key, exp.Literal) and key.name == str(place + 1)):
            return f"_c{place}"
    inner.append("expressions", exp.alias_(key.copy(), f"_o{number}"))
    return f"_o{number}"


def _spell_tables(tree: exp.Expr, schema: Schema) -> None:
    """Names of tables as the schema spells them, unless a CTE has the name."""
    ctes = {cte.alias.casefold() for cte in every(tree, exp.CTE)}
    for table in every(tree, exp.Table):
        real = schema.table(table.name) if isinstance(table.this, exp.Identifier) and not table.db else None
        if real is None or real.name == table.name or table.name.casefold() in ctes:
            continue
        written = table.name
        table.set("this", quoted_name(real.name))
        if not table.alias:
            table.set("alias", exp.TableAlias(this=exp.to_identifier(written)))

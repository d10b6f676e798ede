"""Forms that Spark's engines refuse, written as they take them: `written_for_spark`.

In: the tree of a query and, if it is known, the schema. Out: a tree with the same meaning. Spark groups strictly
(`eval.sql.strict_grouping`). Sail takes ORDER BY on an aggregate only where the aggregate is selected, and tells table
names apart by case.
"""

from __future__ import annotations

from sqlglot import exp

from eval.schema import Schema
from eval.sql.nodes import is_aggregate_call
from eval.sql.quoted_names import quoted_name
from eval.sql.strict_grouping import strictly_grouped
from eval.sql.traversal import every, own_nodes


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

"""Forms that ClickHouse refuses, written as it takes them: `written_for_clickhouse`.

In: the tree of a query and, if it is known, the schema. Out: a tree with the same meaning. ClickHouse groups strictly
(`eval.sql.strict_grouping`), tells names apart by case, and compares no text with a number. A column of texts is equal
to a number where their texts are, and larger or smaller than one by the number that it holds (as texts, '9' would be
larger than '100'); a text that is no number is then NULL, as it is in a sum.
"""

from __future__ import annotations

import re

from sqlglot import exp

from eval.schema import Schema
from eval.sql.binding import Binding
from eval.sql.catalogue import real_table
from eval.sql.quoted_names import quoted_name
from eval.sql.scopes import bind
from eval.sql.strict_grouping import strictly_grouped
from eval.sql.traversal import every

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
    for node, bound_column in binding.columns.items():
        if bound_column.origin is None:
            continue
        table = schema.table(bound_column.origin[0])
        column = table.column(bound_column.origin[1]) if table is not None else None
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
        _order_as_numbers(node, kinds)
        return
    left, right = node.this, node.expression
    for one, other in ((left, right), (right, left)):
        if _kind(one, kinds) != "text":
            continue
        if isinstance(other, exp.Literal) and not other.is_string:
            other.replace(exp.Literal.string(other.name))
        elif _kind(other, kinds) == "number":
            other.replace(exp.Anonymous(this="toString", expressions=[other.copy()]))


def _order_as_numbers(node: exp.Expr, kinds: dict[int, str]) -> None:
    sides = [side for side in (node.this, *(node.args.get(name) for name in ("expression", "low", "high"))) if side]
    if any(_kind(side, kinds) == "number" or _is_number(side) for side in sides):
        for side in sides:
            if _kind(side, kinds) == "text":
                side.replace(_number(side))


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

"""Calls without parentheses: after a dot, by a cast, by a name in a text.

In PostgreSQL, `t.f` and `(x).f` call the function `f` on the row `t` or the value `x` when it has no field `f`. A cast
to a user-defined type runs the functions of that type. In: a tree and, if it is known, the schema. Out: the reason for
a refusal, or None. After a dot, only a column that the schema or a subquery of the statement has is allowed; as the
target of a cast, only a built-in type.

DuckDB's `list_aggregate` and its like call the aggregate function that a text names; ClickHouse's `arrayMap` and its
like call the function whose bare name stands where a lambda may stand.
"""

from __future__ import annotations

from sqlglot import exp

from eval.schema import Schema
from eval.sql.functions import functions
from eval.sql.lookup import Found
from eval.sql.nodes import called_name
from eval.sql.scopes import bind

_BUILT_IN_TYPES = frozenset(
    {"bit", "box", "bpchar", "cidr", "circle", "inet", "jsonpath", "line", "lseg", "macaddr", "macaddr8", "path"}
    | {"point", "polygon", "timetz", "tsquery", "tsvector", "varbit", "xml"}
)
"""PostgreSQL's own types that sqlglot treats as user-defined."""

_AGGREGATING = frozenset({"aggregate", "array_aggr", "array_aggregate", "list_aggr", "list_aggregate"})


HIGHER_ORDER = frozenset(
    {"arrayall", "arrayavg", "arraycompact", "arraycount", "arraycumsum", "arraycumsumnonnegative", "arraydifference"}
    | {"arrayexists", "arrayfill", "arrayfilter", "arrayfirst", "arrayfirstindex", "arrayfirstornull", "arrayfold"}
    | {"arraylast", "arraylastindex", "arraylastornull", "arraymap", "arraymax", "arraymin", "arrayproduct", "mapall"}
    | {"arraypartialreversesort", "arraypartialsort", "arrayreversefill", "arrayreversesort", "arrayreversesplit"}
    | {"arraysort", "arraysplit", "arraysum", "mapapply", "mapexists", "mapfilter", "mappartialreversesort"}
    | {"mappartialsort", "mapreversesort", "mapsort"}
)
"""ClickHouse's functions whose first argument may be a function (system.functions, higher_order)."""


def function_argument(call: exp.Expr) -> str | None:
    """The reason why a call of ClickHouse's `arrayMap` or its like may reach a function that is not on the list."""
    if called_name(call) not in HIGHER_ORDER or len(call.expressions) < 2:
        return None
    first = call.expressions[0]
    while isinstance(first, exp.Paren | exp.Alias):
        first = first.this
    if isinstance(first, exp.Column | exp.Identifier | exp.Dot) and first.name.lower() not in functions("clickhouse"):
        return f"calls {call.name} with a name where a function may stand; write a lambda"
    return None


def call_by_name(call: exp.Expr) -> str | None:
    """The reason why a call of DuckDB's `list_aggregate` may reach a function that is not on the list."""
    if not isinstance(call, exp.Anonymous) or called_name(call) not in _AGGREGATING:
        return None
    named = call.expressions[1] if len(call.expressions) > 1 else None
    function = functions("duckdb").get(named.name.lower()) if isinstance(named, exp.Literal) else None
    if function is not None and function.kind == "aggregate":
        return None
    return f"calls {call.name} with something other than the name of a listed aggregate function"


def implicit_call(tree: exp.Expression, schema: Schema | None) -> str | None:
    """The reason why a PostgreSQL statement may call a function without naming it as one.

    Without a schema the columns of tables are not known, so `t.f` is accepted for a table `t`."""
    qualified: list[exp.Column] = []
    for node in tree.walk():
        if isinstance(node, exp.Dot) and not isinstance(node.expression, exp.Func):
            return f"selects {node.expression.name or '*'} of an expression, which PostgreSQL may read as a call"
        if isinstance(node, exp.DataType) and not _is_built_in(node):
            return f"casts to {node.args.get('kind')}, which is not one of PostgreSQL's own types"
        if isinstance(node, exp.Column) and node.table and not isinstance(node.this, exp.Star):
            qualified.append(node)
    if not qualified:
        return None
    columns = bind(tree, "postgres", schema).columns
    for column in qualified:
        if not _exists(column, columns.get(id(column)), schema):
            written = ".".join(part.name for part in column.parts)
            return f"names {written}, which is no known column and which PostgreSQL may read as a call of {column.name}"
    return None


def _is_built_in(kind: exp.DataType) -> bool:
    if kind.this != exp.DType.USERDEFINED:
        return True
    return str(kind.args.get("kind")).strip('"').split("(")[0].strip().lower() in _BUILT_IN_TYPES


def _exists(column: exp.Column, binding: Found | None, schema: Schema | None) -> bool:
    source = binding.source if binding is not None else None
    if source is None or not isinstance(column.this, exp.Identifier):
        return False
    known = bool(source.find(column.this)) or source.hides(column.name) is not None
    return known or (schema is None and source.relation.open)

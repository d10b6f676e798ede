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

from eval.language.lexicon import word_set
from eval.schema import Dialect, Schema
from eval.sql.binding import Found
from eval.sql.functions import functions
from eval.sql.nodes import called_name
from eval.sql.scopes import bind

_BUILT_IN_TYPES = word_set(
    """
    bit box bpchar cidr circle inet jsonpath line lseg macaddr macaddr8 path point polygon timetz tsquery tsvector
    varbit xml
    """
)
"""PostgreSQL's own types that sqlglot treats as user-defined."""

_AGGREGATING: dict[str, tuple[Dialect, int]] = {
    **dict.fromkeys(("aggregate", "array_aggr", "array_aggregate", "list_aggr", "list_aggregate"), ("duckdb", 1)),
    "arrayreduce": ("clickhouse", 0),
}
"""Functions that call the aggregate whose name they are given, with the position of the name."""


HIGHER_ORDER = word_set(
    """
    arrayall arrayavg arraycompact arraycount arraycumsum arraycumsumnonnegative arraydifference arrayexists
    arrayfill arrayfilter arrayfirst arrayfirstindex arrayfirstornull arrayfold arraylast arraylastindex
    arraylastornull arraymap arraymax arraymin arrayproduct mapall arraypartialreversesort arraypartialsort
    arrayreversefill arrayreversesort arrayreversesplit arraysort arraysplit arraysum mapapply mapexists mapfilter
    mappartialreversesort mappartialsort mapreversesort mapsort
    """
)
"""ClickHouse's functions whose first argument may be a function (system.functions, higher_order)."""


_TYPE_BY_NAME = frozenset(
    {"accuratecast", "accuratecastordefault", "accuratecastornull", "defaultvalueoftypename", "reinterpret"}
)
"""ClickHouse's functions that name a type in a text: their second argument, or the only one."""


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


def state_type(call: exp.Expr) -> str | None:
    """The reason why a call of ClickHouse's `accurateCast` or its like may make a state of an aggregate from a text."""
    if isinstance(call, exp.CastToStrType):
        named = call.args["to"]
    elif called_name(call) in _TYPE_BY_NAME and call.expressions:
        named = call.expressions[min(1, len(call.expressions) - 1)]
    else:
        return None
    if isinstance(named, exp.Literal) and "aggregatefunction" not in named.name.lower():
        return None
    return "casts to something other than the name of a plain type"


def table_behind_in(membership: exp.In) -> str | None:
    """The name that ClickHouse reads as a table in `x IN name` and `x IN (name)`."""
    listed = membership.expressions
    named = membership.args.get("field") or (listed[0] if len(listed) == 1 else None)
    while isinstance(named, exp.Paren | exp.Alias) or (isinstance(named, exp.Tuple) and len(named.expressions) == 1):
        named = named.expressions[0] if isinstance(named, exp.Tuple) else named.this
    if isinstance(named, exp.Column | exp.Identifier | exp.Dot):
        return ".".join(part.name for part in (named.parts if not isinstance(named, exp.Identifier) else (named,)))
    return None


def call_by_name(call: exp.Expr) -> str | None:
    """The reason why a call of DuckDB's `list_aggregate` or ClickHouse's `arrayReduce` may reach a function that is not
    on the list."""
    if not isinstance(call, exp.Anonymous) or called_name(call) not in _AGGREGATING:
        return None
    dialect, place = _AGGREGATING[call.name.lower()]
    named = call.expressions[place] if len(call.expressions) > place else None
    function = functions(dialect).get(named.name.lower()) if isinstance(named, exp.Literal) else None
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

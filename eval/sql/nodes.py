"""The syntax that a query may contain: the allowed node types by dialect, and the SQL name of each call node."""

from __future__ import annotations

from sqlglot import exp

from eval.schema import WRITTEN_DIALECTS, Dialect
from eval.sql.functions import functions

NodeTypes = frozenset[type[exp.Expr]]
MATCHES = (exp.Glob, exp.RegexpLike, exp.RegexpILike, exp.SimilarTo)
"""Comparisons with a pattern other than LIKE's."""


def _types(names: str) -> NodeTypes:
    return frozenset(getattr(exp, name) for name in names.split())


_TYPED_CALLS = _types("Count Sum Avg Min Max")
_COMMON = _TYPED_CALLS | _types(
    """
    Select From Join Where Group Having Order Ordered Limit Offset Fetch LimitOptions With CTE Subquery Union Intersect
    Except Values Tuple Table TableAlias Alias Column Identifier Star Paren Distinct Window WindowSpec Filter
    Literal Null Boolean HexString BitString National Var DataType DataTypeParam
    And Or Not Xor EQ NEQ GT GTE LT LTE Is In NullSafeEQ NullSafeNEQ Between Like Escape Exists Add Sub Mul Div IntDiv
    Mod Neg DPipe Collate Case If BitwiseAnd BitwiseOr BitwiseNot BitwiseXor BitwiseLeftShift BitwiseRightShift Cast
    JSONExtract JSONExtractScalar
    CurrentDate CurrentTime CurrentTimestamp Anonymous
    """
)
_SERVER = _types(
    """
    Any All Lateral Interval IntervalSpan Extract Trim Substring StrPosition Rollup Cube GroupingSets IgnoreNulls
    RespectNulls WithinGroup RegexpLike Localtime Localtimestamp
    """
)
_POSTGRES_LIKE = _types(
    """
    Dot Unnest ILike SimilarTo Array Bracket Slice AtTimeZone Overlay Qualify ArrayContainsAll ArrayContainedBy
    ArrayOverlaps Pow Kwarg JSONBExtract JSONBExtractScalar JSONBContains TableSample ByteString RawString StartsWith
    RegexpILike CurrentCatalog
    """
)
_WRITTEN = (_COMMON | _SERVER - _types("Any All")) - {exp.BitString} | _types(
    """
    Dot Bracket ILike Qualify TryCast Array Struct PropertyEQ Kwarg Unnest AtTimeZone Lambda Overlay SimilarTo Slice
    Concat StartsWith TableSample JSONPath JSONPathRoot JSONPathKey JSONPathSubscript Pow Ceil Floor
    """
)
"""For dialects without an engine here: the forms that their documentation shares."""

NODES: dict[Dialect, NodeTypes] = {
    **dict.fromkeys(WRITTEN_DIALECTS, _WRITTEN),
    "sqlite": _COMMON | _types("Glob Match RegexpLike"),
    "duckdb": _COMMON
    | _SERVER
    | _POSTGRES_LIKE
    | _types("Struct PropertyEQ Lambda Comprehension Map ToMap Glob TryCast Abs RegexpFullMatch Factorial"),
    "postgres": _COMMON
    | _SERVER
    | _POSTGRES_LIKE
    | _types("MatchAgainst ColumnDef Sqrt Cbrt Overlaps")
    | _types("JSONBContainsTopKey JSONBContainsAnyTopKeys JSONBContainsAllTopKeys"),
    "mysql": _COMMON
    | _SERVER
    | _types("MatchAgainst GroupConcat Concat Chr WithTableHint IndexTableHint CharacterSet Introducer")
    | _types("JSONTable JSONColumnDef JSONSchema JSONArrayContains"),
    "spark": _COMMON
    | _SERVER
    | _types("Dot Bracket Lambda TryCast ILike Overlay Qualify TableSample Aliases ColumnDef"),
    "clickhouse": _COMMON
    | (_SERVER - {exp.Lateral})
    | _types(
        "ILike Array Bracket Dot Lambda Qualify Final PreWhere CastToStrType WithFill ParameterizedAgg TableSample"
    )
    | _types("Struct Map VarMap PropertyEQ"),
}
"""Node types that a query may contain, by dialect."""

_CALL_NAMES = {node: node.__name__.lower() for node in _TYPED_CALLS} | {exp.GroupConcat: "group_concat"}

KEYWORD_CALLS = _types(
    """
    And Or Not Xor Case If Cast TryCast Exists Any All Collate JSONExtract JSONExtractScalar JSONBExtract
    JSONBExtractScalar JSONBContains Extract Trim Substring StrPosition Overlay RegexpLike RegexpILike Unnest
    CurrentDate CurrentTime CurrentTimestamp Localtime Localtimestamp CurrentCatalog CurrentUser SessionUser Array
    Struct Map ToMap Glob MatchAgainst StartsWith ArrayContainsAll ArrayContainedBy ArrayOverlaps Pow SimilarTo Abs
    Factorial RegexpFullMatch JSONTable JSONArrayContains JSONBContainsTopKey Like ILike JSONBContainsAnyTopKeys
    JSONBContainsAllTopKeys CastToStrType
    """
)
"""sqlglot `Func` classes that are written as an operator or a grammar keyword, not as a call by name."""


def called_name(node: exp.Expr) -> str | None:
    """The lower-case SQL name of a call, or None for a node that is not written as a single call by name."""
    if isinstance(node, exp.Anonymous):
        return node.name.lower()
    if isinstance(node, exp.ParameterizedAgg):
        return str(node.this).lower()
    return _CALL_NAMES.get(type(node))


def is_aggregate_call(node: exp.Expr, dialect: Dialect) -> bool:
    """Whether a node calls an aggregate. SQLite's min and max are scalar when they have several arguments."""
    name = called_name(node)
    function = functions(dialect).get(name) if name else None
    if function is None or function.kind != "aggregate":
        return False
    return not (dialect == "sqlite" and name in ("min", "max") and len(node.expressions) > 1)

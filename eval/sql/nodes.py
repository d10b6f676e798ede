"""The syntax that a query may contain: the allowed node types by dialect, and the SQL name of each call node."""

from __future__ import annotations

from sqlglot import exp

from eval.schema import WRITTEN_DIALECTS, Dialect
from eval.sql.functions import functions

NodeTypes = frozenset[type[exp.Expr]]
MATCHES = (exp.Glob, exp.RegexpLike, exp.RegexpILike, exp.SimilarTo)
"""Comparisons with a pattern other than LIKE's."""

_QUERY: NodeTypes = frozenset(
    {exp.Select, exp.From, exp.Join, exp.Where, exp.Group, exp.Having, exp.Order, exp.Ordered, exp.Limit, exp.Offset}
    | {exp.Fetch, exp.LimitOptions, exp.With, exp.CTE, exp.Subquery, exp.Union, exp.Intersect, exp.Except, exp.Values}
    | {exp.Tuple, exp.Table, exp.TableAlias, exp.Alias, exp.Column, exp.Identifier, exp.Star, exp.Paren}
    | {exp.Distinct, exp.Window, exp.WindowSpec, exp.Filter}
)
_VALUES: NodeTypes = frozenset(
    {exp.Literal, exp.Null, exp.Boolean, exp.HexString, exp.BitString, exp.National, exp.Var, exp.DataType}
    | {exp.DataTypeParam}
)
_OPERATORS: NodeTypes = frozenset(
    {exp.And, exp.Or, exp.Not, exp.Xor, exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE, exp.Is, exp.In}
    | {exp.NullSafeEQ, exp.NullSafeNEQ, exp.Between, exp.Like, exp.Escape, exp.Exists}
    | {exp.Add, exp.Sub, exp.Mul, exp.Div, exp.IntDiv, exp.Mod, exp.Neg, exp.DPipe, exp.Collate, exp.Case, exp.If}
    | {exp.BitwiseAnd, exp.BitwiseOr, exp.BitwiseNot, exp.BitwiseXor, exp.BitwiseLeftShift, exp.BitwiseRightShift}
    | {exp.Cast, exp.JSONExtract, exp.JSONExtractScalar}
)
_TYPED_CALLS: NodeTypes = frozenset({exp.Count, exp.Sum, exp.Avg, exp.Min, exp.Max})
_CLOCK: NodeTypes = frozenset({exp.CurrentDate, exp.CurrentTime, exp.CurrentTimestamp})

_COMMON = _QUERY | _VALUES | _OPERATORS | _TYPED_CALLS | _CLOCK | {exp.Anonymous}

_SERVER: NodeTypes = frozenset(
    {
        exp.Any,
        exp.All,
        exp.Lateral,
        exp.Interval,
        exp.IntervalSpan,
        exp.Extract,
        exp.Trim,
        exp.Substring,
        exp.StrPosition,
        exp.Rollup,
    }
    | {exp.Cube, exp.GroupingSets, exp.IgnoreNulls, exp.RespectNulls, exp.WithinGroup, exp.RegexpLike, exp.Localtime}
    | {exp.Localtimestamp}
)
_POSTGRES_LIKE: NodeTypes = frozenset(
    {
        exp.Dot,
        exp.Unnest,
        exp.ILike,
        exp.SimilarTo,
        exp.Array,
        exp.Bracket,
        exp.Slice,
        exp.AtTimeZone,
        exp.Overlay,
        exp.Qualify,
    }
    | {exp.ArrayContainsAll, exp.ArrayContainedBy, exp.ArrayOverlaps, exp.Pow, exp.Kwarg, exp.JSONBExtract}
    | {exp.JSONBExtractScalar, exp.JSONBContains, exp.TableSample, exp.ByteString, exp.RawString, exp.StartsWith}
    | {exp.RegexpILike, exp.CurrentCatalog}
)

_WRITTEN: NodeTypes = (
    _COMMON
    | _SERVER
    | {exp.Dot, exp.Bracket, exp.ILike, exp.Qualify, exp.TryCast, exp.Array, exp.Struct, exp.PropertyEQ, exp.Kwarg}
    | {exp.Unnest, exp.AtTimeZone, exp.Lambda, exp.Overlay, exp.SimilarTo, exp.Slice, exp.Concat, exp.StartsWith}
    | {
        exp.TableSample,
        exp.JSONPath,
        exp.JSONPathRoot,
        exp.JSONPathKey,
        exp.JSONPathSubscript,
        exp.Pow,
        exp.Ceil,
        exp.Floor,
    }
) - {exp.BitString, exp.Any, exp.All}
"""For dialects without an engine here: the forms that their documentation shares."""

NODES: dict[Dialect, NodeTypes] = {
    **dict.fromkeys(WRITTEN_DIALECTS, _WRITTEN),
    "sqlite": _COMMON | {exp.Glob, exp.Match, exp.RegexpLike},
    "duckdb": _COMMON
    | _SERVER
    | _POSTGRES_LIKE
    | {exp.Struct, exp.PropertyEQ, exp.Lambda, exp.Comprehension, exp.Map, exp.ToMap, exp.Glob, exp.TryCast, exp.Abs}
    | {exp.RegexpFullMatch, exp.Factorial},
    "postgres": _COMMON
    | _SERVER
    | _POSTGRES_LIKE
    | {
        exp.MatchAgainst,
        exp.ColumnDef,
        exp.Sqrt,
        exp.Cbrt,
        exp.Overlaps,
        exp.JSONBContainsTopKey,
        exp.JSONBContainsAnyTopKeys,
        exp.JSONBContainsAllTopKeys,
    },
    "mysql": _COMMON
    | _SERVER
    | {
        exp.MatchAgainst,
        exp.GroupConcat,
        exp.Concat,
        exp.Chr,
        exp.WithTableHint,
        exp.IndexTableHint,
        exp.CharacterSet,
        exp.Introducer,
        exp.JSONTable,
    }
    | {exp.JSONColumnDef, exp.JSONSchema, exp.JSONArrayContains},
    "spark": _COMMON
    | _SERVER
    | {exp.Dot, exp.Bracket, exp.Lambda, exp.TryCast, exp.ILike, exp.Overlay, exp.Qualify, exp.TableSample}
    | {exp.Aliases, exp.ColumnDef},
    "clickhouse": _COMMON
    | (_SERVER - {exp.Lateral, exp.GroupingSets})
    | {exp.GroupingSets, exp.ILike, exp.Array, exp.Bracket, exp.Dot, exp.Lambda, exp.Qualify, exp.Final, exp.PreWhere}
    | {
        exp.CastToStrType,
        exp.WithFill,
        exp.ParameterizedAgg,
        exp.TableSample,
        exp.Tuple,
        exp.Struct,
        exp.Map,
        exp.VarMap,
        exp.PropertyEQ,
        exp.Xor,
    },
}
"""Node types that a query may contain, by dialect."""

_CALL_NAMES: dict[type[exp.Expr], str] = {
    exp.Count: "count",
    exp.Sum: "sum",
    exp.Avg: "avg",
    exp.Min: "min",
    exp.Max: "max",
    exp.GroupConcat: "group_concat",
}

KEYWORD_CALLS: NodeTypes = frozenset(
    {
        exp.And,
        exp.Or,
        exp.Not,
        exp.Xor,
        exp.Case,
        exp.If,
        exp.Cast,
        exp.TryCast,
        exp.Exists,
        exp.Any,
        exp.All,
        exp.Collate,
    }
    | {exp.JSONExtract, exp.JSONExtractScalar, exp.JSONBExtract, exp.JSONBExtractScalar, exp.JSONBContains}
    | {exp.Extract, exp.Trim, exp.Substring, exp.StrPosition, exp.Overlay, exp.RegexpLike, exp.RegexpILike, exp.Unnest}
    | {exp.CurrentDate, exp.CurrentTime, exp.CurrentTimestamp, exp.Localtime, exp.Localtimestamp, exp.CurrentCatalog}
    | {
        exp.CurrentUser,
        exp.SessionUser,
        exp.Array,
        exp.Struct,
        exp.Map,
        exp.ToMap,
        exp.Glob,
        exp.MatchAgainst,
        exp.StartsWith,
    }
    | {exp.ArrayContainsAll, exp.ArrayContainedBy, exp.ArrayOverlaps, exp.Pow, exp.SimilarTo, exp.Abs, exp.Factorial}
    | {exp.RegexpFullMatch, exp.JSONTable, exp.JSONArrayContains, exp.JSONBContainsTopKey, exp.Like, exp.ILike}
    | {exp.JSONBContainsAnyTopKeys, exp.JSONBContainsAllTopKeys, exp.CastToStrType}
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

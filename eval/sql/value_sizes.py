"""Bounds on values that a statement builds itself: repeated and padded texts, wide formats, long series.

A short statement can build gigabytes, and some engines cannot be interrupted while they search such a value. In: a
tree. Out: the reason for a refusal, or None. Only values that the statement builds are judged; the length of values in
the data is not known here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from sqlglot import exp

from eval.schema import Dialect
from eval.sql.nodes import called_name
from eval.sql.traversal import every

MAX_BUILT = 10_000
"""The largest size of one built value, in characters, bytes or list items."""
MAX_GROWTH = 10_000
"""The factor by which all functions of a statement together may lengthen a value."""
MAX_SERIES = 1_000_000
"""Rows that all series of a statement with constant ends may produce together."""
MAX_NEEDLE = 1_000
"""Characters of a constant that is searched for in a value which the statement builds from many rows."""

_SIZE_ARGUMENT = {"repeat": 1, "lpad": 1, "rpad": 1, "space": 0, "zeroblob": 0, "randomblob": 0} | {
    "list_resize": 1,
    "array_resize": 1,
    "array_repeat": 1,
    "randstr": 0,
    "leftpad": 1,
    "rightpad": 1,
    "leftpadutf8": 1,
    "rightpadutf8": 1,
    "arrayresize": 1,
    "arraywithconstant": 0,
    "tofixedstring": 1,
}
_DOUBLING = frozenset({"hex", "quote", "json_quote", "quote_literal", "quote_nullable", "quote_ident", "to_hex"})
_FORMATS = frozenset({"printf", "format", "format_string"})
_WIDE = re.compile(r"%[^%a-zA-Z]*(\d{4,}|\*)|\{[^{}]*(\d{4,}|\{)")
_SERIES = frozenset({"generate_series", "generateseries", "range", "sequence"})
_COUNTED_SERIES = {"numbers": 1, "numbers_mt": 1, "zeros": 0, "zeros_mt": 0}
"""ClickHouse's table functions that take a number of rows, with its position where there are two arguments or more."""
_ASSEMBLING = frozenset({"string_agg", "group_concat", "array_agg", "array_to_string", "json_agg", "jsonb_agg"}) | {
    "json_arrayagg",
    "json_object_agg",
    "jsonb_object_agg",
    "json_objectagg",
}
_SEARCHING = {
    "instr": 1,
    "locate": 0,
    "strpos": 1,
    "replace": 1,
    "translate": 1,
    "btrim": 1,
    "ltrim": 1,
    "rtrim": 1,
} | {
    "split_part": 1,
    "string_to_array": 1,
    "string_to_table": 1,
    "regexp_replace": 1,
    "regexp_count": 1,
    "regexp_instr": 1,
    "regexp_like": 1,
    "regexp_substr": 1,
    "regexp_match": 1,
    "regexp_matches": 1,
    "regexp_split_to_array": 1,
    "regexp_split_to_table": 1,
}
"""Functions that search for one value in another, with the position of the argument that is searched for."""
_MATCHING = (exp.Like, exp.ILike, exp.SimilarTo, exp.RegexpLike, exp.RegexpILike)


def oversized(tree: exp.Expression, dialect: Dialect) -> str | None:
    """The reason why a statement may build values too large to handle."""
    growth, series = 1, 1
    calls = [(name, node) for node in every(tree, exp.Func) if (name := called_name(node)) is not None]
    for name, call in calls:
        reason = _size_reason(name, call) or _format_reason(name, call, dialect) or _range_reason(name, call, dialect)
        if dialect == "clickhouse":
            reason = reason or _series_reason(name, call)
        if reason:
            return reason
        growth *= _growth(name, call)
        series *= _series_rows(name, call)
    if growth > MAX_GROWTH:
        return f"makes values more than {MAX_GROWTH:,} times as long"
    if series > MAX_SERIES:
        return f"generates more than {MAX_SERIES:,} rows"
    return _recursive_growth(tree) or _search_reason(tree, calls, dialect)


def _argument(call: exp.Expr, place: int) -> exp.Expr | None:
    return call.expressions[place] if isinstance(call, exp.Anonymous) and len(call.expressions) > place else None


def _whole_number(node: exp.Expr | None) -> int | None:
    while isinstance(node, exp.Paren):
        node = node.this
    if isinstance(node, exp.Neg):
        value = _whole_number(node.this)
        return None if value is None else -value
    if isinstance(node, exp.Literal) and not node.is_string and node.name.isdecimal() and len(node.name) < 20:
        return int(node.name)
    return None


def _size_reason(name: str, call: exp.Expr) -> str | None:
    place = _SIZE_ARGUMENT.get(name)
    if place is None or _argument(call, place) is None:
        return None
    size = _whole_number(_argument(call, place))
    if size is not None and size <= MAX_BUILT:
        return None
    return f"calls {name} with a length that is not a whole number of at most {MAX_BUILT:,}"


def _format_reason(name: str, call: exp.Expr, dialect: Dialect) -> str | None:
    if name not in _FORMATS or dialect == "mysql":  # MySQL's FORMAT writes a number
        return None
    template = _argument(call, 0)
    if template is None:
        return None
    if not isinstance(template, exp.Literal):
        return f"calls {name} with a template that is not a constant"
    return f"calls {name} with a width over 999" if _WIDE.search(template.name) else None


def _range_reason(name: str, call: exp.Expr, dialect: Dialect) -> str | None:
    """Spark computes the ends of `range` itself: a product of constants is no bound for us."""
    if dialect != "spark" or name != "range" or not isinstance(call, exp.Anonymous):
        return None
    known = all(_whole_number(end) is not None for end in call.expressions)
    return None if known else "calls range with an end that is not a whole number"


def _growth(name: str, call: exp.Expr) -> int:
    """The largest factor by which the result of a call can be longer than its longest argument."""
    if name == "repeat":
        return max(_whole_number(_argument(call, 1)) or 0, 1) * _text_length(_argument(call, 0))
    if name in _DOUBLING:
        return 2
    if name in ("replace", "regexp_replace"):
        by = _argument(call, 2)
        if not isinstance(by, exp.Literal):
            return 1 if by is None else 100
        wanted = _text_length(_argument(call, 1)) if name == "replace" else 1
        return max(-(-len(by.name) // wanted), 1)
    return 1


def _text_length(node: exp.Expr | None) -> int:
    return max(len(node.name), 1) if isinstance(node, exp.Literal) else 1


def _series_reason(name: str, call: exp.Expr) -> str | None:
    """ClickHouse reads a series of any length; its ends have to be known here."""
    if name not in _COUNTED_SERIES and name not in _SERIES:
        return None
    if call.expressions and all(_whole_number(argument) is not None for argument in call.expressions):
        return None
    return f"calls {name} with an end that is not a whole number"


def _series_rows(name: str, call: exp.Expr) -> int:
    if name in _COUNTED_SERIES:
        place = min(_COUNTED_SERIES[name], len(call.expressions) - 1)
        return max(_whole_number(_argument(call, place)) or 1, 1)
    if name not in _SERIES:
        return 1
    ends = [_whole_number(_argument(call, place)) for place in range(3)]
    if ends[0] is None:
        return 1
    first, last, step = (0, ends[0], 1) if ends[1] is None else (ends[0], ends[1], ends[2] or 1)
    return max(abs(last - first) // abs(step), 1)


def _recursive_growth(tree: exp.Expression) -> str | None:
    """A recursive step that lengthens a value by a factor makes it grow exponentially."""
    for clause in every(tree, exp.With):
        for cte in clause.expressions:
            body = cte.this
            if not isinstance(body, exp.SetOperation):
                continue
            if not any(table.name.casefold() == cte.alias.casefold() for table in every(body, exp.Table)):
                continue
            for node in _joined_texts(body.expression):
                columns = [c.sql().casefold() for c in every(node, exp.Column)]
                if len(columns) != len(set(columns)):
                    return "doubles a text in each step of a recursion"
            for call in every(body.expression, exp.Func):
                if _growth(called_name(call) or "", call) > 1:
                    return f"calls {called_name(call)} in each step of a recursion, which makes a text grow"
    return None


def _joined_texts(branch: exp.Expr) -> Iterator[exp.Expr]:
    yield from every(branch, exp.DPipe, exp.Concat)
    yield from (call for call in every(branch, exp.Anonymous) if called_name(call) in ("concat", "concat_ws"))


def _search_reason(tree: exp.Expression, calls: list[tuple[str, exp.Func]], dialect: Dialect) -> str | None:
    """PostgreSQL and MySQL cannot be interrupted while they search for one long text in another."""
    if dialect not in ("postgres", "mysql") or not any(name in _ASSEMBLING for name, _ in calls):
        return None
    wanted: list[exp.Expr | None] = [_argument(call, _SEARCHING[name]) for name, call in calls if name in _SEARCHING]
    wanted += [node.args.get("substr") for node in every(tree, exp.StrPosition)]
    wanted += [node.expression for node in every(tree, *_MATCHING)]
    for node in wanted:
        if node is not None and (not isinstance(node, exp.Literal) or len(node.name) > MAX_NEEDLE):
            return "searches for a text that is not a short constant, beside texts put together from many rows"
    return None

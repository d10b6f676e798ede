"""Bounds on values that a statement builds itself: repeated and padded texts, wide formats, long series.

A short statement can build gigabytes, and some engines cannot be interrupted while they search such a value. In: a
tree. Out: the reason for a refusal, or None. Only values that the statement builds are judged; the length of values in
the data is not known here.
"""

from __future__ import annotations

import re

from sqlglot import exp

from eval.language.lexicon import word_set
from eval.schema import Dialect
from eval.sql.built_sizes import (
    FORMATS,
    LENGTHS,
    QUOTING,
    REPLACING,
    SERIES,
    argument,
    most_number,
    overgrown,
    replacement_factor,
    whole_number,
)
from eval.sql.nodes import called_name
from eval.sql.traversal import every

MAX_BUILT = 10_000
"""The largest size of one built value, in characters, bytes or list items."""
MAX_GROWTH = 10_000
"""The factor by which all functions of a statement together may lengthen a value."""
CLICKHOUSE_GROWTH = 250
CLICKHOUSE_LIST = 5_000
"""ClickHouse looks at a cancellation between blocks of some thousand rows, so what each row builds has to be small: the
same factor, and the items of all its `range` together."""
MAX_SERIES = 1_000_000
"""Rows that all series of a statement with constant ends may produce together."""
MAX_NEEDLE = 1_000
"""Characters of a constant that is searched for in a value which the statement builds from many rows."""

MAX_PARTS = 1_000
"""Rows of Spark's `stack`, partitions of its `range`, and windows of `window` that one row is in."""
_UNITS = {"microsecond": 1e-6, "millisecond": 1e-3, "second": 1.0, "minute": 60.0, "hour": 3600.0, "day": 86400.0} | {
    "week": 604800.0
}
_LENGTH = re.compile(rf" *+(?:interval )? *+(\d{{1,9}}) ++({'|'.join(_UNITS)})s? *+")

_WIDE = re.compile(r"%[^%a-zA-Z]*(\d{4,}|\*)|\{[^{}]*(\d{4,}|\{)")
_COUNTED_SERIES = {"numbers": 1, "numbers_mt": 1, "zeros": 0, "zeros_mt": 0}
"""ClickHouse's table functions that take a number of rows, with its position where there are two arguments or more."""
_ASSEMBLING = word_set(
    """
    string_agg group_concat array_agg array_to_string json_agg jsonb_agg json_arrayagg json_object_agg
    jsonb_object_agg json_objectagg
    """
)
_SEARCHED_SECOND = word_set(
    """
    instr strpos replace translate btrim ltrim rtrim split_part string_to_array string_to_table regexp_replace
    regexp_count regexp_instr regexp_like regexp_substr regexp_match regexp_matches regexp_split_to_array
    regexp_split_to_table
    """
)
_SEARCHING = {"locate": 0, **dict.fromkeys(_SEARCHED_SECOND, 1)}
"""Functions that search for one value in another, with the position of the argument that is searched for."""
_PADDED: dict[Dialect, frozenset[exp.DType]] = {
    "postgres": frozenset({exp.DType.CHAR, exp.DType.NCHAR, exp.DType.BIT}),
    "mysql": frozenset({exp.DType.BINARY}),
    "clickhouse": frozenset({exp.DType.FIXEDSTRING}),
}
_TYPE_IN_TEXT = re.compile(r"FixedString\s*\(\s*\d{5,}|AggregateFunction\s*\(", re.IGNORECASE)
_DAYS = re.compile(r"(tointerval)?(day|week|month|quarter|year)s?", re.IGNORECASE)
_MATCHING = (exp.Like, exp.ILike, exp.SimilarTo, exp.RegexpLike, exp.RegexpILike)


def oversized(tree: exp.Expression, dialect: Dialect) -> str | None:
    """The reason why a statement may build values too large to handle."""
    if reason := _padded_type(tree, dialect) or _fill_reason(tree):
        return reason
    growth, series, items = 1, 1, 1
    calls = [(name, node) for node in every(tree, exp.Func) if (name := called_name(node)) is not None]
    for name, call in calls:
        reason = _size_reason(name, call) or _format_reason(name, call, dialect) or _spark_reason(name, call, dialect)
        if reason := reason or (_series_reason(name, call) if dialect == "clickhouse" else None):
            return reason
        growth *= _growth(name, call)
        series *= _series_rows(name, call)
        items *= _series_rows(name, call) if name == "range" else 1
    most = CLICKHOUSE_GROWTH if dialect == "clickhouse" else MAX_GROWTH
    if growth > most:
        return f"makes values more than {most:,} times as long"
    if dialect == "clickhouse" and items > CLICKHOUSE_LIST:
        return f"builds lists of more than {CLICKHOUSE_LIST:,} items; numbers() makes rows"
    if series > MAX_SERIES:
        return f"generates more than {MAX_SERIES:,} rows"
    return overgrown(tree, dialect) or _search_reason(tree, calls, dialect)


def _padded_type(tree: exp.Expression, dialect: Dialect) -> str | None:
    """A cast to such a type fills a value up to the type's length."""
    for kind in every(tree, exp.DataType) if dialect in _PADDED else ():
        lengths = [whole_number(param.this) or 0 for param in kind.expressions if isinstance(param, exp.DataTypeParam)]
        if kind.this in _PADDED[dialect] and max(lengths, default=0) > MAX_BUILT:
            return f"casts to a type of fixed length with more than {MAX_BUILT:,} characters"
    for text in every(tree, exp.Literal) if dialect == "clickhouse" else ():
        if text.is_string and _TYPE_IN_TEXT.search(text.name):
            return "names a type in a text that is very long or a state of an aggregate"
    return None


def _fill_reason(tree: exp.Expression) -> str | None:
    """ClickHouse's WITH FILL makes every row between two ends: those have to be whole numbers, or the step a day."""
    for fill in every(tree, exp.WithFill):
        first, last, step = (fill.args.get(part) or None for part in ("from_", "to", "step"))
        ends = whole_number(first), whole_number(last)
        if None not in ends and abs(ends[1] - ends[0]) <= MAX_SERIES:  # type: ignore[operator]
            continue
        unit = step.args.get("unit") if isinstance(step, exp.Interval) else step
        if not (_DAYS.fullmatch(unit.name) if unit is not None else None) and not (_is_date(first) and _is_date(last)):
            return "fills in rows (WITH FILL) between ends that are no dates or whole numbers near each other"
    return None


def _is_date(end: exp.Expr | None) -> bool:
    return end is not None and (called_name(end) or "") in ("todate", "todate32", "makedate")


def _size_reason(name: str, call: exp.Expr) -> str | None:
    place = LENGTHS.get(name)
    if place is None or argument(call, place) is None:
        return None
    size = most_number(argument(call, place))
    if size is not None and size <= MAX_BUILT:
        return None
    return f"calls {name} with a length that is not a whole number of at most {MAX_BUILT:,}, or the least of one"


def _format_reason(name: str, call: exp.Expr, dialect: Dialect) -> str | None:
    if name not in FORMATS or dialect in ("mysql", "tsql"):  # their FORMAT takes the value first
        return None
    template = argument(call, 0)
    if template is None:
        return None
    if not isinstance(template, exp.Literal):
        return f"calls {name} with a template that is not a constant"
    return f"calls {name} with a width over 999" if _WIDE.search(template.name) else None


def _spark_reason(name: str, call: exp.Expr, dialect: Dialect) -> str | None:
    """Spark's driver makes the parts of these calls itself, before a row is read."""
    if dialect != "spark" or not isinstance(call, exp.Anonymous):
        return None
    if name == "range" and not all(whole_number(end) is not None for end in call.expressions):
        return "calls range with an end that is not a whole number"
    place = {"stack": 0, "range": 3}.get(name)
    if place is not None and argument(call, place) is not None:
        parts = whole_number(argument(call, place))
        if parts is None or parts > MAX_PARTS:
            return f"calls {name} with more than {MAX_PARTS:,} parts"
    if name == "window" and len(call.expressions) > 2:
        length, slide = (_seconds(argument(call, place)) for place in (1, 2))
        if not (length and slide and length / slide <= MAX_PARTS):
            return f"calls window so that a row is in more than {MAX_PARTS:,} windows"
    if name == "count_min_sketch":
        return "calls count_min_sketch, whose size depends on its arguments"
    return None


def _seconds(node: exp.Expr | None) -> float | None:
    """The length of `'10 minutes'`, or None."""
    match = _LENGTH.fullmatch(node.name.lower()) if isinstance(node, exp.Literal) and node.is_string else None
    return int(match[1]) * _UNITS[match[2]] if match else None


def _growth(name: str, call: exp.Expr) -> int:
    """The largest factor by which the result of a call can be longer than its longest argument."""
    if name == "repeat":
        node = argument(call, 0)
        text_length = max(len(node.name), 1) if isinstance(node, exp.Literal) else 1
        return max(most_number(argument(call, 1)) or 0, 1) * text_length
    if name in QUOTING:
        return 2
    return replacement_factor(call) if name in REPLACING else 1


def _series_reason(name: str, call: exp.Expr) -> str | None:
    """ClickHouse reads a series of any length; its ends have to be known here."""
    if name not in _COUNTED_SERIES and name not in SERIES:
        return None
    if call.expressions and all(whole_number(end) is not None for end in call.expressions):
        return None
    return f"calls {name} with an end that is not a whole number"


def _series_rows(name: str, call: exp.Expr) -> int:
    if name in _COUNTED_SERIES:
        place = min(_COUNTED_SERIES[name], len(call.expressions) - 1)
        return max(whole_number(argument(call, place)) or 1, 1)
    if name not in SERIES:
        return 1
    ends = [whole_number(argument(call, place)) for place in range(3)]
    if ends[0] is None:
        return 1
    first, last, step = (0, ends[0], 1) if ends[1] is None else (ends[0], ends[1], ends[2] or 1)
    return max(abs(last - first) // abs(step), 1)


def _search_reason(tree: exp.Expression, calls: list[tuple[str, exp.Func]], dialect: Dialect) -> str | None:
    """PostgreSQL and MySQL cannot be interrupted while they search for one long text in another."""
    if dialect not in ("postgres", "mysql") or not any(name in _ASSEMBLING for name, _ in calls):
        return None
    wanted: list[exp.Expr | None] = [argument(call, _SEARCHING[name]) for name, call in calls if name in _SEARCHING]
    wanted += [node.args.get("substr") for node in every(tree, exp.StrPosition)]
    wanted += [node.expression for node in every(tree, *_MATCHING)]
    for node in wanted:
        if node is not None and (not isinstance(node, exp.Literal) or len(node.name) > MAX_NEEDLE):
            return "searches for a text that is not a short constant, beside texts put together from many rows"
    return None

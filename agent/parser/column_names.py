"""Names of computed result columns: `orders`, `revenue`, `average_price`, `month`.

In: the tree of a query and the query. Out: the same tree with its computed columns named, and its GROUP BY and ORDER BY
using those names. A name that a table of the query already has is not used.
"""

from __future__ import annotations

import re

from sqlglot import exp

from agent.knowledge.vocabulary import Vocabulary
from agent.parser.interpretation import Expression, Query
from eval.language.inflection import plural
from eval.language.lexicon import word_set

_FUNCTIONS = {"sum": "total", "avg": "average", "min": "lowest", "max": "highest"}
_OF_DATES = {"min": "earliest", "max": "latest"}
_NAMED_BY_SHAPE = ("average", "median", "percentile", "count", "change")
_SUMS = word_set("total sum amount")
_CALENDAR = word_set("year quarter month week day")
_PLAIN = re.compile(r"[a-z][a-z0-9_]*\Z")


def name_columns(tree: exp.Select, query: Query, vocabulary: Vocabulary, reserved: frozenset[str]) -> exp.Select:
    """Name the computed columns of the outermost select."""
    if len(tree.expressions) < 2:  # a single value needs no name
        return tree
    if (query.shape is not None and query.shape.kind in _NAMED_BY_SHAPE) or query.within:
        return tree
    tables = {t.name for t in tree.find_all(exp.Table)}
    taken: frozenset[str] = frozenset({c.name.lower() for t in tables for c in vocabulary.by_table.get(t, ())}) | (
        reserved - _CALENDAR
    )
    names: list[tuple[exp.Expression, str]] = []
    for shown, meant in zip(list(tree.expressions), query.select, strict=False):
        if isinstance(shown, exp.Column | exp.Star | exp.Alias) or not (meant.function or meant.part or meant.until):
            continue
        name = _unused(_name(meant, vocabulary), taken, "sum" if meant.function == "sum" else "count")
        if name:
            taken = taken | {name}
            names.append((shown.copy(), name))
            shown.replace(exp.alias_(shown.copy(), name))
    for clause in ("group", "order"):
        _by_name(tree.args.get(clause), names)
    return tree


def _by_name(clause: exp.Expression | None, names: list[tuple[exp.Expression, str]]) -> None:
    for part in list(clause.expressions) if clause is not None else ():
        inner = part.this if isinstance(part, exp.Ordered) else part
        name = next((n for e, n in names if e == inner), "")
        if name:
            inner.replace(exp.column(name))


def _unused(name: str, taken: frozenset[str], kind: str) -> str:
    if not _PLAIN.match(name):
        return ""
    return next((n for n in (name, f"{name}_{kind}", f"{name}_2", f"{name}_3") if n not in taken), "")


def _name(e: Expression, vocabulary: Vocabulary) -> str:
    if e.part:
        return {"weekday": "weekday", "hour": "hour_of_day"}.get(e.part, e.part)
    if e.function == "count":
        if e.share:
            return "share_percent"
        if e.column is not None:
            return _plural(list(vocabulary.columns[e.column].words))
        return _plural(list(vocabulary.tables[e.table].words)) if e.table else "number_of_rows"
    if e.since is not None:
        return "average_days"
    if e.until is not None:
        return f"{_FUNCTIONS[e.function]}_age" if e.function else "age"
    assert e.column is not None
    column = vocabulary.columns[e.column]
    if e.factor is not None:
        return "revenue" if e.function == "sum" else f"{_FUNCTIONS[e.function]}_value"
    words = "_".join(column.words)
    if e.function == "sum" and _SUMS & set(column.words):
        return words if column.words[0] == "total" else f"total_{words}"
    function = _OF_DATES.get(e.function) if column.role in ("date", "year") else None
    return f"{function or _FUNCTIONS[e.function]}_{words}"


def _plural(words: list[str]) -> str:
    *first, last = words
    return "_".join((*first, plural(last)))

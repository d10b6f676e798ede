"""Names of computed result columns: `orders`, `revenue`, `average_price`, `month`.

In: the tree of a query and the query. Out: the same tree with its computed columns named, and its GROUP BY and ORDER BY
using those names. A name that a table of the query already has is not used.
"""

from __future__ import annotations

import re

from sqlglot import exp

from agent.knowledge.vocabulary import Vocabulary
from agent.parser.interpretation import CALLED, Expression, Query
from eval.language.inflection import plural_phrase
from eval.language.lexicon import word_set
from eval.sql.traversal import every

_OF_DATES = {"min": "earliest", "max": "latest"}
_NAMED_BY_SHAPE = ("ratio", "average", "median", "count", "change", "difference")
_SUMS = word_set("total sum amount")
_CALENDAR = word_set("year quarter month week day")
_PLAIN = re.compile(r"[a-z][a-z0-9_]*\Z")


def name_columns(tree: exp.Select, query: Query, vocabulary: Vocabulary, reserved: frozenset[str]) -> exp.Select:
    """Name the computed columns of the outermost select, and those that two tables both have."""
    if (query.shape is not None and query.shape.kind in _NAMED_BY_SHAPE) or query.within:
        return tree
    names: list[tuple[exp.Expression, str]] = []
    for shown, name in zip(list(tree.expressions), result_names(tree, query, vocabulary, reserved), strict=False):
        if name and name != shown.name:
            if not isinstance(shown, exp.Column):
                names.append((shown.copy(), name))
            shown.replace(exp.alias_(shown.copy(), name))
    clauses = [tree.args[name] for name in ("group", "order") if tree.args.get(name) is not None]
    for part in [part for clause in clauses for part in clause.expressions]:
        inner = part.this if isinstance(part, exp.Ordered) else part
        name = next((n for e, n in names if e == inner), "")
        if name:
            inner.replace(exp.column(name))
    return tree


def result_names(tree: exp.Select, query: Query, vocabulary: Vocabulary, reserved: frozenset[str]) -> list[str]:
    """A name for each column shown: its own, or one that says what is computed, or whose it is. No name is given twice;
    "" where none is free."""
    tables = {t.name for t in every(tree, exp.Table)}
    names_in_use = {c.name.lower() for t in tables for c in vocabulary.by_table.get(t, ())} | (reserved - _CALENDAR)
    names: list[str] = []
    for shown, e in zip(tree.expressions, query.select, strict=False):
        if isinstance(shown, exp.Column) and not isinstance(shown.this, exp.Star):
            same = [x for x in tree.expressions if isinstance(x, exp.Column) and x.name == shown.name]
            name = shown.name if len(same) == 1 else _unused(_owner(e, vocabulary), names_in_use, "name")
        elif e.function or e.part or e.since:
            name = _unused(_name(e, vocabulary), names_in_use, "sum" if e.function == "sum" else "count")
        else:
            name = ""
        names_in_use.add(name)
        names.append(name)
    return names


def _owner(e: Expression, vocabulary: Vocabulary) -> str:
    """The name of a column that another table has, too: `category` for the name of a category."""
    assert e.column is not None
    table, column = vocabulary.tables[e.column[0]], vocabulary.columns[e.column]
    if e.via:
        return role(vocabulary.columns[e.column[0], e.via].words)
    named = column in vocabulary.name_columns(e.column[0])
    return "_".join(table.words if named else (*table.words, *column.words))


def role(words: tuple[str, ...]) -> str:
    """What the rows are to those that refer to them, from the words of the referring column: `manager`."""
    return "_".join(w for w in words if w not in ("id", "key", "code", "number"))


def _unused(name: str, names_in_use: set[str], kind: str) -> str:
    if not _PLAIN.match(name):
        return ""
    return next((n for n in (name, f"{name}_{kind}", f"{name}_2", f"{name}_3") if n not in names_in_use), "")


def _name(e: Expression, vocabulary: Vocabulary) -> str:
    if e.part:
        return {"weekday": "weekday", "hour": "hour_of_day"}.get(e.part, e.part)
    if e.function == "count":
        if e.share:
            return "share_percent"
        if e.column is not None:
            return plural_phrase(vocabulary.columns[e.column].words).replace(" ", "_")
        return vocabulary.tables[e.table].plural.replace(" ", "_") if e.table else "number_of_rows"
    if e.since is not None:
        return f"{CALLED[e.function]}_{e.unit}s" if e.function else f"{e.unit}s"
    assert e.column is not None
    column = vocabulary.columns[e.column]
    if e.factor is not None:
        return "revenue" if e.function == "sum" else f"{CALLED[e.function]}_value"
    words = "_".join(column.words)
    if e.function == "sum" and _SUMS & set(column.words):
        return words if column.words[0] == "total" else f"total_{words}"
    function = _OF_DATES.get(e.function) if column.role in ("date", "year") else None
    return f"{function or CALLED[e.function]}_{words}"

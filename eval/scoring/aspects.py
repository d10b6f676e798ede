"""The form of a query in a few words: whether it ranks, counts, sets results against each other, and what it returns.

In: a syntax tree, and its schema where columns matter. Out: for each of `ASPECTS` one label of a small set. Ways of
writing that mean the same (a join and `IN (SELECT ...)`, `INTERSECT` apart) share a label where that is cheap to see.
"""

from __future__ import annotations

from collections.abc import Mapping

from sqlglot import exp

from eval.language.words import name_words
from eval.schema import Schema
from eval.sql.traversal import every, output_select

ASPECTS = ("output", "rank", "having", "sets", "counts", "names", "pattern", "tables")
_MOST_TABLES = 4
_MOST_COLUMNS = 4


def aspects_of(tree: exp.Expr) -> dict[str, str]:
    """A label for each of `ASPECTS`."""
    select = output_select(tree)
    output = [e.unalias() for e in select.expressions] if select is not None else []
    columns = [e for e in output if isinstance(e, exp.Column) and not isinstance(e.this, exp.Star)]
    counts = any(isinstance(e.find(exp.AggFunc), exp.Count) for e in output if not isinstance(e, exp.Subquery))
    names = any({"name", "titl"} & set(name_words(c.name)) for c in columns if not is_key_name(c.name))
    tables = {t.name.casefold() for t in every(tree, exp.Table)}
    return {
        "output": "".join(_letter(e) for e in output[:_MOST_COLUMNS]) or "none",
        "rank": _rank(tree),
        "having": _yes(bool(every(tree, exp.Having)) and not _all_of_several(tree)),
        "sets": _sets(tree),
        "counts": _yes(counts),
        "names": _yes(names),
        "pattern": _yes(bool(every(tree, exp.Like))),
        "tables": str(min(len(tables), _MOST_TABLES)),
    }


def is_key_name(column: str) -> bool:
    parts = name_words(column)
    return bool(parts) and (parts[-1] in ("id", "code", "key", "uid") or column.lower().endswith("id"))


def projected(select: exp.Select | None, schema: Schema) -> frozenset[tuple[str, str]]:
    """The real (table, column) pairs that the SELECT list returns, in aggregates and expressions too."""
    if select is None:
        return frozenset()
    sources = tables_by_alias(select)
    columns: set[tuple[str, str]] = set()
    for expression in select.expressions:
        for column in every(expression, exp.Column):
            columns.update(owners(column, sources, schema)[:1])
    return frozenset(columns)


def tables_by_alias(select: exp.Expr) -> dict[str, str]:
    """The names of the tables that a SELECT and its subqueries read, by what they are called there, folded."""
    return {t.alias_or_name.casefold(): t.name for t in every(select, exp.Table)}


def owners(column: exp.Column, sources: Mapping[str, str], schema: Schema) -> list[tuple[str, str]]:
    """The real (table, column) pairs that a column may be of: that of its qualifier, or of any source."""
    names = [sources.get(column.table.casefold(), "")] if column.table else list(sources.values())
    tables = (table for name in names if (table := schema.table(name)) is not None)
    return [(table.name, known.name) for table in tables if (known := table.column(column.name)) is not None]


def _letter(expression: exp.Expr) -> str:
    """`c` for a column, `a` for an aggregate, `*` for all columns."""
    column = expression.this if isinstance(expression, exp.Column) else expression
    if isinstance(column, exp.Star):
        return "*"
    return "a" if not isinstance(expression, exp.Subquery) and expression.find(exp.AggFunc) is not None else "c"


def _yes(holds: bool) -> str:
    return "yes" if holds else "no"


def _rank(tree: exp.Expr) -> str:
    order, limit = tree.args.get("order"), tree.args.get("limit")
    falling = order is not None and any(o.args.get("desc") for o in order.expressions[:1])
    if order is not None:
        kept = limit.expression.name if limit is not None else None
        which = "order" if kept is None else "first" if kept == "1" else "some"
        return f"{which}_{'desc' if falling else 'asc'}"
    if limit is not None:
        return "limit"
    if any(x.find_ancestor(exp.Subquery) for x in every(tree, exp.Max, exp.Min)):
        return "extreme"
    return "inner" if any(x.find_ancestor(exp.Subquery) for x in every(tree, exp.Limit)) else "none"


def _all_of_several(tree: exp.Expr) -> bool:
    """`x IN (a, b) ... HAVING COUNT(DISTINCT x) = 2`: those that have both, as an intersection would say."""
    having = tree.find(exp.Having)
    count = having.find(exp.Count) if having is not None else None
    return (
        count is not None
        and isinstance(count.this, exp.Distinct)
        and any(len(i.expressions) > 1 for i in every(tree, exp.In))
    )


def _sets(tree: exp.Expr) -> str:
    if every(tree, exp.Intersect) or _all_of_several(tree):
        return "intersect"
    if every(tree, exp.Union):
        return "union"
    return "or" if takes_either(tree) else "none"


def takes_either(tree: exp.Expr) -> bool:
    """OR, or IN with several constants, outside a join's condition."""
    either = any(o.find_ancestor(exp.Join) is None for o in every(tree, exp.Or))
    return either or any(len(i.expressions) > 1 for i in every(tree, exp.In))

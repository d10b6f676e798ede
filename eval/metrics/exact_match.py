"""EM: whether two queries are equal after normalization of irrelevant differences. A diagnostic, never a verdict.

In: two SQL texts and their dialect. Out: equal or not. Case of keywords and names, whitespace, comments, quotes,
aliases and unnecessary qualifiers are normalized on the syntax tree. Two queries that mean the same but are written
differently stay different.
"""

from __future__ import annotations

from collections import Counter
from functools import lru_cache

from sqlglot import exp
from sqlglot.errors import SqlglotError

from eval.schema import Dialect
from eval.sql import parse_normalized
from eval.sql.traversal import every

_COMPARISONS = (exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE, exp.Like, exp.ILike)


def exact_match(gold_sql: str, sql: str, dialect: Dialect) -> bool:
    """True when both texts parse and are equal after normalization."""
    gold, other = canonical(gold_sql, dialect), canonical(sql, dialect)
    return gold is not None and gold == other


@lru_cache(maxsize=512)
def canonical(sql: str, dialect: Dialect) -> str | None:
    """The query in one spelling; None when it is not exactly one statement that parses."""
    tree = parse_normalized(sql, dialect)
    if tree is None:
        return None
    try:
        if dialect == "sqlite":
            # SQLite reads a double-quoted word that names no column as text; next to a comparison, that is the meaning
            for comparison in every(tree, *_COMPARISONS, exp.In, exp.Between):
                others = [comparison.args.get(part) for part in ("expression", "low", "high")]
                for column in [a for a in (*comparison.expressions, *others) if isinstance(a, exp.Column)]:
                    identifier = column.this
                    if not column.table and isinstance(identifier, exp.Identifier) and identifier.quoted:
                        column.replace(exp.Literal.string(identifier.name))
        for node in every(tree, exp.Identifier):
            node.set("this", node.name.lower())
            node.set("quoted", False)
        _plain_tables(tree)
        for select in every(tree, exp.Select):
            _without_output_aliases(select)
        return tree.sql(dialect, copy=False, comments=False, normalize_functions="upper")
    except (SqlglotError, RecursionError):
        return None


def _plain_tables(tree: exp.Expr) -> None:
    """Replace table aliases with the table's own name (numbered when it is used more than once). In a SELECT with only
    one source, columns need no qualifier."""
    sources = every(tree, exp.Table)
    uses = Counter(table.name for table in sources)
    seen: Counter[str] = Counter()
    renamed: dict[tuple[int, str], str] = {}
    for table in sources:
        seen[table.name] += 1
        name = table.name if uses[table.name] == 1 else f"{table.name}_{seen[table.name]}"
        owner = table.find_ancestor(exp.Select)
        renamed[id(owner), table.alias_or_name] = name
        table.set("alias", exp.TableAlias(this=exp.to_identifier(name)) if uses[table.name] > 1 else None)
    for column in every(tree, exp.Column):
        if column.table:
            _requalify(column, renamed)


def _requalify(column: exp.Column, renamed: dict[tuple[int, str], str]) -> None:
    scope = column.find_ancestor(exp.Select)
    while scope is not None:
        name = renamed.get((id(scope), column.table))
        if name is not None:
            single = not scope.args.get("joins") and scope is column.find_ancestor(exp.Select)
            column.set("table", None if single else exp.to_identifier(name))
            return
        scope = scope.find_ancestor(exp.Select)


def _without_output_aliases(select: exp.Select) -> None:
    """Drop the names of output columns, and replace their uses in ORDER BY, GROUP BY or HAVING with the expression."""
    named = {e.alias: e.this for e in select.expressions if isinstance(e, exp.Alias)}
    for clause in ("group", "having", "order"):
        part = select.args.get(clause)
        for column in every(part, exp.Column) if part is not None else []:
            if not column.table and column.name in named:
                column.replace(named[column.name].copy())
    if select.find_ancestor(exp.Subquery, exp.CTE) is None:
        select.set("expressions", [e.this if isinstance(e, exp.Alias) else e for e in select.expressions])

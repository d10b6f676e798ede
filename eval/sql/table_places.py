"""Tables by their full names, for engines that are not to look them up by themselves.

In: the tree of a query. Out: the tree with the place (database or schema, and catalogue) before each table that is no
CTE.
"""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp

from eval.schema import Dialect
from eval.sql.quoted_names import quoted_name
from eval.sql.traversal import every


def in_places(
    tree: exp.Expression, dialect: Dialect, place_of: Callable[[exp.Identifier], tuple[str, ...]]
) -> exp.Expression:
    """`place_of`: the outermost part first; empty leaves the table as it is. The given tree stays."""
    written = tree.copy()
    bare = [t for t in every(written, exp.Table) if isinstance(t.this, exp.Identifier) and not means_cte(t, dialect)]
    aliased: set[str] = set()
    for table in bare:
        if table.db or not (place := place_of(table.this)):
            continue
        if not table.alias:
            alias = table.args.get("alias") or exp.TableAlias()
            alias.set("this", table.this.copy())
            table.set("alias", alias)
            aliased.add(table.name.casefold())
        for part, name in zip(("db", "catalog"), reversed(place), strict=False):
            table.set(part, quoted_name(name))
    for column in every(written, exp.Column):
        if column.args.get("db") and column.table.casefold() in aliased:  # the alias has no schema
            column.set("db", None)
            column.set("catalog", None)
    return written


def means_cte(table: exp.Table, dialect: str) -> bool:
    """Whether the reference can mean a CTE. In SQLite all CTEs of a WITH see each other."""
    if table.args.get("db") is not None or not isinstance(table.this, exp.Identifier):
        return False
    name = table.name.casefold()
    inside: exp.CTE | None = None
    node: exp.Expr | None = table
    while node is not None:
        if isinstance(node, exp.CTE):
            inside = node
        clause = node.args.get("with_")
        if clause is not None and not isinstance(node, exp.CTE):
            for cte in clause.expressions:
                sees = clause.args.get("recursive") or dialect == "sqlite"
                if cte is inside and not sees:
                    break  # it sees only those before it
                if cte.alias.casefold() == name:
                    return True
        node = node.parent
    return False

"""Tables of a query rewritten: by their full names, and narrowed to some of their rows.

`in_places`, for engines that are not to look tables up by themselves, in: the tree of a query. Out: the tree with the
place (database or schema, and catalogue) before each table that is no CTE.

`narrow`, in: a FROM of a bound tree, one of its sources, and a condition by the source's name. The tree is changed in
place: the condition stands where it narrows the rows of that source and no others.
"""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp

from eval.schema import Dialect
from eval.sql.binding import From
from eval.sql.sources import Source, quoted_name
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


def narrow(clause: From, source: Source, test: Callable[[str | None], exp.Expr]) -> None:
    """Put the condition into WHERE, into the ON of an outer join, or into a subquery, where the source has no name."""
    select, node = clause.select, source.node
    assert isinstance(node, exp.Table)
    joins = select.args.get("joins") or []
    join = next((one for one in joins if one.this is node), None)
    start = select.args.get("from_")
    kept = not any((one.side or "").upper() in ("RIGHT", "FULL") for one in joins)
    first = start is not None and start.this is node
    side = (join.side or "").upper() if join is not None else ""
    if kept and (first or (join is not None and not side)):
        select.where(test(source.name), copy=False)
    elif kept and join is not None and side == "LEFT" and join.args.get("on") is not None:
        join.set("on", exp.and_(join.args["on"], test(source.name)))
    else:
        alias = node.args.get("alias") or exp.TableAlias(this=quoted_name(source.name))
        bare = node.copy()
        bare.set("alias", None)
        bare.set("joins", None)
        rows = exp.select("*").from_(bare).where(test(None))
        node.replace(exp.Subquery(this=rows, alias=alias.copy(), joins=node.args.get("joins")))

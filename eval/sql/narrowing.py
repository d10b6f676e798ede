"""A condition on the rows of one source of a query, put where it narrows these rows and no others.

In: a FROM of a bound tree, one of its sources, and the condition by the source's name. The tree is changed in place.
"""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp

from eval.sql.binding import From
from eval.sql.quoted_names import quoted_name
from eval.sql.sources import Source


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

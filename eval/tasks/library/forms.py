"""The tags that name a form of SQL, and which of them a gold query has. They are derived from the query, not chosen.

In: a gold query. Out: tags. The other tags say what a question is about, and only a person can choose them.
"""

from __future__ import annotations

from sqlglot import exp

from eval.sql import parse
from eval.sql.traversal import from_items

FORMS = (
    "aggregate",
    "case",
    "correlated",
    "distinct",
    "group-by",
    "having",
    "join",
    "outer-join",
    "recursive",
    "self-join",
    "set-operation",
    "subquery",
    "window",
)
"""Tags that follow from the gold query's text (SQLite's text, if engines differ)."""


def forms(sql: str) -> tuple[str, ...]:
    """The tags of FORMS that apply to a query. Raises ValueError for a query that does not parse."""
    parsed = parse(sql, "sqlite")
    if parsed.tree is None:
        raise ValueError(parsed.error)
    tree = parsed.tree
    joins = list(tree.find_all(exp.Join))
    selects = list(tree.find_all(exp.Select))
    recursive = [with_ for with_ in tree.find_all(exp.With) if with_.args.get("recursive")]
    steps = [cte.this for with_ in recursive for cte in with_.expressions if _calls_itself(cte)]
    used = {
        "aggregate": isinstance(tree, exp.Select) and not tree.args.get("group") and _aggregates(tree),
        "case": tree.find(exp.Case) is not None,
        "correlated": any(_reaches_out(select) for select in selects),
        "distinct": tree.find(exp.Distinct) is not None,
        "group-by": tree.find(exp.Group) is not None,
        "having": tree.find(exp.Having) is not None,
        "join": bool(joins),
        "outer-join": any(join.side for join in joins),
        "recursive": bool(steps),
        "self-join": any(_joins_itself(select) for select in selects),
        "set-operation": any(operation not in steps for operation in tree.find_all(exp.SetOperation)),
        "subquery": len(selects) > 1,
        "window": tree.find(exp.Window) is not None,
    }
    return tuple(tag for tag in FORMS if used[tag])


def _calls_itself(cte: exp.Expression) -> bool:
    return any(table.name == cte.alias for table in cte.this.find_all(exp.Table))


def _aggregates(select: exp.Select) -> bool:
    return any(
        call.find_ancestor(exp.Select) is select and call.find_ancestor(exp.Window) is None
        for projection in select.selects
        for call in projection.find_all(exp.AggFunc)
    )


def _reaches_out(select: exp.Select) -> bool:
    """Whether the query refers to a source of an enclosing query."""
    own = {source.alias_or_name for inner in select.find_all(exp.Select) for source in from_items(inner)}
    return any(column.table and column.table not in own for column in select.find_all(exp.Column))


def _joins_itself(select: exp.Select) -> bool:
    names = [source.name for source in from_items(select) if isinstance(source, exp.Table)]
    return len(set(names)) < len(names)

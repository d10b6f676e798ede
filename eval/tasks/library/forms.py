"""The tags that name a form of SQL, and which of them a gold query has. They are derived from the query, not chosen.

In: a gold query. Out: tags. The other tags say what a question is about, and only a person can choose them.
"""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp

from eval.sql import parse
from eval.sql.traversal import from_items

_FORMS: dict[str, Callable[[exp.Expr], bool]] = {
    "aggregate": lambda tree: isinstance(tree, exp.Select) and not tree.args.get("group") and _aggregates(tree),
    "case": lambda tree: tree.find(exp.Case) is not None,
    "correlated": lambda tree: any(_reaches_out(select) for select in tree.find_all(exp.Select)),
    "distinct": lambda tree: tree.find(exp.Distinct) is not None,
    "group-by": lambda tree: tree.find(exp.Group) is not None,
    "having": lambda tree: tree.find(exp.Having) is not None,
    "join": lambda tree: tree.find(exp.Join) is not None,
    "outer-join": lambda tree: any(join.side for join in tree.find_all(exp.Join)),
    "recursive": lambda tree: bool(_recursive_steps(tree)),
    "self-join": lambda tree: any(_joins_itself(select) for select in tree.find_all(exp.Select)),
    "set-operation": lambda tree: any(one not in _recursive_steps(tree) for one in tree.find_all(exp.SetOperation)),
    "subquery": lambda tree: len(list(tree.find_all(exp.Select))) > 1,
    "window": lambda tree: tree.find(exp.Window) is not None,
}
FORMS = tuple(_FORMS)
"""Tags that follow from the gold query's text (SQLite's text, if engines differ)."""


def forms(sql: str) -> tuple[str, ...]:
    """The tags of FORMS that apply to a query. Raises ValueError for a query that does not parse."""
    parsed = parse(sql, "sqlite")
    if parsed.tree is None:
        raise ValueError(parsed.error)
    return tuple(tag for tag, applies in _FORMS.items() if applies(parsed.tree))


def _recursive_steps(tree: exp.Expr) -> list[exp.Expr]:
    """The queries of the CTEs that read themselves."""
    recursive = [with_ for with_ in tree.find_all(exp.With) if with_.args.get("recursive")]
    ctes = [cte for with_ in recursive for cte in with_.expressions]
    return [cte.this for cte in ctes if any(table.name == cte.alias for table in cte.this.find_all(exp.Table))]


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

"""Check whether an ORDER BY determines the order of every row; with ties, a gold query would judge by chance.

In: a parsed query. Out: the same query that also returns its sort keys, and one row more than its LIMIT keeps. Two rows
with equal keys are a tie.
"""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp

from eval.sql import ParsedQuery, parsed_from_tree


@dataclass(frozen=True, slots=True)
class KeyedQuery:
    """A query whose last columns are its sort keys."""

    query: ParsedQuery
    width: int
    """Number of columns before the keys."""


def with_sort_keys(parsed: ParsedQuery) -> KeyedQuery | None:
    """None when the outermost query has no ORDER BY, or is DISTINCT or a set operation. In the last two cases the sort
    keys are columns of the result, so two rows can tie only if they look the same."""
    tree = parsed.tree
    if not isinstance(tree, exp.Select) or tree.args.get("distinct") or not tree.args.get("order"):
        return None
    keyed = tree.copy()
    names = {projection.alias_or_name: projection.unalias() for projection in keyed.selects}
    width = len(keyed.selects)
    for number, ordered in enumerate(keyed.args["order"].expressions, 1):
        key = ordered.this
        if isinstance(key, exp.Column) and not key.table and key.name in names:
            key = names[key.name]
        keyed.select(exp.alias_(key.copy(), f"sort_key_{number}"), copy=False)
    limit = keyed.args.get("limit")
    if limit:
        keyed.limit(int(limit.expression.name) + 1, copy=False)
    return KeyedQuery(parsed_from_tree(keyed, parsed.dialect), width)

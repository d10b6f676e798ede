"""Best practices: how readable the SQL is, as written.

`1` less 0.2 for `SELECT *`, 0.15 for computed columns without a name where there are several columns, 0.15 for
unqualified columns in a join, 0.15 for one long line (over 200 characters), 0.15 for comma joins, 0.2 for positions in
ORDER BY or GROUP BY; at least 0.
"""

from __future__ import annotations

from sqlglot import exp

from eval.scoring.types import Case
from eval.sql.traversal import every

LONG_LINE = 200


def best_practices(case: Case) -> tuple[float, str]:
    """The dimension (0..1) and why it is not 1."""
    tree = case.parsed.tree
    if tree is None:
        return 0.0, "There is no query."
    faults = []
    if case.facts.projects_star:
        faults.append((0.2, "it selects every column"))
    select = tree if isinstance(tree, exp.Select) else tree.find(exp.Select)
    if select is not None:
        computed = [e for e in select.expressions if not isinstance(e, exp.Column | exp.Alias | exp.Star)]
        if computed and len(select.expressions) > 1:
            faults.append((0.15, "computed columns have no name"))
        joins = select.args.get("joins") or []
        if joins and any(not c.table for c in every(select, exp.Column)):
            faults.append((0.15, "columns of a join are not qualified"))
        if any(
            not (j.args.get("on") or j.args.get("using") or j.args.get("kind") or j.args.get("method")) for j in joins
        ):
            faults.append((0.15, "tables are joined by commas"))
    if any(len(line) > LONG_LINE for line in case.parsed.text.splitlines()):
        faults.append((0.15, "it is one long line"))
    if any(key.isdecimal() for key, _ in case.facts.order_by) or any(g.isdecimal() for g in case.facts.group_by):
        faults.append((0.2, "it refers to columns by position"))
    value = max(0.0, 1.0 - sum(cost for cost, _ in faults))
    return value, f"Could be clearer: {', '.join(text for _, text in faults)}." if faults else ""

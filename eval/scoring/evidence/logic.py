"""Logic: conditions that undo each other, and what is returned beside a total or is given already."""

from __future__ import annotations

import re

from sqlglot import exp

from eval.scoring.evidence.question_reading import Observation, Observations, Reading
from eval.sql.traversal import every

_THAN_ANY = re.compile(r"\bthan (?:that of )?any\b")


def observe(reading: Reading) -> Observations:
    if any(n.find(exp.NEQ) for n in every(reading.tree, exp.Not) if isinstance(n.this, exp.In)):
        text = "The query excludes those that are excluded: two negations undo each other."
        yield Observation("double_negation", 1, text)
    if _other_extreme(reading.tree):
        yield Observation("extreme_of_other_column", 1, "A column is compared with the extreme of a different column.")
    bare = next((c for s in reading.selects if (c := _beside_a_total(s)) is not None), None)
    of_one = any(c.is_string and c.operator == "=" for c in reading.constants)
    if bare is not None and not of_one:
        text = f"{bare} is returned or ranked beside a total of all rows; it is of any one of them."
        yield Observation("bare_beside_total", 1, text)
    if _only_what_is_given(reading):
        yield Observation("given_returned", 1, "The query returns the very value that it looks for, and nothing else.")
    if _THAN_ANY.search(reading.question):
        yield Observation("than_any", 1)


def _beside_a_total(select: exp.Select) -> str | None:
    """A column beside a count, sum or average without groups, or rows ranked by one: SQLite then takes any row's."""
    if select.args.get("group") is not None:
        return None
    shown = [e.unalias() for e in select.expressions]
    plain = [e.name for e in shown if isinstance(e, exp.Column) and not isinstance(e.this, exp.Star)]
    order = select.args.get("order")
    places = [*shown, *(order.expressions if order is not None else ())]
    totals = [c for e in places for c in every(e, exp.Count, exp.Sum, exp.Avg) if c.find_ancestor(exp.Select) is select]
    if not plain or not any(c.find_ancestor(exp.Window) is None for c in totals):
        return None
    return plain[0]


def _only_what_is_given(r: Reading) -> bool:
    if r.select is None or len(r.selects) > 1:
        return False
    where = r.select.args.get("where")
    if where is None or where.find(exp.Or) or len(r.output) != len(r.output_places):
        return False
    read = [t.name.casefold() for t in every(r.select, exp.Table)]
    if len(set(read)) < len(read):
        return False
    given = {(c.table, c.column) for c in r.constants if c.operator == "=" and c.table and c.column}
    return bool(r.output_places) and r.output_places <= given


def _other_extreme(tree: exp.Expr) -> bool:
    for equality in every(tree, exp.EQ):
        query = equality.right.find(exp.Select) if isinstance(equality.right, exp.Subquery) else None
        if query is None or not isinstance(equality.left, exp.Column) or len(query.expressions) != 1:
            continue
        inner = query.expressions[0].unalias()
        if isinstance(inner, exp.Max | exp.Min) and isinstance(inner.this, exp.Column):
            return inner.this.name.casefold() != equality.left.name.casefold()
    return False

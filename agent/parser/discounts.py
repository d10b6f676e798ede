"""Discounts: revenue from a price and a quantity is what was paid, where the same row holds a discount.

In: a draft, and a function that observes the rows of a query. Out: the draft with each product reduced by the discount
if that is a fraction, and a note that says whether it is.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from agent.knowledge.vocabulary import ColumnWord, Vocabulary
from agent.parser.interpretation import Condition, Expression, Query
from agent.parser.state import Draft

Seen = Callable[[Query], dict[str, float]]


def less_discounts(draft: Draft, words: Vocabulary, observed: Seen) -> None:
    """Reduce the products of the draft's query in place."""
    query = draft.query
    products = {e for e in query.expressions() if e.factor is not None and e.column is not None}
    for table in sorted({t for e in products for t in e.tables}):
        discounts = [c for c in words.by_table[table] if "discount" in c.words and c.numeric]
        if not discounts:
            continue
        if len(discounts) > 1 or not _fraction(discounts[0], observed):
            draft.notes.append("discounts are not subtracted")
            continue
        draft.notes.append("discounts are subtracted")
        query.exchange({e: replace(e, less=discounts[0].key) for e in products if e.factor and e.factor[0] == table})


def _fraction(column: ColumnWord, observed: Seen) -> bool:
    """Whether all values are at most 1, and some are below."""
    if column.words != ("discount",) and column.words[-1] not in ("rate", "fraction"):
        return False
    value = Expression(column=column.key)
    conditions = (Condition(value, ">", (1,)), Condition(value, "between", (0.0001, 0.9999)))
    above, below = (
        observed(Query(select=[Expression("count", table=column.table)], tables=[column.table], where=[(c,)]))
        for c in conditions
    )
    return bool(above) and bool(below) and above["result zero"] == 1.0 and below["result zero"] == 0.0

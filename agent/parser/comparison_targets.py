"""Comparison targets: what a number is compared with: a column, a count of rows, or a sum.

In: a reading at a comparing phrase and its number. Out: the expression on the left of the condition.
"""

from __future__ import annotations

from agent.parser.conditions import target_column
from agent.parser.interpretation import Condition, Expression, Operator
from agent.parser.measures import holds_figures, measure
from agent.parser.question import LinkedQuestion
from agent.parser.state import Context, ReadingState
from eval.language.lexicon import word_set

FLIPPED: dict[str, Operator] = {">": "<", "<": ">", ">=": "<=", "<=": ">="}
_CURRENCIES = word_set("euro euros dollar dollars usd eur pounds gbp yen")
_SOLD = word_set("sold sells sell made earned generated took")


def counted_or_summed(q: LinkedQuestion, r: ReadingState, i: int, j: int) -> Expression | None:
    """What the number at item j counts or sums by its words alone: `3 times`, `spent more than 100`."""
    k = _after_number(q, j)
    return _times_happened(q, r, k) or _amount_of_verb(q, r, i, j, k) or _sum_of_measure(q, r, i, k)


def _after_number(q: LinkedQuestion, j: int) -> int:
    """The item after the number at j, skipping function words."""
    k = j + 1
    while k < len(q.items) and (
        (q.sorts[k] == "word" and q.items[k].lower in ("of", "different", "distinct", "the", "in"))
        or q.items[k].is_keyword("distinct", "post")
    ):
        k += 1
    return k


def _sort(q: LinkedQuestion, k: int) -> str:
    return q.sorts[k] if k < len(q.items) else ""


def _times_happened(q: LinkedQuestion, r: ReadingState, k: int) -> Expression | None:
    """`more than 3 times`: rows of the most recently named table are counted."""
    if k >= len(q.items) or q.items[k].lower not in ("times", "time", "occasions") or not r.entities:
        return None
    r.use(k)
    repeated = [t for t in r.entities if t != (r.head_entity or r.entities[0])]
    return Expression("count", table=(repeated or r.entities)[-1])


def _amount_of_verb(q: LinkedQuestion, r: ReadingState, i: int, j: int, k: int) -> Expression | None:
    """`spent more than 100`, `sold over $5,000`: the verb determines the amount that is summed."""
    money = (k < len(q.items) and q.items[k].lower in _CURRENCIES) or "$" in q.tokens[q.items[j].start].text
    if money and r.verb_measure is None and any(x.lower in _SOLD for x in q.items[max(0, i - 3) : i]):
        r.verb_measure = measure(q, r.entities, "sale")
    if r.verb_measure is None or _sort(q, k) in ("table", "column"):
        return None
    return Expression("sum", r.verb_measure.column, factor=r.verb_measure.factor)


def _sum_of_measure(q: LinkedQuestion, c: Context, i: int, k: int) -> Expression | None:
    """`customers with revenue above 100`: a measure that each customer has in several rows is summed."""
    mention = q.items[i - 1].mention if i and i - 1 in c.consumed else None
    if mention is None or not mention.measure or _sort(q, k) in ("table", "column") or not c.entities:
        return None
    amount = measure(q, c.entities, mention.measure)
    if amount is None or amount.column is None or not q.many_of(c.head_entity or c.entities[0], amount.column[0]):
        return None
    return Expression("sum", amount.column, factor=amount.factor)


def named_target(q: LinkedQuestion, r: ReadingState, i: int, j: int) -> Expression | None:
    """The target named around the number: the column before it, or the column or the counted rows after it; otherwise
    what was compared or shown just before."""
    return _beside_number(q, r, i, j) or _target_of_context(q, r, i)


def _beside_number(q: LinkedQuestion, r: ReadingState, i: int, j: int) -> Expression | None:
    k = _after_number(q, j)
    if _sort(q, k) in ("qualifier", "value") and _sort(q, k + 1) == "table":  # `two or more unpaid bills`
        r.use(k + 1)
        r.entity(q.table_of(k + 1))
        return Expression("count", table=q.table_of(k + 1))
    before, after = target_column(q, r, i), _sort(q, k)
    named_at = r.last_column[0] if r.last_column else -9
    loose = before is None or before.role != "number" or named_at < i - 1 or before.foreign or _weak(q, named_at)
    beside = after == "table" and k == j + 1 and loose
    if not beside and before is not None and (before.numeric or after not in ("table", "column")):
        return Expression(column=before.key)
    if after == "table":
        table = q.table_of(k)
        r.use(k)
        r.entity(table)
        return Expression("count", table=table)
    if after == "column":
        return _column_target(q, r, k)
    mention = q.items[k].mention if after == "measure" else None
    amount = measure(q, r.entities, mention.measure) if mention is not None else None
    if amount is None:
        return None
    r.use(k)
    return Expression("sum", amount.column, factor=amount.factor)


def _column_target(q: LinkedQuestion, r: ReadingState, k: int) -> Expression:
    """A column of numbers is compared directly; for any other column its distinct values are counted."""
    column = r.column_of(k)
    r.use(k)
    if (column.numeric and column.role != "id") or holds_figures(q, column):
        return Expression(column=column.key)
    return Expression("count", column=column.key, table=column.table, distinct=True)


def _target_of_context(q: LinkedQuestion, c: Context, i: int) -> Expression | None:
    """`over 5 and under 10` compares the same column twice; otherwise the number shown is compared."""
    last = c.sink[-1][-1] if c.sink else None
    joined = any(x.is_keyword("and", "or", "relative") for x in q.items[max(0, i - 3) : i])
    if joined and isinstance(last, Condition) and last.operator in FLIPPED:
        return last.left
    shown = c.query.select[-1] if i > 0 and c.query.select else None
    if shown is None or shown.column is None or shown.function or not q.vocabulary.columns[shown.column].numeric:
        return None
    return shown


def _weak(q: LinkedQuestion, at: int) -> bool:
    """Whether the column named at item `at` was matched only through a verb (`advises` for a column `advisor`)."""
    mention = q.items[at].mention if at >= 0 else None
    return mention is not None and bool(mention.columns) and mention.columns[0][1] < 0.9

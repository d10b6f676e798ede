"""Comparison targets: what a number is compared with: a column, a count of rows, or a sum.

In: a reading at a comparing phrase and its number. Out: the expression on the left of the condition, and what the words
around the number add to the reading.
"""

from __future__ import annotations

from agent.parser.conditions import target_column
from agent.parser.interpretation import Condition, Expression, Operator
from agent.parser.measures import measure
from agent.parser.question import LinkedQuestion
from agent.parser.state import Context, Finding
from eval.language.lexicon import word_set

FLIPPED: dict[str, Operator] = {">": "<", "<": ">", ">=": "<=", "<=": ">="}
_CURRENCIES = word_set("euro euros dollar dollars usd eur pounds gbp yen")
_SOLD = word_set("sold sells sell made earned generated took")
Target = tuple[Expression, Finding]
"""What is compared, and the words that name it."""


def counted_or_summed(q: LinkedQuestion, c: Context, i: int, j: int) -> Target | None:
    """What the number at item j counts or sums by its words alone: `3 times`, `spent more than 100`."""
    k = _after_number(q, j)
    if k < len(q.items) and q.items[k].lower in ("times", "time", "occasions") and c.entities:
        # `more than 3 times`: rows of the most recently named table are counted
        repeated = [t for t in c.entities if t != (c.head_entity or c.entities[0])]
        return Expression("count", table=(repeated or c.entities)[-1]), Finding((k,))
    return _amount_of_verb(q, c, i, j, k) or _sum_of_measure(q, c, i, k)


def _after_number(q: LinkedQuestion, j: int) -> int:
    """The item after the number at j, skipping function words."""
    k = j + 1
    while k < len(q.items) and (
        (q.sort(k) == "word" and q.items[k].lower in ("of", "different", "distinct", "the", "in"))
        or q.items[k].is_keyword("distinct", "post")
    ):
        k += 1
    return k


def _amount_of_verb(q: LinkedQuestion, c: Context, i: int, j: int, k: int) -> Target | None:
    """`spent more than 100`, `sold over $5,000`: the verb determines the amount that is summed."""
    money = (k < len(q.items) and q.items[k].lower in _CURRENCIES) or "$" in q.tokens[q.items[j].start].text
    amount = c.verb_measure
    if money and amount is None and any(x.lower in _SOLD for x in q.items[max(0, i - 3) : i]):
        amount = measure(q, c.entities, "sale")
    if amount is None or q.sort(k) in ("table", "column"):
        return None
    summed = Expression("sum", amount.column, factor=amount.factor)
    return summed, Finding(changes={"verb_measure": amount})


def _sum_of_measure(q: LinkedQuestion, c: Context, i: int, k: int) -> Target | None:
    """`customers with revenue above 100`: a measure that each customer has in several rows is summed."""
    mention = q.items[i - 1].mention if i and i - 1 in c.consumed else None
    if mention is None or not mention.measure or q.sort(k) in ("table", "column") or not c.entities:
        return None
    amount = measure(q, c.entities, mention.measure)
    if amount is None or amount.column is None or not q.many_of(c.head_entity or c.entities[0], amount.column[0]):
        return None
    return Expression("sum", amount.column, factor=amount.factor), Finding()


def named_target(q: LinkedQuestion, c: Context, i: int, j: int) -> Target | None:
    """The target named around the number: the column before it, or the column or the counted rows after it; otherwise
    what was compared or shown just before."""
    at, numbered = c.last_column or (-1, None)
    named = numbered is not None and numbered.role == "id" and numbered.words[-1] not in ("id", "number", "code", "key")
    if numbered is not None and named and q.plural(at):  # `respondents over 60`: what numbers them is not compared
        ages = [x for x in q.vocabulary.by_table[numbered.table] if x.words == ("age",) and x.numeric]
        return (Expression(column=ages[0].key), Finding()) if ages else None
    if (beside := _beside_number(q, c, i, j)) is not None:
        return beside
    # `over 5 and under 10` compares the same column twice; otherwise the number shown is compared
    last = c.sink[-1][-1] if c.sink else None
    joined = any(x.is_keyword("and", "or", "relative") for x in q.items[max(0, i - 3) : i])
    if joined and isinstance(last, Condition) and last.operator in FLIPPED:
        return last.left, Finding()
    shown = c.query.select[-1] if i > 0 and c.query.select else None
    column = q.plain_column(shown)
    return (shown, Finding()) if shown is not None and column is not None and column.numeric else None


def _beside_number(q: LinkedQuestion, c: Context, i: int, j: int) -> Target | None:
    k = _after_number(q, j)
    if q.sort(k) in ("qualifier", "value") and q.sort(k + 1) == "table":  # `two or more unpaid bills`
        return _rows_of(q.table_of(k + 1), k + 1)
    before, after = target_column(q, c, i), q.sort(k)
    named_at = c.last_column[0] if c.last_column else -9
    mention = q.items[named_at].mention if named_at >= 0 else None
    weak = mention is not None and bool(mention.columns) and mention.columns[0][1] < 0.9  # `advises` for an advisor
    loose = before is None or before.role != "number" or named_at < i - 1 or before.foreign or weak
    if after == "column" and k == j + 1 and before is not None and named_at < i - 1:
        figure = c.column_of(k, "number")  # `the average fare for more than 3 passengers`
        if figure.is_figure and figure.key != before.key:
            return Expression(column=figure.key), Finding((k,))
    beside = after == "table" and k == j + 1 and loose
    if not beside and before is not None and (before.numeric or after not in ("table", "column")):
        return Expression(column=before.key), Finding()
    if after == "table":
        return _rows_of(q.table_of(k), k)
    if after == "column":
        # A column of numbers is compared directly; for any other column its distinct values are counted
        column = c.column_of(k)
        if column.numeric and column.role != "id":
            return Expression(column=column.key), Finding((k,))
        return Expression("count", column=column.key, table=column.table, distinct=True), Finding((k,))
    mention = q.items[k].mention if after == "measure" else None
    amount = measure(q, c.entities, mention.measure) if mention is not None else None
    if amount is None:
        return None
    return Expression("sum", amount.column, factor=amount.factor), Finding((k,))


def _rows_of(table: str, k: int) -> Target:
    return Expression("count", table=table), Finding((k,), (table,))

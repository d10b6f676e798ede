"""Signal phrases: the effect of `how many`, `average`, `more than`, `for each`, `without` and the like on the query.

In: a reading at a signal phrase. Out: what is counted, summed, grouped or negated from here, and how rows are ordered.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from agent.parser import comparisons, order_by, stored_values, superlatives
from agent.parser.conditions import stock
from agent.parser.question import LinkedQuestion
from agent.parser.state import Context, Finding, Findings
from agent.parser.time_conditions import period
from eval.language.lexicon import word_set

_Rule = Callable[[LinkedQuestion, Context, int, str], Finding]
"""Takes the question, what was read so far, the position of the phrase and the phrase's argument."""
_Steps = Callable[[LinkedQuestion, Context, int], Findings]
"""A rule that goes on after a finding."""
_LISTING = (
    "along with", "along with the", "along with their", "along with its", "together with", "together with the",
    "together with their", "and their", "and its", "with their", "with its", "as well as", "as well as the",
    "as well as their", "and what is", "and what are", "and show", "and list", "and give",
)  # fmt: skip
"""Phrases after which the question names more columns to show."""
_COPULAS = word_set("is are was were")
_KEEPING = _COPULAS | word_set("named called but if")
"""Words after which the clause still refers to the column named before."""


def signal(q: LinkedQuestion, c: Context, i: int) -> Findings:
    """The effect of the signal phrase at item i."""
    keyword = q.keyword(i)
    yield Finding((i,))
    if keyword.kind in _RULES:
        yield _RULES[keyword.kind](q, c, i, keyword.argument)
    elif keyword.kind in _STEPS:
        yield from _STEPS[keyword.kind](q, c, i)


def _count(q: LinkedQuestion, c: Context, i: int, argument: str) -> Finding:
    """`how many orders`, `total number of seats`."""
    following = q.next_mention(i)
    if c.grouping and following is not None and stores_number(q, c, following):
        return Finding()  # `by number of cylinders`: the groups are the numbers themselves
    total = "total number" in q.items[i].lower
    if (c.functions or total) and following is not None and q.sorts[following] == "column":
        column = c.column_of(following, "number")
        if column.is_figure and (c.functions or following <= i + 2):
            summed = total and "sum" not in c.functions
            return Finding(changes={"functions": [*c.functions, "sum"]} if summed else {})
    counting: Literal["distinct", "rows"] = "distinct" if argument == "distinct" else "rows"
    return Finding(changes={"counting": counting, "in_head": True})


def stores_number(q: LinkedQuestion, c: Context, i: int) -> bool:
    """Whether a column that holds a number of things is named at item i."""
    if q.sorts[i] != "column":
        return False
    column = c.column_of(i, "number")
    return column.is_figure and not column.foreign


def _aggregate(q: LinkedQuestion, c: Context, i: int, argument: str) -> Finding:
    """`average price`, `with the maximum price`, `orders with a total above 100`."""
    following = q.next_mention(i)
    extreme = argument in ("max", "min") and not c.in_head and (c.query.select or c.entities)
    if extreme and following is not None and q.sorts[following] == "column":
        return order_by.by_column(q, c, i, following, order_by.Rank(argument == "max", 1, explicit=True))
    # `orders with a total above 100`: a column of the table just named holds the total, so nothing is summed
    last = next((q.table_of(k) for k in range(i - 1, max(-1, i - 4), -1) if q.sorts[k] == "table"), None)
    if q.word(i) == "total" and q.is_keyword(i + 1, "cmp") and last is not None:
        totals = [x for x in q.vocabulary.by_table[last] if "total" in x.words and x.role == "number"]
        if len(totals) == 1:
            return Finding(changes={"last_column": (i, totals[0])})
    return Finding(changes={"functions": [*c.functions, argument]})  # type: ignore[list-item]


def _percent(q: LinkedQuestion, c: Context, i: int, _: str) -> Finding:
    named = next((s for s in q.sorts[i + 1 : i + 5] if s not in ("word", "qualifier", "value", "column")), "")
    # `share of private rooms`, `share of card payments`
    values = [q.mention(k).values for k in range(i + 1, min(i + 5, len(q.items))) if q.sorts[k] == "value"]
    here = not q.named or any(hit.table in q.named for hits in values for hit in hits)  # the table that is named
    described = not named and bool(values) and here
    return Finding(changes={"share": True, "counting": c.counting or "rows"} if named == "table" or described else {})


def _also(q: LinkedQuestion, c: Context, i: int, _: str) -> Finding:
    """`customers along with their orders`: what follows is also shown, next to the name of the first entity."""
    phrase = q.items[i].lower
    if phrase not in _LISTING and "corresponding" not in phrase:
        return Finding()
    unnamed = not c.query.select and c.head_entity is not None and not c.functions and not c.counting
    return Finding(shown=q.named_by(c.head_entity or "") if unnamed else (), changes={"in_head": True})


def _relative(q: LinkedQuestion, c: Context, i: int, _: str) -> Finding:
    """`whose`, `that`, `is`: the restrictions begin, once something is named."""
    phrase = q.items[i].lower
    if not (c.query.select or c.entities) or (phrase in _COPULAS and c.in_head and not c.entities):
        return Finding()
    return Finding(changes={"in_head": False} if phrase in _KEEPING else {"in_head": False, "last_column": None})


_RULES: dict[str, _Rule] = {
    "stock": lambda q, c, _, argument: stock(q, c, argument == "out"),
    "count": _count,
    "agg": _aggregate,
    "like": lambda q, c, i, _: stored_values.pattern(q, c, i),
    "period": lambda q, c, i, _: period(q, c, i) or Finding(doubts=("period_open",)),
    "group": lambda *_: Finding(changes={"grouping": True}),
    "distinct": lambda *_: Finding(changes={"distinct": True}),
    "both": lambda *_: Finding(changes={"both": True}),
    "neg": lambda _q, c, _, __: Finding(
        changes={"negated": True, "in_head": c.in_head and not (c.query.select or c.entities or c.query.where)}
    ),
    "except": lambda *_: Finding(changes={"negated": True, "excepting": True, "in_head": False}),
    "or": lambda _q, c, _, __: Finding(changes={"or_next": not c.in_head}),
    "percent": _percent,
    "also": _also,
    "relative": _relative,
    "dir": lambda q, c, i, argument: order_by.direction(q, c, argument, i),
}
_STEPS: dict[str, _Steps] = {
    **dict.fromkeys(("sup", "sup_adj", "sup_count", "common", "selling"), superlatives.superlative),
    **dict.fromkeys(("cmp", "cmp_adj"), comparisons.comparison),
    "order": order_by.ordering,
}

"""Signal phrases: the effect of `how many`, `average`, `more than`, `for each`, `without` and the like on the query.

In: a reading at a signal phrase. Out: its state: what is counted, summed, grouped or negated, and how rows are ordered.
"""

from __future__ import annotations

from collections.abc import Callable

from agent.knowledge.vocabulary import ColumnWord
from agent.parser import comparisons, order_by, ranks, stored_values, superlatives
from agent.parser.conditions import stock
from agent.parser.interpretation import Expression
from agent.parser.question import LinkedQuestion
from agent.parser.state import ReadingState
from agent.parser.time_conditions import period
from eval.language.lexicon import word_set

_Rule = Callable[[LinkedQuestion, ReadingState, int, str], None]
"""Takes the reading, the position of the phrase and the phrase's argument."""


_LISTING = (
    "along with", "together with", "and their", "and its", "with their", "along with their", "as well as",
    "as well as the", "as well as their", "and what is", "and what are", "and show", "and list", "and give",
)  # fmt: skip
"""Phrases after which the question names more columns to show."""
_COPULAS = word_set("is are was were")
_KEEPING = _COPULAS | word_set("named called but if")
"""Words after which the clause still refers to the column named before."""


def signal(q: LinkedQuestion, r: ReadingState, i: int) -> None:
    """Apply the signal phrase at item i."""
    keyword = q.items[i].keyword
    assert keyword is not None
    r.use(i)
    rule = _RULES.get(keyword.kind)
    if rule is not None:
        rule(q, r, i, keyword.argument)


def _period(q: LinkedQuestion, r: ReadingState, i: int, _: str) -> None:
    if not period(q, r, i):
        r.draft.doubt("period_open")


def _count(q: LinkedQuestion, r: ReadingState, i: int, argument: str) -> None:
    """`how many orders`, `total number of seats`."""
    following = q.next_mention(i)
    totalled = r.functions or "total number" in q.items[i].lower
    if totalled and following is not None and q.sorts[following] == "column":
        column = r.column_of(following, "number")
        figure = column.numeric and column.role == "number"
        if figure and r.functions:
            if "total number" in q.items[i].lower and "sum" not in r.functions:
                r.functions.append("sum")
            return
        if figure and following <= i + 2:
            r.functions.append("sum")
            return
    r.counting = "distinct" if argument == "distinct" else "rows"
    r.in_head = True


def _aggregate(q: LinkedQuestion, r: ReadingState, i: int, argument: str) -> None:
    """`average price`, `with the maximum price`, `orders with a total above 100`."""
    following = q.next_mention(i)
    extreme = argument in ("max", "min") and not r.in_head and (r.query.select or r.entities)
    if extreme and following is not None and q.sorts[following] == "column":
        ranks.extreme_column(q, r, i, following, argument == "max")
        return
    total = _total_column(q, i) if q.items[i].lower == "total" else None
    if total is not None:
        r.last_column = (i, total)
        return
    r.functions.append(argument)  # type: ignore[arg-type]


def _negation(_q: LinkedQuestion, r: ReadingState, _: int, __: str) -> None:
    r.negated = True
    r.in_head = r.in_head and not (r.query.select or r.entities or r.query.where)


def _exception(_q: LinkedQuestion, r: ReadingState, _: int, __: str) -> None:
    r.negated = r.excepting = True
    r.in_head = False


def _alternative(_q: LinkedQuestion, r: ReadingState, _: int, __: str) -> None:
    r.or_next = not r.in_head


def _percent(q: LinkedQuestion, r: ReadingState, i: int, _: str) -> None:
    named = next((s for s in q.sorts[i + 1 : i + 5] if s not in ("word", "qualifier", "value", "column")), "")
    if named == "table":
        r.share = True
        r.counting = r.counting or "rows"


def _also(q: LinkedQuestion, r: ReadingState, i: int, _: str) -> None:
    """`customers along with their orders`: what follows is also shown, next to the name of the first entity."""
    phrase = q.items[i].lower
    if phrase not in _LISTING and "corresponding" not in phrase:
        return
    if not r.query.select and r.head_entity is not None and not r.functions and not r.counting:
        r.query.select.extend(Expression(column=c.key) for c in q.naming_columns(r.head_entity))
    r.in_head = True


def _relative(q: LinkedQuestion, r: ReadingState, i: int, _: str) -> None:
    """`whose`, `that`, `is`: the restrictions begin, once something is named."""
    phrase = q.items[i].lower
    if not (r.query.select or r.entities) or (phrase in _COPULAS and r.in_head and not r.entities):
        return
    r.in_head = False
    if phrase not in _KEEPING:
        r.last_column = None


def _grouping(_q: LinkedQuestion, r: ReadingState, _: int, __: str) -> None:
    r.grouping = True


def _distinct(_q: LinkedQuestion, r: ReadingState, _: int, __: str) -> None:
    r.distinct = True


def _both(_q: LinkedQuestion, r: ReadingState, _: int, __: str) -> None:
    r.both = True


_RULES: dict[str, _Rule] = {
    "period": _period,
    "stock": lambda q, r, _, argument: stock(q, r, argument == "out"),
    "count": _count,
    "agg": _aggregate,
    **dict.fromkeys(
        ("sup", "sup_adj", "sup_count", "common", "selling"), lambda q, r, i, _: superlatives.superlative(q, r, i)
    ),
    **dict.fromkeys(("cmp", "cmp_adj"), lambda q, r, i, _: comparisons.comparison(q, r, i)),
    "like": lambda q, r, i, _: stored_values.pattern(q, r, i),
    "order": lambda q, r, i, _: order_by.ordering(q, r, i),
    "dir": lambda q, r, i, argument: order_by.direction(q, r, argument, i),
    "group": _grouping,
    "distinct": _distinct,
    "both": _both,
    "neg": _negation,
    "except": _exception,
    "or": _alternative,
    "percent": _percent,
    "also": _also,
    "relative": _relative,
}


def _total_column(q: LinkedQuestion, i: int) -> ColumnWord | None:
    """`orders with a total above 100`: a column of the table just named holds the total, so nothing is summed."""
    compared = i + 1 < len(q.items) and q.items[i + 1].is_keyword("cmp")
    last = next((q.table_of(k) for k in range(i - 1, max(-1, i - 4), -1) if q.sorts[k] == "table"), None)
    if not compared or last is None:
        return None
    totals = [c for c in q.vocabulary.by_table[last] if "total" in c.words and c.role == "number"]
    return totals[0] if len(totals) == 1 else None

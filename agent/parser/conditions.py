"""Conditions: which column a clause refers to, and the restrictions of columns that say yes or no or hold a stock.

In: a reading at a mention of a column. Out: the column, or a condition.
"""

from __future__ import annotations

from agent.knowledge.vocabulary import ColumnWord
from agent.parser.interpretation import Condition, Expression
from agent.parser.phrases import participle
from agent.parser.question import LinkedQuestion
from agent.parser.state import Context, Finding
from agent.parser.stored_states import says
from agent.parser.word_lists import word_list
from eval.language.lexicon import word_set

LINKS = word_list("links")
_DENIALS = ("is not", "are not", "was not", "were not")
_DATES_ASKED_FOR = word_set("date day time month year week birthday deadline when")
"""Words of a column that is asked for itself: `due dates in May`."""


def condition_follows(q: LinkedQuestion, in_head: bool, i: int) -> bool:
    """Whether the column at item i is compared with something in the words that follow."""
    item = q.items[i]
    mention = q.mention(i)
    keys = {c.key for c, _ in mention.columns}
    for j in range(i + 1, min(len(q.items), i + 7)):
        other, sort = q.items[j], q.sorts[j]
        if other.is_keyword("cmp") and other.lower in _DENIALS:
            stored = next(
                (x.mention for k, x in enumerate(q.items[j + 1 : j + 4], j + 1) if q.sorts[k] == "value"), None
            )
            return stored is None or bool(stored.stored_in & keys)
        if other.is_keyword("both") and other.lower != "both":
            return False
        if other.is_keyword("cmp", "cmp_adj", "like"):
            timed = other.keyword is not None and other.keyword.argument in ("after", "before")
            plain = [c.role in ("text", "name", "flag") for c, _ in mention.columns[:1]]  # none: a table is named
            return not (timed and any(plain))
        if other.is_keyword("period"):
            if j == i + 1 and item.lower.endswith("ed"):  # `logged last week`
                return True
            # `amount due in May`: the date is that of the amount, and is not asked for
            dates = any(c.role == "date" for c, _ in mention.columns[:1]) and q.sort(i - 1) == "column"
            return dates and not {t.lemma for t in q.tokens[item.start : item.end]} & _DATES_ASKED_FOR
        if other.is_keyword("neg") or (
            other.is_keyword("relative") and other.lower in ("is", "are", "was", "were", "named", "called")
        ):
            continue
        if other.is_keyword("either", "both"):
            continue
        if sort == "literal" or sort == "number":
            return True
        if sort == "value":
            assert other.mention is not None
            direct = all(x.lower in LINKS for x in q.items[i + 1 : j])
            return bool(other.mention.stored_in & keys) or (direct and not in_head)
        if (sort == "word" and other.lower in LINKS) or other.lower in (":", "="):
            continue
        return False
    return False


def deed(q: LinkedQuestion, i: int) -> bool:
    """`kg landed`, `amount paid`: behind a figure, a participle that is a date says what was done to it; it is nothing
    to show or to sort by."""
    named = q.mention(i).columns[:1] if q.sort(i) == "column" else ()
    behind = q.mention(i - 1).columns[:1] if q.sort(i - 1) == "column" else ()
    return (
        any(column.role == "date" for column, _ in named)
        and participle(q.items[i].lower)
        and any(column.is_figure and not column.foreign for column, _ in behind)
    )


_NEXT_CLAUSE = word_set("and who that which whose")


def target_column(q: LinkedQuestion, c: Context, i: int, reach: int = 5) -> ColumnWord | None:
    """The column that the clause at item i refers to, if it was named just before."""
    if c.last_column is None:
        return None
    at, column = c.last_column
    between = (x.lower for x in q.items[at + 1 : i] if x.is_keyword("and", "relative"))
    return column if i - at <= reach and not (c.in_head and not _NEXT_CLAUSE.isdisjoint(between)) else None


def flag(q: LinkedQuestion, column: ColumnWord, negated: bool) -> Finding:
    """`that have wifi`, `without a phone`: a yes-or-no column, or a column that is set or NULL."""
    left = Expression(column=column.key)
    condition = says(q.values, column, not negated)
    if condition is None and column.is_figure:
        facts = q.values.facts(*column.key)
        always = facts.nulls == 0.0 and facts.least == 0  # rows with `no tip` have one of 0
        if always or _STOCKS & set(column.words):
            condition = Condition(left, "=" if negated else ">", (0,))
    condition = condition or Condition(left, "null" if negated else "not null")
    return Finding(clauses=((condition,),), changes={"negated": False})


_STOCKS = word_set("stock inventory quantity")


def stock(q: LinkedQuestion, c: Context, out: bool) -> Finding:
    """`out of stock`, `in stock`: a stock figure that is zero, or above zero."""
    for table in [*c.entities, *q.named]:
        for column in q.vocabulary.by_table[table]:
            if column.role == "number" and {"stock", "inventory"} & set(column.words):
                condition = Condition(Expression(column=column.key), "=" if out else ">", (0,))
                return Finding(clauses=((condition,),), changes={"in_head": False})
    return Finding(doubts=("stock_open",))

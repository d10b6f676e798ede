"""Ranks: what the rows are ranked by: a column, the count of a column's values, a measure, or what the context names.

In: a reading at a superlative, the rows that it asks for. Out: the query's order and limit, or an extreme value shown.
"""

from __future__ import annotations

from dataclasses import dataclass

from agent.knowledge.vocabulary import ColumnWord
from agent.parser.interpretation import Expression, Function, Query
from agent.parser.measures import holds_figures, measure
from agent.parser.question import LinkedQuestion
from agent.parser.state import Draft, ReadingState
from eval.language.lexicon import word_set


@dataclass(frozen=True, slots=True)
class Rank:
    """The rows that a superlative asks for."""

    descending: bool
    limit: int
    explicit: bool
    """The question gives the number of rows."""
    offset: int = 0

    def cut(self, query: Query) -> None:
        query.limit, query.offset = self.limit, self.offset


def by_counted_column(q: LinkedQuestion, r: ReadingState, j: int, rank: Rank) -> None:
    column = r.column_of(j)
    r.use(j)
    expression = Expression("count", column=column.key, table=column.table)
    if column.role == "number" or holds_figures(q, column):
        expression = Expression(column=column.key)
    r.query.order.append((expression, rank.descending))
    rank.cut(r.query)


def by_measure(q: LinkedQuestion, r: ReadingState, j: int, rank: Rank, function: Function) -> None:
    mention = q.items[j].mention
    assert mention is not None
    amount = measure(q, r.entities, mention.measure)
    if amount is None:
        r.draft.doubt("superlative_open")
        return
    r.use(j)
    r.query.order.append((Expression(function or "sum", amount.column, factor=amount.factor), rank.descending))
    rank.cut(r.query)


def by_context(
    query: Query,
    last_column: tuple[int, ColumnWord] | None,
    verb_measure: Expression | None,
    draft: Draft,
    i: int,
    rank: Rank,
    kind: str,
) -> None:
    """No ranking follows the superlative: rank by the verb's amount, the column just named, or a count."""
    if verb_measure is not None:
        measured = verb_measure
        query.order.append((Expression("sum", measured.column, factor=measured.factor), rank.descending))
        query.limit, query.offset = query.limit or rank.limit, rank.offset
    elif last_column is not None and i - last_column[0] <= 3 and last_column[1].role == "number":
        named = last_column[1].key
        query.select = [e for e in query.select if e.column != named]
        query.order.append((Expression(column=named), rank.descending))
        query.limit, query.offset = query.limit or rank.limit, rank.offset
        draft.doubts.pop("column_unused", None)
    elif kind in ("", "sign", "word", "keyword"):
        query.order.append((Expression("count"), rank.descending))
        rank.cut(query)
        draft.doubt("superlative_open")


_ASKING = word_set("what is are show find give list me us return tell whats what's was were get display 's")


def by_column(
    q: LinkedQuestion,
    r: ReadingState,
    i: int,
    j: int,
    rank: Rank,
    function: Function = "",
    alone: bool = False,
) -> None:
    """`alone`: no table was named before the superlative (`the highest product price`)."""
    column = r.column_of(j, "number")
    before = [x for x in q.items[:i] if x.lower not in ("and", ",", "the", "of")]
    only_asking_words = all(x.lower in _ASKING or x.is_keyword("sup", "agg", "relative") for x in before)
    heads = all(e.function in ("max", "min", "avg", "sum", "count") for e in r.query.select)
    r.use(j)
    if (
        r.in_head
        and not rank.explicit
        and (not r.entities or (alone and column.numeric and not i + 2 < j))
        and heads
        and (only_asking_words or r.query.select)
        and not rank.offset
        and not function
    ):
        for pending in (*r.functions, "max" if rank.descending else "min"):
            r.query.select.append(Expression(pending, column.key))  # type: ignore[arg-type]
        r.functions = []
        r.last_column = (j, column)
        return
    numeric: Expression = Expression(function, column.key) if function else Expression(column=column.key)
    figures = column.numeric or holds_figures(q, column)
    if not figures and column.role not in ("date", "year") and not function:
        numeric = Expression("count", column=column.key, table=column.table)
        if q.items[i].lower not in ("most", "least", "fewest"):
            numeric = Expression(column=column.key)
    r.query.order.append((numeric, rank.descending))
    rank.cut(r.query)
    if r.in_head and not r.entities and not r.query.select:
        r.query.select.append(Expression(column=column.key))


def extreme_column(q: LinkedQuestion, r: ReadingState, i: int, j: int, descending: bool) -> None:
    """`with the maximum price` after what to show: rank by the column."""
    by_column(q, r, i, j, Rank(descending, 1, True))

"""Ranks: what the rows are ranked by: a column, the count of a column's values, a measure, or what the context names.

In: a reading at a superlative, the rows that it asks for. Out: the query's order and limit, or an extreme value shown.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from agent.knowledge.vocabulary import ColumnWord
from agent.parser.interpretation import Expression, Function
from agent.parser.measures import measure
from agent.parser.question import LinkedQuestion
from agent.parser.state import Context, Finding
from eval.language.lexicon import word_set


@dataclass(frozen=True, slots=True)
class Rank:
    """The rows that a superlative asks for."""

    descending: bool
    limit: int
    explicit: bool
    """The question gives the number of rows."""
    offset: int = 0


def ranked(expression: Expression, rank: Rank, *used: int) -> Finding:
    """The rows that the rank asks for, ordered by the expression."""
    return Finding(used, order=((expression, rank.descending),), limit=rank.limit, offset=rank.offset)


def by_counted_column(c: Context, j: int, rank: Rank) -> Finding:
    column = c.column_of(j)
    if column.role == "number":
        return ranked(Expression(column=column.key), rank, j)
    return ranked(Expression("count", column=column.key, table=column.table), rank, j)


def by_measure(q: LinkedQuestion, c: Context, j: int, rank: Rank, function: Function) -> Finding:
    mention = q.mention(j)
    amount = measure(q, c.entities, mention.measure)
    if amount is None:
        return Finding(doubts=("superlative_open",))
    return ranked(Expression(function or "sum", amount.column, factor=amount.factor), rank, j)


def by_context(c: Context, i: int, rank: Rank, kind: str) -> Finding:
    """No ranking follows the superlative: rank by the verb's amount, the column just named, or a count."""
    limit = c.query.limit or rank.limit
    if c.verb_measure is not None:
        amount = Expression("sum", c.verb_measure.column, factor=c.verb_measure.factor)
        return replace(ranked(amount, rank), limit=limit)
    if c.last_column is not None and i - c.last_column[0] <= 3 and c.last_column[1].role == "number":
        named = c.last_column[1].key
        hidden = [e for e in c.query.select if e.column == named]
        by_column = ranked(Expression(column=named), rank)
        return replace(by_column, hidden=hidden, limit=limit, settled=("column_unused",))
    if kind in ("", "sign", "word", "keyword"):
        return replace(ranked(Expression("count"), rank), doubts=("superlative_open",))
    return Finding()


_ASKING = word_set("what is are show find give list me us return tell whats what's was were get display 's")


def by_column(
    q: LinkedQuestion,
    c: Context,
    i: int,
    j: int,
    rank: Rank,
    function: Function = "",
    alone: bool = False,
    column: ColumnWord | None = None,
) -> Finding:
    """`alone`: no table was named before the superlative (`the highest product price`)."""
    column = column or c.column_of(j, "number")
    before = [x for x in q.items[:i] if x.lower not in ("and", ",", "the", "of")]
    only_asking_words = all(x.lower in _ASKING or x.is_keyword("sup", "agg", "relative") for x in before)
    heads = all(e.function for e in c.query.select) and (only_asking_words or c.query.select)
    unnamed = not c.entities or (alone and column.numeric and not i + 2 < j)
    if c.in_head and heads and unnamed and not (rank.explicit or rank.offset or function):
        functions: tuple[Function, ...] = (*c.functions, "max" if rank.descending else "min")
        shown = tuple(Expression(pending, column.key) for pending in functions)
        return Finding((j,), shown=shown, changes={"functions": [], "last_column": (j, column)})
    numeric = Expression(function, column.key)
    figures = column.numeric or column.role in ("date", "year")
    if not function and q.items[i].lower in ("most", "least", "fewest"):
        if not figures:
            numeric = Expression("count", column=column.key, table=column.table)
        elif (
            column.role == "number"
            and (q.plural(j) or q.items[j].lower == column.unit)  # `the most kg`
            and q.many_of(c.main_entity, column.table)
            and of_all(q)
        ):
            numeric = Expression("sum", column.key)  # the guest with the most nights
    finding = ranked(numeric, rank, j)
    alone_shown = c.in_head and not c.entities and not c.query.select
    return replace(finding, shown=(Expression(column=column.key),)) if alone_shown else finding


def of_all(q: LinkedQuestion) -> bool:
    """Whether all rows of a thing count together, not `in a single day`, `at once`."""
    return not any(token.lower in ("any", "one", "single", "once") for token in q.tokens)

"""Sort orders: `sorted by price descending`, `alphabetically`.

In: a reading at an ordering phrase. Out: its query's order.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from agent.parser.conditions import condition_follows
from agent.parser.interpretation import (
    Expression,
    Function,
)
from agent.parser.measures import measure, property_of
from agent.parser.question import LinkedQuestion
from agent.parser.state import Context
from eval.language.lexicon import adjectives, word_set

if TYPE_CHECKING:
    from agent.knowledge.vocabulary import ColumnWord
    from agent.parser.state import ReadingState

_PLACED = word_set("rank ranking position place standing order")
"""Words of columns in which the lowest number is the best."""
_BETWEEN_TERMS = word_set("the of their its by each both in from first his amount a an")


def ordering(q: LinkedQuestion, r: ReadingState, i: int) -> None:
    """`sorted by price descending`."""
    keyword = q.items[i].keyword
    assert keyword is not None
    if keyword.argument == "basis":
        if not basis(q, r, i):
            r.draft.used.difference_update(range(q.items[i].start, q.items[i].end))
    else:
        order_terms(q, r, i, keyword.argument)


def basis(q: LinkedQuestion, r: ReadingState, i: int) -> bool:
    """`the 3 most recent orders based on order date`, `by delivery date`: the words at item i give the column for a
    rank that an adjective named. Without such a rank they have no meaning here."""
    following = q.next_mention(i)
    ranked = r.query.order[0][0] if len(r.query.order) == 1 and r.query.limit is not None else None
    if ranked is None or ranked.function or ranked.column is None or following is None or following > i + 3:
        return False
    column = r.column_of(following) if q.sorts[following] == "column" else None
    if column is None or column.role not in ("number", "date", "year") or column.table != ranked.column[0]:
        return False
    r.use(following)
    r.query.order = [(Expression(column=column.key), r.query.order[0][1])]
    return True


@dataclass
class _Terms:
    """The terms of an order, while they are read."""

    argument: str
    """`asc`, `desc`, `rank` (the best first), or `*` once a direction was given."""
    rank: bool
    function: Function = ""
    counting: bool = False
    has_term: bool = False
    direction_before: str = ""
    """A direction given before any term."""


def order_terms(q: LinkedQuestion, r: ReadingState, i: int, argument: str, rank: bool = False) -> None:
    """Read the columns, tables, measures and directions that follow item i as the query's order."""
    terms = _Terms(argument, rank)
    was_head, r.in_head = r.in_head, False
    j: int | None = i + 1
    while j is not None and j < len(q.items):
        j = _order_term(q, r, i, j, terms)
    total = _column_called_total(q, r) if not terms.has_term and terms.function == "sum" else None
    if total is not None:
        summed: Function = "sum" if q.many_of(r.main_entity, total.table) else ""
        r.query.order.append((Expression(summed, total.key), terms.argument in ("desc", "rank")))
    elif not terms.has_term and terms.direction_before:
        direction(q, r, terms.direction_before, i)
    elif not terms.has_term:
        if q.items[i].lower != "listed" and not any(x.is_keyword("dir") for x in q.items):
            r.draft.doubt("order_open")  # `the reviewers listed` requests no order
        r.in_head = was_head


def _order_term(q: LinkedQuestion, r: ReadingState, i: int, j: int, terms: _Terms) -> int | None:
    """Read item j as a part of the order. Returns the position of the next item, or None when the order has ended."""
    x, sort = q.items[j], q.sorts[j]
    if x.is_keyword("dir"):
        _direction_term(q, r, j, terms)
        return j + 1
    if (sort == "word" and x.lower in _BETWEEN_TERMS) or x.is_keyword("and", "distinct", "also") or x.lower == ",":
        return j + 1
    expression: Expression | None = None
    counted = terms.counting or (terms.rank and j == i + 1 and not terms.function and sort == "table")
    counted_rows = next((e for e in r.query.select if e.function == "count"), None)
    if counted_rows is not None and x.lower in ("count", "counts") and not x.is_keyword():
        expression = counted_rows  # `show … and the count, sorted by the count`
    elif x.is_keyword("agg"):
        terms.function = x.keyword.argument  # type: ignore[union-attr,assignment]
    elif x.is_keyword("count"):
        terms.counting = True
    elif sort == "column" and not clause_starts(q, r.in_head, j):
        expression = _column_term(r, j, terms)
    elif sort == "table" and counted and (terms.counting or not _its_column(q, j)):
        expression = Expression("count", table=q.table_of(j))
        r.entity(q.table_of(j))
    elif sort == "table":
        after = _owner_of_terms(q, r, j, terms)
        if after is not None:
            return after
        if terms.has_term:
            return None
        shown = q.naming_columns(q.table_of(j))
        expression = Expression(column=shown[0].key) if shown else None
    elif sort == "measure":
        assert x.mention is not None
        known = measure(q, r.entities, x.mention.measure)
        expression = Expression(terms.function or "sum", known.column, factor=known.factor) if known else None
    else:
        return None
    r.use(j)
    if expression is not None:
        _add_term(q, r, expression, terms)
    return j + 1


def _direction_term(q: LinkedQuestion, r: ReadingState, j: int, terms: _Terms) -> None:
    keyword = q.items[j].keyword
    assert keyword is not None
    if terms.has_term:
        direction(q, r, keyword.argument, j)
        terms.argument = "*"
    else:
        terms.direction_before = keyword.argument
        terms.argument = "desc" if terms.direction_before in ("desc", "alpha_desc") else "asc"
    r.use(j)


def _column_term(r: ReadingState, j: int, terms: _Terms) -> Expression:
    column = r.column_of(j)
    if terms.counting and not (column.numeric and column.role == "number" and not column.foreign):
        return Expression("count", column=column.key, table=column.table)
    return Expression(terms.function, column.key)


def _owner_of_terms(q: LinkedQuestion, r: ReadingState, j: int, terms: _Terms) -> int | None:
    """`by payment amount`, `sort the products by price`: the table at item j only gives the owner of the columns that
    follow."""
    table = q.table_of(j)
    by = not terms.has_term and j + 1 < len(q.items) and q.items[j + 1].lower == "by"
    words = 1 if _its_column(q, j) else 2 if by else 0
    if not words:
        return None
    r.entity(table)
    for k in range(j, j + words):
        r.use(k)
    return j + words


def _add_term(q: LinkedQuestion, r: ReadingState, expression: Expression, terms: _Terms) -> None:
    if not any(known == expression for known, _ in r.query.order):
        down = terms.argument == "desc" or (terms.argument == "rank" and _more_is_better(q, expression))
        r.query.order.append((expression, down))
        r.figure_ranked = r.figure_ranked or (terms.argument == "rank" and bool(expression.function))
    terms.has_term, terms.counting, terms.function = True, False, ""


def _column_called_total(q: LinkedQuestion, c: Context) -> ColumnWord | None:
    """`customers by total`: the word is the name of their column, or of a column of the rows that refer to them."""
    entity = c.main_entity
    below = [e.left for e in q.graph.edges(entity) if e.right == entity] if entity else []
    for table in dict.fromkeys((*c.entities, *below)):
        totals = [c for c in q.vocabulary.by_table[table] if c.words == ("total",) and c.role == "number"]
        if totals:
            return totals[0]
    return None


def _more_is_better(q: LinkedQuestion, expression: Expression) -> bool:
    """`ranked by sales`: figures rank in descending order, names and places in ascending order."""
    column = q.vocabulary.columns.get(expression.column) if expression.column else None
    if column is None or expression.function:
        return bool(expression.function)
    return column.role == "number" and not _PLACED & set(column.words)


def _its_column(q: LinkedQuestion, j: int) -> bool:
    """`by payment amount`: a column of the table at item j follows it."""
    return j + 1 < len(q.items) and q.sorts[j + 1] == "column" and q.holds(j + 1, q.table_of(j))


def clause_starts(q: LinkedQuestion, in_head: bool, j: int) -> bool:
    """Whether the column at item j starts a condition rather than another sort term."""
    return condition_follows(q, in_head, j) and any(x.is_keyword("relative", "cmp") for x in q.items[max(0, j - 1) : j])


def direction(q: LinkedQuestion, r: ReadingState, argument: str, i: int) -> None:
    """`descending`, `alphabetically`: the direction of the named sort order, or of the first column shown."""
    if not r.query.select and not r.query.order:
        r.waiting_direction = argument
        return
    descending = argument in ("desc", "alpha_desc")
    if argument in ("young", "old"):
        age = property_of(q, r, adjectives()["old"][0], i)
        if age is not None:
            column, sign = age
            wanted = (sign > 0) == (argument == "old")
            r.query.order = [(Expression(column=column.key), wanted)]
        return
    if r.query.order and r.query.limit is None:
        if argument in ("asc", "desc", "alpha_desc"):
            expression, _ = r.query.order[-1]
            r.query.order[-1] = (expression, descending)
        return
    plain = [e for e in r.query.select if not e.function or argument in ("asc", "desc")]
    if plain:
        best = next((e for e in plain if e.column and q.vocabulary.columns[e.column].role == "name"), plain[0])
        r.query.order.append((best, descending))
    else:
        for table in r.entities[:1]:
            shown = q.naming_columns(table)
            if shown:
                r.query.order.append((Expression(column=shown[0].key), descending))

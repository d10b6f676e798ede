"""Repairs: complete queries that cannot be meant as they were read.

In: a draft and its reader. Out: the same draft, in which figures are compared for each row of the requested entity, and
lists `by` a measure show the entities of that measure.
"""

from __future__ import annotations

from collections.abc import Sequence

from agent.parser.interpretation import Condition, Expression, Membership, Query, Shape
from agent.parser.question import LinkedQuestion
from agent.parser.state import Draft


def repaired(draft: Draft, q: LinkedQuestion) -> None:
    """Complete the draft's query in place."""
    query = draft.query
    if query.shape is None and query.intersect is None and not query.within:
        if query.having and not query.group:
            _having_per_row(query, q, draft.entities)
        elif not query.group and not query.having and query.limit is None:
            _ranked_by_measure(query, q)
    _average_of_rows(query, q)
    _without_repeats(query, q)
    if not query.order and query.limit is None and query.group and any(e.part for e in query.group):
        query.order = [(e, False) for e in query.group if e.part]
    _highest_first(query, q)


def _without_repeats(query: Query, q: LinkedQuestion) -> None:
    """`customers with orders in 2023 but none in 2024`: each customer once, regardless of the number of orders."""
    absent = any(isinstance(c, Membership) for clause in query.where for c in clause)
    shown = {e.column[0] for e in query.select if e.column and not e.function}
    if not absent or query.aggregates() or query.group or query.order or len(shown) != 1:
        return
    others = {t for clause in query.where for c in clause if isinstance(c, Condition) for t in c.tables} - shown
    query.distinct = query.distinct or any(q.many_of(next(iter(shown)), t) for t in others)


def _highest_first(query: Query, q: LinkedQuestion) -> None:
    """`customers by country`: groups without an order of their own are ranked by their figure."""
    figures = [e for e in query.select if e.function]
    if query.order or query.limit is not None or len(figures) != 1 or not query.group or query.within:
        return
    columns = [q.vocabulary.columns[e.column] for e in query.group if e.column is not None]
    ordered = any(c.role in ("date", "year") or (c.role == "number" and not c.foreign) for c in columns)
    if query.shape is None and not ordered and query.intersect is None and figures[0] in query.select:
        query.default_order = [(figures[0], True)]


def _average_of_rows(query: Query, q: LinkedQuestion) -> None:
    """`average seats per subscription`: over the rows of the table that holds the seats, not one row at a time."""
    figures = [e for e in query.select if e.function]
    tables = {t for e in (*query.select, *query.group) for t in e.tables} | set(query.tables)
    if len(figures) != 1 or figures[0].function != "avg" or len(tables) != 1 or query.having or query.within:
        return
    key = q.vocabulary.key_column(next(iter(tables)))
    if key is None or Expression(column=key.key) not in query.group or query.limit is not None:
        return
    query.select, query.group, query.order = figures, [], []


def _having_per_row(query: Query, q: LinkedQuestion, entities: Sequence[str]) -> None:
    """`customers with revenue over 1000`: the figure is compared for each customer."""
    figures = [c.left for c in query.having]
    entity = next((t for t in entities if t in q.named), "")
    holders = {t for e in figures for t in e.tables}
    key = q.vocabulary.key_column(entity) if entity else None
    if key is None or (entity in holders and all(e.function != "count" for e in figures)):
        return
    counts = [e for e in query.select if e.function == "count"]
    rest = [e for e in query.select if e.function and e not in figures and e not in counts]
    if rest or any(e.column and e.column[0] != entity and not e.function for e in query.select):
        return
    shown = [Expression(column=c.key) for c in q.naming_columns(entity)]
    query.group = list(dict.fromkeys([Expression(column=key.key), *shown]))
    if counts and all(e not in figures for e in counts):
        query.shape = Shape("count")
        query.select = [Expression(column=key.key)]
    else:
        plain = [e for e in query.select if not e.function]
        query.select = list(dict.fromkeys([*(plain or shown), *figures]))
        query.group = list(dict.fromkeys([*query.group, *plain]))
    query.tables = list(dict.fromkeys([entity, *query.tables]))


def _ranked_by_measure(query: Query, q: LinkedQuestion) -> None:
    """`customers by revenue`: each customer's revenue, the highest first."""
    kinds = [q.sorts[k] if q.sorts[k] in ("table", "measure") else x.lower for k, x in enumerate(q.items[:3])]
    if kinds != ["table", "by", "measure"] or len(query.select) != 1 or not query.select[0].function:
        return
    table, figure = q.table_of(0), query.select[0]
    key = q.vocabulary.key_column(table)
    shown = [Expression(column=c.key) for c in q.naming_columns(table)]
    query.select = [*shown, figure]
    query.group = list(dict.fromkeys([*([Expression(column=key.key)] if key else []), *shown]))
    query.order = [(figure, True)]
    query.tables = list(dict.fromkeys([table, *query.tables]))

"""Settling: what the words left open is decided once all are read: what to show, what to group by, what to join.

In: a `Reader` after its pass. Out: its draft's query, complete.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent.models.offline.interpretation import ColumnKey, Condition, Expression, Membership, Query

if TYPE_CHECKING:
    from agent.models.offline.reader import Reader


def settle(r: Reader) -> None:
    """Complete the query of a reader."""
    query = r.query
    if r.counting and not query.select:
        _count_entity(r)
    if r.functions and not query.select:
        r.draft.doubt("aggregate_open")
    _show_something(r)
    _group(r)
    _both(r)
    if r.distinct and not query.aggregates() and query.select:
        query.distinct = True
    tables = list(dict.fromkeys(r.entities))
    query.tables = tables
    query.select = list(dict.fromkeys(query.select))
    _name_tables(r)


def _count_entity(r: Reader) -> None:
    if r.entities:
        r.query.select.append(Expression("count", table=r.entities[0]))
    elif any(isinstance(c, Condition) and c.left.column for clause in r.query.where for c in clause):
        first = next(c for clause in r.query.where for c in clause if isinstance(c, Condition) and c.left.column)
        assert first.left.column is not None
        r.query.select.append(Expression("count", table=first.left.column[0]))
        r.draft.doubt("entity_guessed")


def _show_something(r: Reader) -> None:
    """A question that named no column shows what its entity is called."""
    query = r.query
    plain = [e for e in query.select if not e.function]
    if query.select and not (r.groups and not plain):
        return
    if query.select:
        return
    entity = r.head_entity or (r.entities[0] if r.entities else None)
    if entity is None:
        for clause in query.where:
            for c in clause:
                if isinstance(c, Condition) and c.left.column:
                    entity = c.left.column[0]
                    r.draft.doubt("entity_guessed")
                    break
    if entity is None and query.order and query.order[0][0].column:
        entity = query.order[0][0].column[0]
        r.draft.doubt("entity_guessed")
    if entity is None:
        return
    r.entity(entity)
    query.select.extend(Expression(column=c.key) for c in r.shown(entity))
    r.draft.doubt("shown_by_default")


def _entity_key(r: Reader, table: str) -> ColumnKey | None:
    key = r.vocabulary.key_column(table)
    return key.key if key is not None else None


def _group(r: Reader) -> None:
    query = r.query
    aggregated = query.aggregates() or any(e.function for e, _ in query.order) or bool(query.having)
    if not aggregated:
        for kind, _ in r.groups:
            if kind == "column":
                r.draft.doubt("group_without_aggregate")
        for kind, what in r.groups:
            if kind == "column" and not query.order:
                query.select.insert(0, Expression(column=what))  # type: ignore[arg-type]
        return
    plain = [e.column for e in query.select if not e.function and e.column]
    keys: list[ColumnKey] = []
    for kind, what in r.groups:
        if kind == "table":
            table = str(what)
            shown = [c.key for c in r.shown(table)]
            key = _entity_key(r, table)
            own = [p for p in plain if p[0] == table or p in shown]
            if key is not None:
                keys.append(key)
            keys.extend(shown if not own else [])
            if not own and not plain:
                query.select[:0] = [Expression(column=c) for c in shown]
        else:
            keys.append(what)  # type: ignore[arg-type]
            if what not in plain and query.aggregates():
                query.select.insert(0, Expression(column=what))  # type: ignore[arg-type]
    plain = [e.column for e in query.select if not e.function and e.column]
    if plain or keys:
        entity = plain[0][0] if plain else None
        if not r.groups and entity is not None and plain:
            key = _entity_key(r, entity)
            named = {c.key for c in r.shown(entity)}
            if key is not None and (any(p in named for p in plain) or any(p == key for p in plain)):
                keys.append(key)
        query.group = list(dict.fromkeys([*keys, *plain]))
    counted = [e for e, _ in query.order if e.function == "count" and e.table is None and e.column is None]
    if counted and not query.group:
        r.draft.doubt("superlative_open")


def _both(r: Reader) -> None:
    """`both A and B` on one column cannot hold in one row: rows of the first, kept if among rows of the second."""
    query = r.query
    if not r.both:
        return
    equal = [
        (k, clause[0])
        for k, clause in enumerate(query.where)
        if len(clause) == 1 and isinstance(clause[0], Condition) and clause[0].operator == "="
    ]
    for a in range(len(equal)):
        for b in range(a + 1, len(equal)):
            if equal[a][1].left == equal[b][1].left:
                other = Query(
                    select=list(query.select),
                    tables=list(dict.fromkeys(r.entities)),
                    where=[c for k, c in enumerate(query.where) if k != equal[a][0]],
                )
                query.where = [c for k, c in enumerate(query.where) if k != equal[b][0]]
                query.intersect = other
                return


def _name_tables(r: Reader) -> None:
    """Put the entity first: the table of what is shown."""
    query = r.query
    first = [t for e in query.select for t in e.tables]
    absent = {c.table for clause in query.where for c in clause if isinstance(c, Membership)}
    query.tables = [t for t in dict.fromkeys([*first, *query.tables]) if t not in absent or t in first]
    if query.intersect is not None:
        query.intersect.tables = list(query.tables)
        query.intersect.select = list(query.select)

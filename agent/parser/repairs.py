"""Repairs: complete queries that cannot be meant as they were read.

In: a draft and its reader. Out: the same draft, in which figures are compared for each row of the requested entity, and
lists `by` a measure show the entities of that measure.
"""

from __future__ import annotations

from dataclasses import replace

from agent.knowledge.vocabulary import ColumnWord
from agent.parser.interpretation import Condition, Expression, Membership, Query, Shape
from agent.parser.joins import Edge
from agent.parser.question import LinkedQuestion
from agent.parser.state import Draft
from eval.language.inflection import lemma, root
from eval.language.lexicon import word_set


def repaired(draft: Draft, q: LinkedQuestion) -> None:
    """Complete the draft's query in place."""
    query = draft.query
    plain = query.shape is None and query.intersect is None and not query.within
    for complete in (_having_per_row, _ranked_by_measure) if plain else ():
        complete(draft, q)
    for complete in (
        _rows_of_one,
        _total_of_totals,
        _named_instead_of_keyed,
        _without_repeats,
        _absent_by_shown,
        _ordered_by_time,
        _highest_first,
    ):
        complete(draft, q)


def _absent_by_shown(draft: Draft, q: LinkedQuestion) -> None:
    """`countries without departures`: countries none of whose places has one, rather than each place without one."""
    query = draft.query
    column = _only_column(query, q)
    if column is None or column.role != "text" or column.foreign or column in q.vocabulary.name_columns(column.table):
        return
    absent = [p for p in query.restrictions() if isinstance(p, Membership) and p.negated and p.of == column.table]
    if len(absent) == len(query.where) == 1:
        query.where = [(replace(absent[0], key=column.key),)]
        query.distinct = True


def _only_column(query: Query, q: LinkedQuestion) -> ColumnWord | None:
    """The column that a query lists as it is, and nothing else."""
    shown = query.select[0].column if len(query.select) == 1 else None
    listed = query.select == [Expression(column=shown)] and not (query.group or query.order)
    return q.vocabulary.columns.get(shown) if shown is not None and listed else None


def _total_of_totals(draft: Draft, q: LinkedQuestion) -> None:
    """`state the total amount invoiced in 2025`: a sum, although a column is called the total amount of each row."""
    query = draft.query
    column = _only_column(query, q)
    if column is None or column.words[0] != "total" or not column.numeric:
        return
    words = [t.lower for t in q.tokens]
    named = words[words.index("total") - 1 :][:3] if "total" in words[1:] else []
    kept = (p.left.column if isinstance(p, Condition) else None for p in query.restrictions())
    many = all(key is not None and q.vocabulary.columns[key].role in ("date", "year", "text") for key in kept)
    if query.where and many and named[:1] == ["the"] and named[-1:] == [lemma(named[-1])]:
        query.select = [Expression("sum", column.key)]


def _rows_of_one(draft: Draft, q: LinkedQuestion) -> None:
    """`how many dogs`: one kind of animal is always one; the rows that are of it are counted."""
    query = draft.query
    fixed = {c.left.column for c in query.conditions() if c.operator == "=" and len(c.values) == 1}
    for count in [e for e in query.select if e.function == "count" and not e.column and e.table]:
        own = q.vocabulary.tables[count.table or ""]
        keys = {(own.name, name) for name in own.table.primary_key}
        referring = q.graph.referring(own.name)
        if keys and keys <= fixed and len(own.table.columns) == 1 and len(referring) == 1 and not query.group:
            rows = replace(count, table=referring[0])
            query.select = [rows if e is count else e for e in query.select]
            query.tables = [referring[0] if t == own.name else t for t in query.tables]
            draft.notes.append(f"{q.vocabulary.tables[referring[0]].plural} are counted")


def _without_repeats(draft: Draft, q: LinkedQuestion) -> None:
    """`customers with orders of tea`: each customer once, whatever the number of their orders. Two customers of one
    name stay two."""
    query = draft.query
    shown = {e.column for e in query.select if e.column}
    tables = {table for table, _ in shown}
    if query.aggregates() or query.group or query.order or query.distinct or len(tables) != 1:
        return
    (table,) = tables
    one = q.one_row(table)
    absent = any(isinstance(part, Membership) for part in query.restrictions())
    joined = {*query.tables, *(t for c in query.conditions() for t in c.tables)} - tables
    names = {c.key for c in q.vocabulary.name_columns(table)} | {e.column for e in one}
    if table in q.named:
        names |= {c.key for c in q.vocabulary.by_table[table] if _CONTACTS & set(c.words)}
    instead = "shown_by_default" in draft.doubts and draft.entities[:1] != [table]  # payments, by their customers
    if (absent or (shown <= names and not instead)) and any(q.many_of(table, t) for t in joined):
        query.distinct = one[0].column in shown
        query.group = [] if query.distinct else list(dict.fromkeys([*one, *query.select]))


_CONTACTS = word_set("email phone mobile fax address")


def _ordered_by_time(draft: Draft, q: LinkedQuestion) -> None:
    """`parcels collected per month`: in order of time, without the rows that have no date and belong to no month."""
    query = draft.query
    parted = [e for e in query.group if e.part]
    if query.order or query.limit is not None or not parted:
        return
    query.order = [(e, False) for e in parted]
    restricted = {c.left.column for c in query.conditions()}
    for date in [e.column for e in parted if e.column is not None and not query.keep_empty]:
        if date not in restricted and q.vocabulary.columns[date].column.nullable:
            query.where.append((Condition(Expression(column=date), "not null"),))


def _highest_first(draft: Draft, q: LinkedQuestion) -> None:
    """`customers by country`: groups without an order of their own are ranked by their figure."""
    query = draft.query
    figures = [e for e in query.select if e.function]
    if query.order or query.limit is not None or len(figures) != 1 or not query.group or query.within:
        return
    columns = [q.vocabulary.columns[e.column] for e in query.group if e.column is not None]
    ordered = any(c.role in ("date", "year") or (c.role == "number" and not c.foreign) for c in columns)
    if query.shape is None and not ordered and query.intersect is None and figures[0] in query.select:
        query.default_order = [(figures[0], True)]


def _having_per_row(draft: Draft, q: LinkedQuestion) -> None:
    """`customers with revenue over 1000`: the figure is compared for each customer."""
    query = draft.query
    if not query.having or query.group:
        return
    figures = [c.left for c in query.having]
    entity = next((t for t in draft.entities if t in q.named), "")
    holders = {t for e in figures for t in e.tables}
    key = q.vocabulary.key_column(entity) if entity else None
    if key is None or (entity in holders and all(e.function != "count" for e in figures)):
        return
    counts = [e for e in query.select if e.function == "count"]
    rest = [e for e in query.select if e.function and e not in figures and e not in counts]
    if rest or any(e.column and e.column[0] != entity and not e.function for e in query.select):
        return
    shown = q.named_by(entity)
    query.group = q.one_row(entity)
    if counts and all(e not in figures for e in counts):
        query.shape = Shape("count")
        query.select = [Expression(column=key.key)]
        if counts[0].share:  # `what percentage of customers have more than 3 orders`
            own = [clause for clause in query.where if all(t == entity for part in clause for t in part.tables)]
            query.whole = Query(select=[Expression("count", table=entity)], tables=[entity], where=own)
    else:
        plain = [e for e in query.select if not e.function]
        query.select = list(dict.fromkeys([*(plain or shown), *figures]))
        query.group = list(dict.fromkeys([*query.group, *plain]))
    query.put_first(entity)


def _ranked_by_measure(draft: Draft, q: LinkedQuestion) -> None:
    """`customers by revenue`: each customer's revenue, the highest first."""
    query = draft.query
    if query.group or query.having or query.limit is not None:
        return
    kinds = [q.sorts[k] if q.sorts[k] in ("table", "measure") else x.lower for k, x in enumerate(q.items[:3])]
    if kinds != ["table", "by", "measure"] or len(query.select) != 1 or not query.select[0].function:
        return
    table, figure = q.table_of(0), query.select[0]
    query.select = [*q.named_by(table), figure]
    query.group = q.one_row(table)
    query.order = [(figure, True)]
    query.put_first(table)


_KEYS = word_set("id ids key keys code codes number numbers identifier identifiers no ref reference")


def _named_instead_of_keyed(draft: Draft, q: LinkedQuestion) -> None:
    """`who manages the north depot`, `which technician did most visits`: the name of the row that the key refers to,
    unless a key is asked for."""
    query = draft.query
    plain = [e for e in query.select if not e.function]
    words = [t.lower for t in q.tokens]
    if len(plain) != 1 or query.intersect is not None:
        return
    if any(w in _KEYS and (w != "number" or words[k : k + 2][-1] != "of") for k, w in enumerate(words)):
        return  # `order numbers`, but not `the number of orders`
    key = plain[0]
    if key.column is None or not q.vocabulary.columns[key.column].foreign or query.shape is not None:
        return
    column = q.vocabulary.columns[key.column]
    said = {root(t.lemma) for t in q.tokens} & {root(w) for w in column.words}
    counted = query.group == [key] and column.numeric and said  # a code may be what is asked for
    if (query.group or len(query.select) > 1) and not counted:
        return
    table, name = key.column
    tied = [e for e in q.graph.edges(table) if e.left == table and e.left_columns == (name,)]
    if any(e.right == table for e in tied):
        return
    named = q.vocabulary.name_columns(tied[0].right) if len(tied) == 1 else ()
    if named and all(e.left_columns == (name,) or _hinted(q, e) < _hinted(q, tied[0])
                     for e in q.graph.between(table, tied[0].right)):  # fmt: skip
        names = [Expression(column=c.key) for c in named]
        query.select = [*names, *(e for e in query.select if e.function)]
        if query.group:
            query.group = list(dict.fromkeys([*q.one_row(tied[0].right), *names]))
        query.put_first(tied[0].right, *query.tables, table)


def _hinted(q: LinkedQuestion, edge: Edge) -> int:
    """How many words of an edge's key the question contains, apart from the name of the table referred to."""
    words = {w for c in edge.left_columns for w in q.vocabulary.columns[edge.left, c].words}
    words -= {*q.vocabulary.tables[edge.right].words}
    return len({root(w) for w in words} & {root(t.lower) for t in q.tokens})

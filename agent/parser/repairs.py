"""Repairs: complete queries that cannot be meant as they were read.

In: a draft and its reader. Out: the same draft, in which figures are compared for each row of the requested entity, and
lists `by` a measure show the entities of that measure.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from agent.knowledge.vocabulary import ColumnWord
from agent.parser.implausible import asks_how_often
from agent.parser.interpretation import Condition, Expression, Membership, Query, Shape
from agent.parser.joins import Edge
from agent.parser.measures import AVERAGED
from agent.parser.persons import SERVED, personal
from agent.parser.question import LinkedQuestion
from agent.parser.state import Draft
from agent.parser.stored_states import is_flag, says
from eval.language.inflection import lemma, root
from eval.language.lexicon import FUNCTION_WORDS, word_set


def repaired(draft: Draft, q: LinkedQuestion) -> None:
    """Complete the draft's query in place."""
    query = draft.query
    if query.shape is None and query.intersect is None and not query.within:
        if query.having and not query.group:
            _having_per_row(query, q, draft.entities)
        elif not query.group and not query.having and query.limit is None:
            _ranked_by_measure(query, q)
    _in_state(draft, q)
    _rows_of_one(draft, q)
    figures = [e for e in query.select if e.function]
    if query.shape is None and query.group and not query.where and len(figures) == 1 and figures[0].share:
        # `what share of tickets is about each kind of problem`: no part is named, so it is each group's share of all
        query.select = [replace(e, share=False) for e in query.select]
        query.shape = Shape("share")
        query.order = query.order or [(replace(figures[0], share=False), True)]
    _total_of_totals(query, q)
    _average_of_rows(query, q)
    _person_with_most(query, q)
    _who_did(query, q)
    _added_in_period(draft, q)
    _counted_per_period(draft, q)
    _named_instead_of_keyed(query, q)
    _times_of_event(query, q)
    _named_kinds(query, q)
    _without_repeats(draft, q)
    _absent_by_shown(query, q)
    if not query.order and query.limit is None and query.group and any(e.part for e in query.group):
        query.order = [(e, False) for e in query.group if e.part]
        # `parcels collected per month`: rows without the date belong to no month
        restricted = {c.left.column for c in query.conditions()}
        dates = [e.column for e in query.group if e.part and e.column is not None and not query.keep_empty]
        for date in dates:
            if date not in restricted and q.vocabulary.columns[date].column.nullable:
                query.where.append((Condition(Expression(column=date), "not null"),))
    _highest_first(query, q)


_KINDS = word_set("distinct different unique value values kind kinds")


def _in_state(draft: Draft, q: LinkedQuestion) -> None:
    """`how many are active`: the rows that are, not the number of answers that a yes-or-no column knows."""
    query = draft.query
    shown = [e for e in query.select if e.function == "count" and e.distinct and e.column is not None]
    if len(shown) != 1 or shown[0].column is None or _KINDS.intersection(q.words):
        return
    column = q.vocabulary.columns[shown[0].column]
    stated = any(c.left.column == column.key for c in query.conditions())
    yes = says(q.values, column, wanted=True) if is_flag(q.values, column) and not stated else None
    if yes is not None and shown[0] not in query.group:
        query.select = [Expression("count", table=column.table) if e is shown[0] else e for e in query.select]
        query.order = [(Expression("count", table=column.table) if e == shown[0] else e, d) for e, d in query.order]
        query.where.append((yes,))
        draft.notes.append(f"rows are counted whose {' '.join(column.words)} says yes")


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


def _absent_by_shown(query: Query, q: LinkedQuestion) -> None:
    """`countries without departures`: countries none of whose places has one, rather than each place without one."""
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


def _total_of_totals(query: Query, q: LinkedQuestion) -> None:
    """`state the total amount invoiced in 2025`: a sum, although a column is called the total amount of each row."""
    column = _only_column(query, q)
    if column is None or column.words[0] != "total" or not column.numeric:
        return
    named = q.words[q.words.index("total") - 1 :][:3] if "total" in q.words[1:] else ()
    kept = (p.left.column if isinstance(p, Condition) else None for p in query.restrictions())
    many = all(key is not None and q.vocabulary.columns[key].role in ("date", "year", "text") for key in kept)
    if query.where and many and named[:1] == ("the",) and named[-1] == lemma(named[-1]):
        query.select = [Expression("sum", column.key)]


def _who_did(query: Query, q: LinkedQuestion) -> None:
    """`who did a test drive in March`: the customers, where a row refers to one of them, rather than the row."""
    tables = {t for e in query.select for t in e.tables}
    if q.words[0] != "who" or len(tables) != 1 or query.group or query.limit or query.aggregates():
        return
    table = next(iter(tables))
    others = [e.right for e in q.graph.edges(table) if e.left == table != e.right]
    served = [other for other in others if SERVED & set(q.vocabulary.tables[other].words)]
    if len(served) != 1 or personal(q.vocabulary, table):
        return
    query.select, query.group = list(q.named_by(served[0])), q.one_row(served[0])
    query.put_first(served[0], *query.tables, table)


def _named_kinds(query: Query, q: LinkedQuestion) -> None:
    """`roses with price`: things called by their kind are named, too."""
    first = next((k for k, x in enumerate(q.items) if x.lower not in FUNCTION_WORDS and x.keyword is None), -1)
    if first < 0 or q.sorts[first] != "value" or q.named or query.group or query.distinct or query.limit is not None:
        return
    tokens = q.tokens[q.items[first].start : q.items[first].end]
    follows = q.word(first + 1)
    if any(t.capital for t in tokens) or not tokens[-1].lower.endswith("s") or follows not in _WITH:
        return
    tables = {e.column[0] if e.column and not e.function else "" for e in query.select}
    held = {c.left.column[0] for c in query.conditions() if c.left.column}
    if len(tables) == 1 and tables == held and q.vocabulary.name_columns(*tables):
        names = q.named_by(*tables)
        query.select = [*names, *(e for e in query.select if e not in names)]


_WITH = ("with", "and", "with their", "with its", "and their", "with the")


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


def _person_with_most(query: Query, q: LinkedQuestion) -> None:
    """`who worked the most hours`: the person whose hours add up to most, where the hours of each are many rows."""
    if q.words[0] != "who" or query.limit is None or len(query.order) != 1 or query.group or query.within:
        return
    ranked, descending = query.order[0]
    column = q.plain_column(ranked) if not ranked.part else None
    if column is None or column.role != "number" or column.foreign or _NOT_ADDED & set(column.words):
        return
    if any(personal(q.vocabulary, t) for e in query.select for t in e.tables):
        return
    others = (e.right for e in q.graph.edges(column.table) if e.left == column.table != e.right)
    people = [other for other in others if personal(q.vocabulary, other)]
    key = q.vocabulary.key_column(people[0]) if len(people) == 1 else None
    if key is None:
        return
    figure = replace(ranked, function="sum")
    shown = q.named_by(key.table)
    query.select, query.order = [*shown, figure], [(figure, descending)]
    query.group = q.one_row(key.table)
    query.put_first(key.table)


def _added_in_period(draft: Draft, q: LinkedQuestion) -> None:
    """`hours worked last month`: a figure named first and alone is added up over the period. `how much did we refund
    for Hamlet`: so is what was asked for as one amount."""
    query = draft.query
    first = next((k for k, x in enumerate(q.items) if x.lower not in ("the", "our", "all")), 0)
    amount = q.begins("how", "much") and not _PAST.isdisjoint(q.words)
    asked = amount or (q.sorts[first] == "column" and bool(query.where))
    if len(query.select) != 1 or query.group or query.order or query.distinct or not asked:
        return
    shown = query.select[0]
    column = q.plain_column(shown) if not shown.part else None
    dated = any(
        c.left.column and q.vocabulary.columns[c.left.column].role in ("date", "year") for c in query.conditions()
    )
    if column is None or column.role != "number" or column.foreign or not column.numeric:
        return
    if (dated or amount) and not _NOT_ADDED & set(column.words):
        query.select = [replace(shown, function="sum")]
        # `hours volunteered last month`: the date of the hours, not that of the volunteer, where they have one
        own = [c for c in q.vocabulary.by_table[column.table] if c.role == "date"] if dated else []
        for k, clause in enumerate(query.where):
            c = clause[0]
            if len(own) == len(clause) == 1 and isinstance(c, Condition) and c.half_open and c.left.column:
                query.where[k] = (replace(c, left=Expression(column=own[0].key)),)
        draft.notes.append(f"{column.name} is added up")


_PAST = word_set("did was were have has")


def _counted_per_period(draft: Draft, q: LinkedQuestion) -> None:
    """`finished jobs per month`: rows are counted where only dates are named."""
    query = draft.query
    parts = [e for e in query.select if e.part]
    plain = [e for e in query.select if not e.part]
    if not parts or query.aggregates() or query.order or query.limit is not None or query.distinct or not plain:
        return
    if any(e.column is None or e.via or q.vocabulary.columns[e.column].role != "date" for e in plain):
        return
    table = next((t for t in draft.entities if t in q.named), "")
    if table:
        query.select = [*parts, Expression("count", table=table)]
        query.group = parts
        draft.doubts.pop("group_without_aggregate", None)


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


def _ranked_by_measure(query: Query, q: LinkedQuestion) -> None:
    """`customers by revenue`: each customer's revenue, the highest first."""
    kinds = [q.sorts[k] if q.sorts[k] in ("table", "measure") else x.lower for k, x in enumerate(q.items[:3])]
    if kinds != ["table", "by", "measure"] or len(query.select) != 1 or not query.select[0].function:
        return
    table, figure = q.table_of(0), query.select[0]
    query.select = [*q.named_by(table), figure]
    query.group = q.one_row(table)
    query.order = [(figure, True)]
    query.put_first(table)


_NOT_ADDED = AVERAGED - {"hour", "day"}
"""Words of columns whose numbers are not added up; hours worked are."""
_KEYS = word_set("id ids key keys code codes number numbers identifier identifiers no ref reference")


def _named_instead_of_keyed(query: Query, q: LinkedQuestion) -> None:
    """`who manages the north depot`, `which technician did most visits`: the name of the row that the key refers to,
    unless a key is asked for."""
    plain = [e for e in query.select if not e.function]
    if len(plain) != 1 or query.intersect is not None:
        return
    if any(w in _KEYS and (w != "number" or q.words[k : k + 2][-1] != "of") for k, w in enumerate(q.words)):
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
        if counted:
            others = [replace(e, via=name) for e in q.named_by(table)]
            query.select = [*others, *(e for e in query.select if e.function)]
            query.group = [*query.group, *others]
            query.where.extend([(Condition(key, "not null"),)] if column.column.nullable else [])
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


def _times_of_event(query: Query, q: LinkedQuestion) -> None:
    """`how often was room 3 used`: the rows that refer to the room are counted, where only one table holds them."""
    if not asks_how_often(q) or len(query.select) != 1 or query.select[0].function != "count" or query.group:
        return
    thing = query.select[0].table
    restricted = {t for part in query.restrictions() for t in part.tables}
    if thing is None or thing not in restricted:
        return
    below = q.graph.referring(thing)
    dated = [t for t in below if any(c.role == "date" for c in q.vocabulary.by_table[t])]
    used = [t for t in (dated or below) if t in restricted]
    events = used or dated or below
    if len(events) == 1:
        query.select = [Expression("count", table=events[0])]
        query.put_first(events[0])

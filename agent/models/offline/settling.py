"""Settling: what the words left open is decided once all are read: what to show, what to group by, what to join.

In: a `Reader` after its pass. Out: its draft's query, complete.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent.models.offline import sorting
from agent.models.offline.interpretation import ColumnKey, Condition, Expression, Membership, Query
from agent.models.offline.lexicon import word_set

if TYPE_CHECKING:
    from agent.models.offline.reader import Reader


def settle(r: Reader) -> None:
    """Complete the query of a reader."""
    query = r.query
    if r.counting and not query.select:
        _count_entity(r)
    query.where = [clause for k, clause in enumerate(query.where) if clause not in query.where[:k]]
    if r.counting and query.select and not query.aggregates():
        query.select.append(Expression("count"))
        r.counting = ""
    if r.functions and not query.select:
        r.draft.doubt("aggregate_open")
    for name, left_open in (
        ("aggregate_open", bool(r.functions) and not (r.functions == ["sum"] and (query.having or query.aggregates()))),
        ("count_open", bool(r.counting)),
        ("negation_open", r.negated and not r.excepting),
        ("group_open", r.grouping),
        ("or_open", r.or_next),
    ):
        if left_open:
            r.draft.doubt(name)
    spent = r.verb_measure
    if (
        spent is not None
        and not query.select
        and not query.having
        and (r.functions == ["sum"] or any(t.lower == "much" for t in r.tokens))
    ):
        query.select.append(Expression("sum", spent.column, factor=spent.factor))
        r.functions = []
    if r.groups and not query.select and not r.functions and not r.star and not query.having and not query.order:
        query.select.append(Expression("count", table=r.entities[0]) if _counts(r) else Expression("count"))
    _show_something(r)
    if r.waiting_direction:
        sorting.direction(r, r.waiting_direction)
    _group(r)
    if query.group and _listed_again(r):
        query.select.sort(key=lambda e: bool(e.function))
    _both(r)
    query.keep_empty = _wants_empty_groups(r)
    if r.distinct and not query.aggregates() and query.select:
        query.distinct = True
    tables = list(dict.fromkeys(r.entities))
    query.tables = tables
    query.select = list(dict.fromkeys(query.select))
    _name_tables(r)


_EVEN_EMPTY = (
    "including those", "even those", "even if", "also those", "including the ones", "even the ones", "or none",
    "if any", "including empty", "with zero", "with none",
)  # fmt: skip


def _wants_empty_groups(r: Reader) -> bool:
    """`How many products does each category have?` counts 0 for a category without any, `products per category` not."""
    query = r.query
    text = " ".join(t.lower for t in r.tokens)
    owning = any(f" {verb} each " in text or f" {verb} every " in text for verb in ("does", "do", "did"))
    if not ((owning and " have" in text) or any(phrase in text for phrase in _EVEN_EMPTY)):
        return False
    groups = {t for e in query.group for t in e.tables}
    counted = [e for e in query.select if e.function]
    return (
        len(groups) == 1
        and bool(counted)
        and all(e.function == "count" and e.table is not None and e.table not in groups for e in counted)
        and not query.having
        and query.limit is None
        and query.intersect is None
        and all(t in groups for clause in query.where for c in clause for t in c.tables)
    )


def _listed_again(r: Reader) -> bool:
    """`How many …? List the city and the count.`: the second sentence says what to show, the number last."""
    ends = [k for k, t in enumerate(r.tokens[:-1]) if t.text in ".?!"]
    return bool(ends) and r.tokens[ends[0] + 1].lower in ("list", "show", "return", "give", "display")


def _counts(r: Reader) -> bool:
    """Whether the first entity is what is counted: `orders by status`, not the group itself."""
    return bool(r.entities) and ("table", r.entities[0]) not in r.groups


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
    if r.star:
        query.select.append(Expression(table=entity))
        return
    asked = _where_or_when(r, entity)
    if asked is not None:
        query.select.append(Expression(column=asked))
        return
    query.select.extend(Expression(column=c.key) for c in r.shown(entity))
    r.draft.doubt("shown_by_default")


_PLACES = ("location", "city", "address", "place", "venue", "town", "country", "state", "region")


def _where_or_when(r: Reader, entity: str) -> ColumnKey | None:
    """`Where is …?` asks for a place, `When was …?` for a date, where the entity has one."""
    first = r.tokens[0].lower
    columns = r.vocabulary.by_table[entity]
    if first == "where":
        for word in _PLACES:
            for column in columns:
                if column.words[-1] == word and not column.foreign:
                    return column.key
    if first == "when":
        dated = [c for c in columns if c.role in ("date", "year")]
        return dated[0].key if len(dated) == 1 else None
    return None


def _entity_key(r: Reader, table: str) -> ColumnKey | None:
    key = r.vocabulary.key_column(table)
    return key.key if key is not None else None


def _amounts_first(r: Reader) -> bool:
    """`How many orders are in each region?` shows the number first, `orders per region` the region.

    Learned from how people write the query for such questions: after `for each`, `in each`, `different` in a whole
    sentence the aggregate comes first in two of three, after `per`, `by` and `does each … have` the group does.
    """
    sentence = r.tokens[0].lower in _SENTENCE and len(r.query.select) >= 1 and all(e.function for e in r.query.select)
    texts = [x.lower for x in r.items if x.is_keyword("group")]
    return sentence and bool(texts) and all(t in _AFTER for t in texts)


_SENTENCE = word_set("how what find count show give return list compute calculate tell")
_AFTER = frozenset(
    ("for each", "for every", "in each", "in every", "from each", "on each", "at each", "under each", "within each",
     "in different", "for different", "of different", "for the different", "for each different", "across different")
)  # fmt: skip


def _group(r: Reader) -> None:
    query = r.query
    amounts_first = _amounts_first(r)
    _sum_for_rank(r)
    aggregated = query.aggregates() or any(e.function for e, _ in query.order) or bool(query.having)
    if not aggregated:
        for kind, what in r.groups:
            if kind == "column" and isinstance(what, Expression) and what not in query.select:
                r.draft.doubt("group_without_aggregate")
                query.select.insert(0, what)
        return
    plain = [e for e in query.select if not e.function]
    keys: list[Expression] = []
    for kind, what in r.groups:
        if kind == "table":
            table = str(what)
            shown = [Expression(column=c.key) for c in r.shown(table)]
            key = _entity_key(r, table)
            own = [p for p in plain if (p.column and p.column[0] == table) or p in shown]
            if key is not None and not (own and any(p.column == key for p in own)):
                keys.append(Expression(column=key))
            keys.extend(shown if not own else [])
            if not own and not plain:
                at = len(query.select) if amounts_first else 0
                query.select[at:at] = shown
        elif isinstance(what, Expression):
            keys.append(what)
            if what not in plain and query.aggregates():
                query.select.insert(len(query.select) if amounts_first else 0, what)
    plain = [e for e in query.select if not e.function]
    if plain or keys:
        if not r.groups and plain and plain[0].column is not None:
            entity = plain[0].column[0]
            key = _entity_key(r, entity)
            named = {c.key for c in r.shown(entity)}
            if key is not None and any(p.column in named or p.column == key for p in plain):
                keys.append(Expression(column=key))
        query.group = list(dict.fromkeys([*keys, *plain]))
    counted = [e for e, _ in query.order if e.function == "count" and e.table is None and e.column is None]
    if counted and not query.group:
        r.draft.doubt("superlative_open")


def _sum_for_rank(r: Reader) -> None:
    """`top 5 customers by order amount`: where one row shown has many amounts, their sum ranks it."""
    query = r.query
    plain = [e for e in query.select if not e.function and e.column]
    if not r.ranked_by or query.limit is None or not plain or len(plain) != len(query.select):
        return
    entity = plain[0].tables[0]
    for k, (e, descending) in enumerate(query.order):
        if e.function == "sum" and e.column is not None and e not in query.select:
            query.select.append(e)
        if e.function or e.column is None or e.column[0] == entity or e.part:
            continue
        if not r.vocabulary.columns[e.column].numeric or r.vocabulary.columns[e.column].role != "number":
            continue
        plan = r.graph.plan([entity, e.column[0]])
        if plan is not None and plan.multiplies(entity):
            query.order[k] = (Expression("sum", e.column, factor=e.factor), descending)
            query.select.append(query.order[k][0])


def _both(r: Reader) -> None:
    """`both A and B` on one column cannot hold in one row: rows of the first, kept if among rows of the second."""
    query = r.query
    contradiction = _contradiction(query)
    if contradiction is not None:
        _intersect(r, *contradiction)
        return
    if not r.both:
        return
    for k, clause in enumerate(query.where):
        if len(clause) == 2 and _same_equal(clause[0], clause[1]):
            query.where[k : k + 1] = [(clause[0],), (clause[1],)]
            break
    equal = [
        (k, clause[0])
        for k, clause in enumerate(query.where)
        if len(clause) == 1 and isinstance(clause[0], Condition) and clause[0].operator == "="
    ]
    for a in range(len(equal)):
        for b in range(a + 1, len(equal)):
            if equal[a][1].left == equal[b][1].left:
                _intersect(r, equal[a][0], equal[b][0])
                return


def _same_equal(one: Condition | Membership, other: Condition | Membership) -> bool:
    return (
        isinstance(one, Condition)
        and isinstance(other, Condition)
        and one.left == other.left
        and one.operator == other.operator == "="
    )


def _contradiction(query: Query) -> tuple[int, int] | None:
    """Two clauses that no single row can meet (`over 20 and under 10`): two groups of rows are meant."""
    ranges: list[tuple[int, Condition]] = []
    for k, clause in enumerate(query.where):
        c = clause[0]
        if len(clause) == 1 and isinstance(c, Condition) and c.operator in ("<", "<=", ">", ">="):
            ranges.append((k, c))
    for k, one in ranges:
        for m, other in ranges:
            if one.left != other.left or one.operator[0] != ">" or other.operator[0] != "<":
                continue
            low, high = one.values[:1], other.values[:1]
            numbers = low and high and isinstance(low[0], int | float) and isinstance(high[0], int | float)
            if numbers and low[0] >= high[0]:  # type: ignore[operator]
                return k, m
    return None


def _intersect(r: Reader, one: int, other: int) -> None:
    """Keep the rows shown that come from clause `one` and also from clause `other`."""
    query = r.query
    query.intersect = Query(
        select=list(query.select),
        tables=list(dict.fromkeys(r.entities)),
        where=[c for k, c in enumerate(query.where) if k != one],
    )
    query.where = [c for k, c in enumerate(query.where) if k != other]


def _name_tables(r: Reader) -> None:
    """Put the entity first: the table of what is shown."""
    query = r.query
    first = [t for e in query.select for t in e.tables]
    absent = {c.table for clause in query.where for c in clause if isinstance(c, Membership)}
    query.tables = [t for t in dict.fromkeys([*first, *query.tables]) if t not in absent or t in first]
    if query.intersect is not None:
        query.intersect.tables = list(query.tables)
        query.intersect.select = list(query.select)

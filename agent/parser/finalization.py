"""Finalization: after all words are read, decide the open parts: projection, grouping and joins.

In: a reading after its pass. Out: its draft's query, complete.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations, product

from agent.parser import group_by, order_by
from agent.parser.coverage import AGENTIVE
from agent.parser.group_by import figures_by
from agent.parser.interpretation import Clause, ColumnKey, Condition, Expression, Membership, Query
from agent.parser.measures import amount_column
from agent.parser.order_by import vague
from agent.parser.question import LinkedQuestion
from agent.parser.state import Context, Finding
from agent.parser.units import UNITS
from agent.parser.word_lists import word_list
from eval.language.inflection import lemma, root
from eval.language.lexicon import word_set


def finalize(q: LinkedQuestion, r: Context) -> None:
    query = r.query
    if r.counting and not query.select:
        _count_entity(q, r)
    _split_share(q, query, r.share_at)
    query.where[:] = [clause for k, clause in enumerate(query.where) if clause not in query.where[:k]]
    if r.counting and query.select and not query.aggregates():
        query.select.append(Expression("count"))
        r.counting = ""
    if r.negated and not r.excepting:
        r.join(_absent_by_verb(q, r))
    _open_function(q, r)
    r.join(Finding(doubts=tuple(_open_ends(r))))
    spent, much = r.verb_measure, r.functions == ["sum"] or "much" in q.words
    if spent is not None and much and not query.select and not query.having:
        query.select.append(Expression("sum", spent.column, factor=spent.factor))
        r.functions = []
    r.join(vague(q, r))
    query.order = [(e, down) for e, down in query.order if not (r.star and e.function)]
    if r.groups and not query.select and not r.functions and not r.star and not query.having and not query.order:
        described = [c.left.column[0] for c in query.conditions() if c.left.column]
        if len(r.entities) == 1 and len(set(described)) == 1 and q.many_of(r.entities[0], described[0]):
            r.entities[:] = [described[0]]  # `emergencies per doctor`
        # in `orders by status` the first entity is the thing counted, rather than the group
        counted = r.entities[0] if r.entities and ("table", r.entities[0]) not in r.groups else None
        query.select.append(Expression("count", table=counted))
    if not query.select:
        r.join(_shown_by_default(q, r))
        r.groups = [] if r.star else r.groups
    if _only_ranks(q, r):
        query.select[:] = q.named_by(r.head_entity or query.select[0].tables[0])
    if r.figure_ranked:
        query.select.extend(e for e in query.ordered_by() if e.function and e not in query.select)
    if r.waiting_direction:
        r.join(order_by.direction(q, r, r.waiting_direction, len(q.items) - 1))
    figures_by(q, r)
    r.join(group_by.group(q, r))
    # `How many …? List the city and the count.`: the second sentence gives the projection, with the number last
    behind = next((q.tokens[k + 1].lower for k, t in enumerate(q.tokens[:-1]) if t.text in ".?!"), "")
    if query.group and behind in ("list", "show", "return", "give", "display"):
        query.select.sort(key=lambda e: bool(e.function))
    if not r.groups:
        _nest(q, query, r.entities)
    _both(r.entities, r.query, r.both)
    _said_in_unit(q, r)
    query.keep_empty = group_by.wants_empty_groups(q, r)
    if (r.distinct and not query.aggregates() and query.select) or _asks_for_kinds(q, r):
        query.distinct = True
    _only_known(q, query)
    query.select = list(dict.fromkeys(query.select))
    # The entity first: the table of what is shown
    first = [t for e in query.select for t in e.tables]
    absent = {m.table for m in query.restrictions() if isinstance(m, Membership)}
    query.tables = [t for t in dict.fromkeys([*first, *r.entities]) if t not in absent or t in first]
    if query.intersect is not None:
        query.intersect.tables, query.intersect.select = list(query.tables), list(query.select)


def _only_ranks(q: LinkedQuestion, r: Context) -> bool:
    """`the highest rated movie on IMDb`, `who won the most medals`: the column that ranks the rows is all that is
    named, behind the superlative, and the rows are asked for."""
    order = [e for e, _ in r.query.order]
    if not order or r.query.limit is None or r.query.select != order or order[0].function or order[0].column is None:
        return False
    who = q.words[0] == "who"
    if not who and (q.words[0] in _OF_A_FIGURE or not (r.head_entity or set(order[0].tables) & set(q.named))):
        return False
    ranked = next((k for k, x in enumerate(q.items) if x.is_keyword("sup", "sup_adj", "sup_count")), len(q.items))
    before = (q.items[k].mention for k in range(ranked) if q.sorts[k] == "column")
    return not any(c.key == order[0].column for m in before if m is not None for c, _ in m.columns)


_OF_A_FIGURE = word_set("what how when")


def _open_function(q: LinkedQuestion, r: Context) -> None:
    """What an average or a sum is of, where no column followed its word."""
    query = r.query
    if r.functions == ["avg"] and query.limit is not None and len(query.order) == 1 and (query.select or r.entities):
        # `which sport has the heaviest athletes on average`: the average of each kind ranks it
        ranked, descending = query.order[0]
        if ranked.column is not None and not ranked.function:
            query.order = [(Expression("avg", ranked.column), descending)]
            r.functions = []
    if len(r.functions) == 1 and len(query.select) == 1 and not (query.order or query.group) and query.limit is None:
        # `what does a visit cost on average`, `what do the salaries add up to`: the figure stands before its function
        shown = q.plain_column(query.select[0]) if not query.select[0].part else None
        if shown is not None and shown.is_figure:
            query.select = [Expression(r.functions[0], shown.key)]
            r.functions = []
    if query.select or query.order or r.counting:
        return
    only = q.vocabulary.only_wide_table
    tables = r.entities or ([only.name] if only is not None else [])
    if set(r.functions) == {"sum"} and len(tables) == 1 and (amount := amount_column(q, tables)) is not None:
        # `total by owner`, `total for Sue Kim`, asked of one table: what its rows amount to
        query.select.append(Expression("sum", amount.key))
        r.entities[:] = tables
        r.functions = []
    elif len(r.functions) == 1:  # `average cholesterol`, where a row says what was measured and its value
        measured = {c.left.column[0] for c in query.conditions() if c.left.column and c.operator == "="}
        figures = [c for t in measured for c in q.vocabulary.by_table[t] if c.is_figure and c.words[-1] in _MEASURED]
        if len(figures) == 1:
            query.select.append(Expression(r.functions[0], figures[0].key))
            r.functions = []


_MEASURED = word_set("value reading measurement result level")


def _said_in_unit(q: LinkedQuestion, r: Context) -> None:
    """`average height in cm`: the unit in which the figure is kept."""
    figures = [q.vocabulary.columns[e.column] for e in r.query.expressions() if e.column]
    units = {c.unit for c in figures} | {word for c in figures for word in c.words[1:] if word in UNITS}
    for k in range(1, len(q.items)):
        if q.items[k - 1].lower == "in" and {q.items[k].lower, lemma(q.items[k].lower)} & units:
            r.use(k)


def _open_ends(c: Context) -> Iterator[str]:
    """A doubt for each word that nothing followed."""
    if c.functions and not c.query.select:
        yield "aggregate_open"
    if c.functions and not (c.functions == ["sum"] and (c.query.having or c.query.aggregates())):
        yield "aggregate_open"
    if c.counting:
        yield "count_open"
    if c.negated and not c.excepting:
        yield "negation_open"
    if c.grouping:
        yield "group_open"
    if c.or_next:
        yield "or_open"


def _split_share(q: LinkedQuestion, query: Query, at: int) -> None:
    """`what percentage of female patients in 2023 smoke`: the conditions named before the noun, and periods, restrict
    the whole; the others select the part. If only such conditions exist, they select the part."""
    if not any(e.share for e in query.select):
        return

    def period(clause: Clause) -> bool:
        return all(
            isinstance(c, Condition) and c.left.column is not None and c.operator not in ("null", "not null")
            and q.vocabulary.columns[c.left.column].role in ("date", "year")
            for c in clause
        )  # fmt: skip

    parts = [c for c in query.where[at:] if not period(c)] or [c for c in query.where[:at] if not period(c)]
    if parts:
        query.base = [c for c in query.where if c not in parts]
        query.where = parts


def _only_known(q: LinkedQuestion, query: Query) -> None:
    """`the oldest cat`, `the cheapest flat`: rows without a date or a price are not the first, although some engines
    sort them so."""
    if query.limit is None or query.group or not query.order or query.aggregates():
        return
    expression, descending = query.order[0]
    column = q.plain_column(expression)
    known = Condition(Expression(column=expression.column), "not null")
    if column is None or descending or not column.column.nullable:
        return
    if column.role == "date" or column.figures is not None or q.values.facts(*column.key).nulls:
        query.where.extend([] if (known,) in query.where else [(known,)])


_USING = word_list("using")
_ANY_THING = word_set("anything something")
_TRADED = word_set("sold ordered bought purchased sell buy order")
_TRADES = word_set("order sale purchase invoice transaction line")
"""Words of tables whose rows record sales."""


def _absent_by_verb(q: LinkedQuestion, c: Context) -> Finding:
    """`products nobody ever bought`: no table is named, but only one table can record the missing event."""
    entity = c.main_entity
    if not entity or c.query.where:
        return Finding()
    below = q.graph.referring(entity, many=True)
    left_over = [k for k, x in enumerate(q.items) if k not in c.consumed and q.tokens[x.start].kind == "word"]
    verbs = [k for k in left_over if q.items[k].lower.endswith(("ed", "ing")) or q.items[k].lower in _USING]
    verb_roots = {root(q.items[k].lower) for k in verbs}
    event_tables = [t for t in below if verb_roots & {root(w) for w in q.vocabulary.tables[t].words}]
    if not event_tables and any(q.items[k].lower in _TRADED for k in verbs):
        event_tables = [t for t in below if _TRADES & set(q.vocabulary.tables[t].words)][:1]
    if not verbs or not (len(event_tables) == 1 or len(below) == 1):
        return Finding()
    events = (event_tables or below)[0]
    explained = {root(w) for w in q.vocabulary.tables[events].words}
    used = [
        k for k in verbs if root(q.items[k].lower) in explained or q.items[k].lower in _USING | AGENTIVE | _ANY_THING
    ]
    clause = (Membership(entity, events),)
    return Finding(used, clauses=(clause,), doubts=("absence_guessed",), changes={"negated": False})


def _asks_for_kinds(q: LinkedQuestion, c: Context) -> bool:
    """`Show all product colours`: asks for the distinct texts in a column, not for one per row of an entity."""
    if len(c.query.select) != 1 or c.query.where or c.query.group or c.query.having or c.query.order or c.query.limit:
        return False
    column = q.vocabulary.columns.get(c.query.select[0].column or ("", ""))
    if column is None or c.query.select[0].function or column.role != "text" or column.numeric:
        return False
    rows, known = q.vocabulary.tables[column.table].table.row_count, len(q.values.values(*column.key))
    if known == 0 or (rows is not None and known >= rows) or any(t != column.table for t in c.entities):
        return False
    named = [k for k in range(len(q.items)) if q.sorts[k] == "table" and q.table_of(k) == column.table]
    return not any(
        x.lower in ("of", "for", "each", "every") or x.is_keyword("group")
        for k in named
        for x in q.items[max(0, k - 3) : k]
    )


def _count_entity(q: LinkedQuestion, r: Context) -> None:
    query, draft, entities = r.query, r.draft, r.entities
    if entities:
        table = entities[0]
        if ("table", table) in r.groups:  # `headcount by department`: rows, and not their groups
            described = (c.left.column[0] for c in query.conditions() if c.left.column and c.left.column[0] != table)
            table = _rows_with(q, table) or next((t for t in described if q.many_of(table, t)), table)
        query.select.append(Expression("count", table=table))
    elif compared := [c.left.column for c in query.conditions() if c.left.column]:
        query.select.append(Expression("count", table=compared[0][0], share=r.share))
        if r.share:  # `share of card payments`
            r.counting = ""
        else:
            draft.doubt("entity_guessed")


def _shown_by_default(q: LinkedQuestion, c: Context) -> Finding:
    """A question that named no column shows the name of its entity."""
    query = c.query
    entity = c.head_entity or next(iter(c.entities), "")
    # Guesses: the table of the first column compared in each clause, otherwise of the column that rows are ranked by
    conditions = [[c for c in clause if isinstance(c, Condition) and c.left.column] for clause in query.where]
    compared = [clause[0].left for clause in conditions if clause] or query.ordered_by()[:1]
    guesses = [e.column[0] for e in compared if e.column and not entity]
    entity = entity or next(reversed(guesses), "")
    only = q.vocabulary.only_wide_table
    values = any(s in ("value", "literal", "number") for s in q.sorts)
    if not entity and only is not None and not _ROWS.isdisjoint(q.words) and not values:
        entity = only.name  # `show all rows` of a database with a single table
    if not entity:
        return Finding()
    guessed = ("entity_guessed",) * len(guesses)
    if not c.entities and guesses and (rows := _rows_with(q, entity)):
        entity = rows
    ranked = any(e.function for e in query.ordered_by()) or query.having or query.group
    only_values = all(len(q.vocabulary.by_table[e.other(entity)]) == 1 for e in q.graph.edges(entity))
    nameless = only_values and not ranked and not q.vocabulary.name_columns(entity)
    if c.star or (nameless and q.naming_columns(entity)[0].table == entity and len(q.vocabulary.by_table[entity]) > 1):
        return Finding(shown=(Expression(table=entity),), doubts=guessed)
    column = _where_or_when(q, query, entity)
    if column is not None:
        return Finding(shown=(Expression(column=column),), doubts=guessed)
    is_place = bool(set(_PLACES) & set(q.vocabulary.tables[entity].words))
    is_open = q.words[0] == "when" or (q.words[0] == "where" and not is_place)
    names = q.naming_columns(entity)
    shown = list(q.named_by(entity))
    if query.limit is not None and all(n.role == "id" for n in names):  # a key alone does not show why its row is first
        shown.extend(e for e in query.ordered_by() if e.column and not e.function and e not in shown)
    doubts = (*guessed, *(("place_or_time_open",) if is_open else ()), "shown_by_default")
    return Finding(shown=tuple(shown), doubts=doubts)


_ROWS = word_set("rows records data everything entries table all")


def _rows_with(q: LinkedQuestion, entity: str) -> str:
    """`women in finance`: the rows that have the value, where a table holds nothing but such values."""
    below = q.graph.referring(entity) if len(q.vocabulary.by_table[entity]) == 1 else []
    return below[0] if len(below) == 1 else ""


_PLACES = ("location", "city", "address", "place", "venue", "hometown", "town", "country", "state", "region",
           "headquarter")  # fmt: skip
_NOT_PLACES = frozenset(("email", "mail", "ip", "web"))


def _where_or_when(q: LinkedQuestion, query: Query, entity: str) -> ColumnKey | None:
    """`Where is …?` asks for a place, `When was …?` for a date: the one that rows are ranked by, or the only one."""
    first = q.words[0]
    columns = q.vocabulary.by_table[entity]
    if first == "where":
        for word in _PLACES:
            for column in columns:
                if column.words[-1] == word and not column.foreign and not _NOT_PLACES & set(column.words):
                    return column.key
    if q.begins("how", "much"):
        priced = [c for c in columns if c.numeric and c.words[-1] in ("price", "cost", "fee", "fare")]
        return priced[0].key if priced else None
    if first == "when":
        dated = [c for c in columns if c.role in ("date", "year")]
        ranked = [c for c in dated if any(e.column == c.key for e in query.ordered_by())]
        return (ranked or dated)[0].key if len(ranked or dated) == 1 else None
    return None


def _nest(q: LinkedQuestion, query: Query, entities: list[str]) -> None:
    """`the average age of students in the largest dorm`: the ranked table differs from the table shown. The rank first
    selects that table's row; then everything that belongs to the row is shown or aggregated."""
    if query.limit != 1 or query.offset or len(query.order) != 1 or not query.select:
        return
    ranked, descending = query.order[0]
    shown = query.select[0].tables[0] if query.select[0].tables else ""
    aggregated = all(e.function for e in query.select)
    if ranked.column is None or not shown:
        outer = _ranked_table(q, shown, ranked.table)
        counted = ranked.function == "count" and outer and (aggregated or _plural_head(q))
        key = q.vocabulary.key_column(outer) if counted else None
        if key is not None:
            row, tables = Expression(column=key.key), [t for t in (outer, ranked.table) if t]
            inner = Query(select=[row], tables=tables, group=[row], order=[(ranked, descending)], limit=1)
            query.where.append((Condition(row, "=", (), against=inner),))
            query.order, query.limit, query.group = [], None, []
            kept = [t for t in entities if t != ranked.table or t == shown]
            entities[:] = dict.fromkeys((*kept, outer))
        return
    table = ranked.column[0]
    if ranked.function or (not aggregated and (table == shown or not _plural_head(q))):
        return
    if not aggregated and not q.many_of(table, shown):
        return
    own = [clause for clause in query.where if all(t == table for c in clause for t in c.tables)]
    best = Expression("max" if descending else "min", ranked.column)
    query.where.append((Condition(ranked, "=", (), against=Query(select=[best], where=own)),))
    query.order, query.limit = [], None


def _ranked_table(q: LinkedQuestion, shown: str, counted: str | None) -> str:
    """The table whose rows are ranked by a count: it is named just before the superlative, and is not the table
    shown."""
    at = next((k for k, x in enumerate(q.items) if x.is_keyword("sup", "sup_count", "common")), 0)
    for k in range(at - 1, max(-1, at - 5), -1):
        if q.sorts[k] == "table":
            table = q.table_of(k)
            return table if table not in (shown, counted) and q.many_of(table, shown) else ""
        if q.sorts[k] in ("column", "value", "measure"):
            return ""
    return ""


def _plural_head(q: LinkedQuestion) -> bool:
    """Whether the first thing named is plural: the question then asks for several rows, though one of them is
    ranked."""
    first = next((k for k, sort in enumerate(q.sorts) if sort in ("table", "column")), None)
    return first is not None and q.plural(first)


def _both(entities: Sequence[str], query: Query, both: bool) -> None:
    """`both A and B` on one column cannot hold in one row: keep the first condition's rows that are also among the
    second's."""
    if (contradiction := _contradiction(query)) is not None:
        _intersect(entities, query, *contradiction)
        return
    if not both:
        return
    for k, clause in enumerate(query.where):
        same = [c.left for c in clause if isinstance(c, Condition) and c.operator == "="]
        if len(clause) == len(same) == 2 and same[0] == same[1]:
            query.where[k : k + 1] = [(clause[0],), (clause[1],)]
            break
    equal = [
        (k, clause[0])
        for k, clause in enumerate(query.where)
        if len(clause) == 1 and isinstance(clause[0], Condition) and (clause[0].operator == "=" or clause[0].half_open)
    ]
    pairs = combinations(equal, 2)
    same_left = next(((one, other) for one, other in pairs if one[1].left == other[1].left), None)
    if same_left is None:
        return
    (at, first), (other_at, second) = same_left
    # `orders in both 2023 and 2024`, `average price of both tea and coffee`: rows of the one and rows of the other,
    # since no row is both and a figure is of them all
    own = bool({t for e in query.select for t in e.tables} & set(first.tables))
    counted_alone = len(query.select) == 1 and query.select[0].function == "count"
    either = own if first.half_open or counted_alone else query.aggregates()
    if either:
        query.where[at] = (first, second)
        del query.where[other_at]
    else:
        _intersect(entities, query, at, other_at)


def _contradiction(query: Query) -> tuple[int, int] | None:
    """Two clauses that no single row can satisfy (`over 20 and under 10`): two groups of rows are meant."""
    alone = [(k, clause[0]) for k, clause in enumerate(query.where) if len(clause) == 1]
    ranges = [(k, c) for k, c in alone if isinstance(c, Condition) and c.operator in ("<", "<=", ">", ">=")]
    for (k, one), (m, other) in product(ranges, ranges):
        if one.left == other.left and one.operator[0] == ">" and other.operator[0] == "<":
            low, high = next(iter(one.values), None), next(iter(other.values), None)
            if isinstance(low, int | float) and isinstance(high, int | float) and low >= high:
                return k, m
    return None


def _intersect(entities: Sequence[str], query: Query, one: int, other: int) -> None:
    """Keep the rows shown that satisfy clause `one` and also clause `other`."""
    query.intersect = Query(
        select=list(query.select),
        tables=list(dict.fromkeys(entities)),
        where=[c for k, c in enumerate(query.where) if k != one],
    )
    query.where = [c for k, c in enumerate(query.where) if k != other]

"""GROUP BY: the groups of a query, the sums for each group, the ranks within a group, figures set side by side.

In: a reading after its pass. Out: its query's groups, the order of its columns, and its ranks.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from agent.parser.entities import each_its_own
from agent.parser.interpretation import ColumnKey, Condition, Expression, Function, Query
from agent.parser.measures import added_up, averaged
from agent.parser.order_by import of_all
from agent.parser.question import LinkedQuestion
from agent.parser.state import Context, Finding
from eval.language.lexicon import word_set

_SENTENCE = word_set("how what find count give return compute calculate tell")
_AFTER = frozenset(
    ("for each", "for every", "in each", "in every", "on each", "at each", "under each", "within each",
     "in different", "for different", "of different", "for the different", "for each different", "across different")
)  # fmt: skip
_EVEN_EMPTY = (
    "including those", "even those", "even if", "also those", "including the ones", "even the ones", "or none",
    "if any", "including empty", "with zero", "with none",
)  # fmt: skip


def _entity_key(q: LinkedQuestion, table: str) -> ColumnKey | None:
    key = q.vocabulary.key_column(table)
    return key.key if key is not None else None


def group(q: LinkedQuestion, c: Context) -> Finding:
    """Complete the query's groups, and the projections, sums and ranks of each group, in place. Returns the doubts."""
    query = c.query
    if _rank_within(q, query, c.groups):
        return Finding()
    # `How many orders are in each region?` shows the number first, `orders per region` the region: after `for each`,
    # `in each` or `different` in a whole sentence people write the aggregate first in two of three queries
    sentence = q.words[0] in _SENTENCE and len(query.select) >= 1 and all(e.function for e in query.select)
    texts = [x.lower for x in q.items if x.is_keyword("group")]
    amounts_first = sentence and bool(texts) and all(t in _AFTER for t in texts)
    _sum_for_rank(q, query, c.ranked_by)
    _sum_for_groups(q, query, c.groups)
    for k, (e, descending) in enumerate(query.order):  # by the aggregate of that column, if the query shows one
        figure = next((x for x in query.select if x.function and x.column == e.column and not x.share), None)
        if e.column is not None and not e.function and figure is not None:
            query.order[k] = (figure, descending)
    _total_of_kinds(q, query, c.groups)
    if not any(e.function for e in query.expressions()):
        named = dict.fromkeys(e for kind, e in c.groups if kind == "column" and isinstance(e, Expression))
        added = [e for e in named if e not in query.select]
        query.select[:0] = reversed(added)
        tables = [str(what) for kind, what in c.groups if kind == "table"]
        told = {e.column[0] for e in query.select if e.column and not q.vocabulary.columns[e.column].numeric}
        listed = bool(tables and told) and told.isdisjoint(tables)  # `runners by club` may count them
        # `deliveries by driver`, where a row is a driver; who says `of each driver` may want the figures alone
        by = any(x.lower in ("by", "per") for x in q.items)
        things = [e for table in tables if by for e in q.named_by(table)]
        query.select[:0] = [e for e in dict.fromkeys(things) if e not in query.select]
        repeated = [e for e in added if not _is_a_row(q, e)]
        return Finding(doubts=("group_without_aggregate",) * (len(repeated) or listed))
    keys = _group_keys(q, query, c.groups, amounts_first)
    plain = [e for e in query.select if not e.function]
    if not c.groups and plain and plain[0].column is not None:
        keys.extend(_key_of_shown(q, c, plain[0].column[0], plain))
    if plain or keys:
        query.group = list(dict.fromkeys([*keys, *plain]))
    counted = any(e.function == "count" and e.table is None and e.column is None for e in query.ordered_by())
    return Finding(doubts=("superlative_open",) if counted and not query.group else ())


def _is_a_row(q: LinkedQuestion, e: Expression) -> bool:
    """Whether each group by the expression is one row."""
    if e.column is None or e.part:
        return False
    column, table = q.vocabulary.columns[e.column], q.vocabulary.tables[e.column[0]].table
    return q.values.complete(*e.column) and each_its_own(column, q.values, table)


def _total_of_kinds(q: LinkedQuestion, query: Query, groups: Sequence[tuple[str, object]]) -> None:
    """`states with negative profit`, `which region has the highest sales`: the total of a kind's rows, not one of
    them."""
    kind = query.select[0] if len(query.select) == 1 else None
    if kind is None or kind.function or kind.part or kind.column is None or groups or query.group or query.within:
        return
    if query.intersect is not None or query.shape is not None:
        return
    # `which driver used the most fuel` asks for an amount, whatever the figure is called
    most = of_all(q) and any(x.lower in ("most", "least", "fewest") for x in q.items)
    if not _is_kind(q, kind.column, repeated=1.0 if most else _REPEATED):
        return
    if query.limit is not None and len(query.order) == 1:
        ranked, descending = query.order[0]
        if added_up(q, ranked, any_figure=most):
            query.order = [(Expression("sum", ranked.column), descending)]
    for clause in list(query.where):
        part = clause[0]
        if len(clause) > 1 or not isinstance(part, Condition) or not added_up(q, part.left):
            continue
        if part.operator in (">", ">=", "<", "<=") and part.values and not isinstance(part.values[0], Expression):
            query.where.remove(clause)
            query.having.append(replace(part, left=Expression("sum", part.left.column)))


def _is_kind(q: LinkedQuestion, key: ColumnKey, *, repeated: float) -> bool:
    """Whether a text stands in several rows each, in a table that has no other rows to refer to. `repeated`: the
    largest share of the rows that its different values may be."""
    column = q.vocabulary.columns[key]
    if column.words[-1] in _SPANS and column.role in ("date", "year") and not column.primary:
        return len(q.vocabulary.by_table[key[0]]) > 2  # a figure a month alone is one row each
    alone = len(q.vocabulary.by_table[key[0]]) == 1
    if column.numeric or column.role not in ("text", "name") or (column.primary and not alone):
        return False
    if alone:
        return True
    rows, known = q.vocabulary.tables[key[0]].table.row_count or 0, len(q.values.values(*key))
    return 0 < known <= rows * repeated and known < rows and q.values.complete(*key)


_REPEATED = 0.5
_SPANS = word_set("week month quarter year season period")
"""Names of columns that say of which period a row is."""


def _group_keys(
    q: LinkedQuestion, query: Query, groups: Sequence[tuple[str, object]], amounts_first: bool
) -> list[Expression]:
    """The keys that distinguish the named groups; their names are shown when nothing else of them is."""
    plain = [e for e in query.select if not e.function]
    keys: list[Expression] = []
    at = len(query.select) if amounts_first else 0
    for kind, what in groups:
        if kind == "table":
            table = str(what)
            shown = q.named_by(table)
            key = _entity_key(q, table)
            own = [p for p in plain if (p.column and p.column[0] == table) or p in shown]
            if key is not None and not any(p.column == key for p in own):
                keys.append(Expression(column=key))
            keys.extend(shown if not own else [])
            if not own and not plain:
                query.select[at:at] = shown
                at += len(shown)
        elif isinstance(what, Expression):
            keys.append(what)
            if what not in plain and query.aggregates():
                query.select.insert(at, what)
                at += 1
    return keys


def _key_of_shown(q: LinkedQuestion, c: Context, entity: str, plain: list[Expression]) -> list[Expression]:
    """The key of the entity whose name is shown, so that two rows with the same name stay separate."""
    key = _entity_key(q, entity)
    named = {c.key for c in q.naming_columns(entity)}
    commonest = Expression("count") in c.query.ordered_by() and len(c.entities) <= 1  # `the most common type`
    alone = commonest and len(plain) == 1
    apart = key is not None and not alone and any(p.column in named or p.column == key for p in plain)
    return [Expression(column=key)] if apart else []


def _rank_within(q: LinkedQuestion, query: Query, groups: Sequence[tuple[str, object]]) -> bool:
    """`the best-selling product of each category`: rows are ranked within the groups, not over all rows."""
    if not groups or query.limit is None or len(query.order) != 1 or query.offset or query.having:
        return False
    ranked, _ = query.order[0]
    within: list[Expression] = []  # two customers of one name are two
    shown: list[Expression] = []
    for kind, what in groups:
        within.extend(q.one_row(str(what)) if kind == "table" else [what])  # type: ignore[list-item]
        shown.extend(q.named_by(str(what)) if kind == "table" else [what])  # type: ignore[list-item]
    grouped = {t for e in within for t in e.tables}
    plain = [e for e in query.select if e not in within and not e.function and e.column]
    if not plain or ({e.tables[0] for e in plain} & grouped and any(k == "table" for k, _ in groups)):
        return False
    if any(e.function for e in query.select if e != ranked):
        return False
    thing = plain[0].tables[0]
    if ranked.column is not None and not ranked.function and ranked.column[0] != thing:
        if not q.many_of(thing, ranked.column[0]):
            return False
        ranked = Expression("sum", ranked.column, factor=ranked.factor)
        query.order = [(ranked, query.order[0][1])]
    query.within = within
    query.select = list(dict.fromkeys([*shown, *plain, *([ranked] if ranked.column or ranked.table else [])]))
    if ranked.function:
        key = _entity_key(q, thing)
        keys = [Expression(column=key)] if key is not None else []
        query.group = list(dict.fromkeys([*keys, *within, *plain]))
    return True


def _sum_for_groups(q: LinkedQuestion, query: Query, groups: Sequence[tuple[str, object]]) -> None:
    """`sales amount per store`: when a group has many of the figures shown, they are summed; a score is averaged."""
    if not groups or query.aggregates() or query.limit is not None or query.having:
        return
    for k, e in enumerate(query.select):
        column = q.vocabulary.columns.get(e.column) if e.column else None
        if column is None or not column.numeric or column.role != "number" or column.foreign:
            continue
        for kind, what in groups:
            table = str(what) if kind == "table" else ""
            function: Function = "avg" if averaged(q, column) else "sum"
            if table and table != column.table and q.many_of(table, column.table):
                query.select[k] = Expression(function, column.key, factor=e.factor)
            elif isinstance(what, Expression) and what.column and q.vocabulary.columns[what.column].role != "id":
                words = [x.lower for x in q.items if x.is_keyword("group") or x.lower == "by"]
                grouped = words and (words[0] in ("per", "by") or what.part)  # `the total for each year`
                if grouped:
                    query.select[k] = Expression(function, column.key, factor=e.factor)


def _sum_for_rank(q: LinkedQuestion, query: Query, ranked_by: bool) -> None:
    """`top 5 customers by order amount`: when one row shown has many amounts, their sum ranks it."""
    plain = [e for e in query.select if not e.function and e.column]
    if not ranked_by or query.limit is None or not plain or len(plain) != len(query.select):
        return
    entity = plain[0].tables[0]
    for k, (e, descending) in enumerate(query.order):
        if e.function == "sum" and e.column is not None and e not in query.select:
            query.select.append(e)
        if e.function or e.column is None or e.column[0] == entity or e.part:
            continue
        if not q.vocabulary.columns[e.column].numeric or q.vocabulary.columns[e.column].role != "number":
            continue
        plan = q.graph.plan([entity, e.column[0]])
        if plan is not None and plan.multiplies(entity):
            query.order[k] = (Expression("sum", e.column, factor=e.factor), descending)
            query.select.append(query.order[k][0])


def wants_empty_groups(q: LinkedQuestion, c: Context) -> bool:
    """`How many products does each category have?` counts 0 for an empty category; `products per category` does not."""
    text = " ".join(q.words)
    owning = any(f" {verb} each " in text or f" {verb} every " in text for verb in ("does", "do", "did"))
    if not (c.empty_too or (owning and " have" in text) or any(phrase in text for phrase in _EVEN_EMPTY)):
        return False
    if c.empty_too and not c.query.group and not c.query.aggregates():
        # rows of the first table beside those that refer to them: a row without any can stay
        first = c.query.select[0].tables[0] if c.query.select and c.query.select[0].tables else ""
        others = [t for t in c.entities if t != first]
        whole = c.query.limit is None and c.query.intersect is None
        own = all(t == first for part in c.query.restrictions() for t in part.tables)
        return bool(first and others) and whole and own and all(q.many_of(first, t) for t in others)
    groups = {t for e in c.query.group for t in e.tables}
    counted = [e for e in c.query.select if e.function]
    if len(groups) != 1 or not counted or c.query.having or c.query.limit is not None or c.query.intersect is not None:
        return False
    rows = all(e.function == "count" and e.table is not None and e.table not in groups for e in counted)
    return rows and all(t in groups for part in c.query.restrictions() for t in part.tables)


_AGAINST = ("vs", "vs.", "versus", "against")
_OVER_TIME = (("over", "time"), ("over", "the", "years"), ("through", "the", "years"), ("over", "the", "year"))


def figures_by(q: LinkedQuestion, r: Context) -> None:
    """Group the query as its words ask, in place."""
    query = r.query
    if query.limit is not None or query.group or query.within or query.intersect is not None:
        return
    # `sunny days per year`: the days are the rows that are counted
    parts = {e.column for kind, e in r.groups if kind == "column" and isinstance(e, Expression) and e.part}
    query.select[:] = [
        Expression("count", table=e.column[0]) if e.column and e.column in parts and not (e.function or e.part) else e
        for e in query.select
    ]
    against = [k for k, x in enumerate(q.items) if x.lower in _AGAINST]
    by = compared(query) if against else None
    places = ((start, start + len(phrase), phrase) for phrase in _OVER_TIME for start in range(len(q.words)))
    over_time = next((range(start, end) for start, end, phrase in places if q.words[start:end] == phrase), None)
    if by is not None and by not in query.select:
        _by_group(q, r, by)
        r.draft.doubts.pop("and_read_as_or", None)
        for k in against:
            r.use(k)
    elif over_time is not None and (by := _time_of(q, query)) is not None:
        _by_group(q, r, by)
        query.order = [(by, False)]
        r.draft.used.update(over_time)


def _by_group(q: LinkedQuestion, r: Context, by: Expression) -> None:
    """One row for each value of `by`: figures are added up or averaged, rows without a figure are counted."""
    query = r.query
    plain = [e for e in query.select if not e.function]
    figures = [e for e in plain if e.column and q.vocabulary.columns[e.column].role == "number"]
    if not figures and not r.functions:
        # `Adele vs Rihanna streams`: a figure that the question names, and that nothing is compared with
        compared_with = {c.left.column for c in query.conditions()}
        meant = [q.mention(k).columns[0][0] for k, sort in enumerate(q.sorts) if sort == "column"]
        numbers = (c.key for c in meant if c.role == "number" and c.key not in compared_with)
        figures = [Expression(column=key) for key in numbers][:1]
    made: list[Expression] = [e for e in query.select if e.function]
    if figures and not made and by.column in {c.key for c in q.vocabulary.name_columns(by.tables[0])}:
        query.select[:] = [by, *figures]  # each name is one row
        return
    made.extend(Expression("sum" if added_up(q, e) else "avg", e.column, factor=e.factor) for e in figures)
    query.select[:] = [by, *(made or [Expression("count", table=r.main_entity or by.tables[0])])]
    query.group = [by]
    r.counting = ""


def compared(query: Query) -> Expression | None:
    """The column whose values stand side by side."""
    for clause in query.where:
        equal = [c for c in clause if isinstance(c, Condition) and c.operator == "=" and c.left.column]
        if len(clause) > 1 and len(equal) == len(clause) and len({c.left.column for c in equal}) == 1:
            return Expression(column=equal[0].left.column)
    return None


def _time_of(q: LinkedQuestion, query: Query) -> Expression | None:
    """The year of the rows that have the figures: their only date, or a column of years."""
    tables = {t for e in query.select for t in e.tables}
    if len(tables) != 1 or any(e.part for e in query.select):
        return None
    table = next(iter(tables))
    dated = [c for c in q.vocabulary.by_table[table] if c.role in ("date", "year")]
    dated = [c for c in dated if c.key == q.vocabulary.tables[table].table.meant_date] or dated
    if len(dated) != 1:
        return None
    return Expression(column=dated[0].key, part="year" if dated[0].role == "date" else "")

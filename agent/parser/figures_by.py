"""Figures set side by side without saying how: `price in York vs Leeds`, `mpg over the years`, `sunny days per year`.

In: a reading after its pass. Out: its query's groups and aggregates, and the words that ask for them.
"""

from __future__ import annotations

from agent.parser.interpretation import Condition, Expression, Query
from agent.parser.measures import added_up
from agent.parser.question import LinkedQuestion
from agent.parser.state import ReadingState

_AGAINST = ("vs", "vs.", "versus", "against")
_OVER_TIME = (("over", "time"), ("over", "the", "years"), ("through", "the", "years"), ("over", "the", "year"))


def figures_by(q: LinkedQuestion, r: ReadingState) -> None:
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
    if by is not None and by not in query.select:
        _by_group(q, r, by)
        r.draft.doubts.pop("and_read_as_or", None)
        for k in against:
            r.use(k)
    elif (words := _said_over_time(q)) is not None and (by := _time_of(q, query)) is not None:
        _by_group(q, r, by)
        query.order = [(by, False)]
        r.draft.used.update(range(*words))


def _by_group(q: LinkedQuestion, r: ReadingState, by: Expression) -> None:
    """One row for each value of `by`: figures are added up or averaged, rows without a figure are counted."""
    query = r.query
    plain = [e for e in query.select if not e.function]
    figures = [e for e in plain if e.column and q.vocabulary.columns[e.column].role == "number"]
    if not figures and not r.functions:
        figures = _named(q, query)
    made: list[Expression] = [e for e in query.select if e.function]
    if figures and not made and by.column in {c.key for c in q.vocabulary.name_columns(by.tables[0])}:
        query.select[:] = [by, *figures]  # each name is one row
        return
    made.extend(Expression("sum" if added_up(q, e) else "avg", e.column, factor=e.factor) for e in figures)
    query.select[:] = [by, *(made or [Expression("count", table=r.main_entity or by.tables[0])])]
    query.group = [by]
    r.counting = ""


def _named(q: LinkedQuestion, query: Query) -> list[Expression]:
    """`Adele vs Rihanna streams`: a figure that the question names, and that nothing is compared with."""
    compared = {c.left.column for c in query.conditions()}
    for k, sort in enumerate(q.sorts):
        columns = q.mention(k).columns if sort == "column" else ()
        if columns and columns[0][0].role == "number" and columns[0][0].key not in compared:
            return [Expression(column=columns[0][0].key)]
    return []


def compared(query: Query) -> Expression | None:
    """The column whose values stand side by side."""
    for clause in query.where:
        equal = [c for c in clause if isinstance(c, Condition) and c.operator == "=" and c.left.column]
        if len(clause) > 1 and len(equal) == len(clause) and len({c.left.column for c in equal}) == 1:
            return Expression(column=equal[0].left.column)
    return None


def _said_over_time(q: LinkedQuestion) -> tuple[int, int] | None:
    """The tokens that say `over time`."""
    words = [t.lower for t in q.tokens]
    for phrase in _OVER_TIME:
        for start in range(len(words) - len(phrase) + 1):
            if tuple(words[start : start + len(phrase)]) == phrase:
                return start, start + len(phrase)
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

"""Stored rows: what the rows of a database show while a question is read.

In: a `Look`, if rows may be looked at. Out: whether a statement returns anything, and where the data ends. An answer
about last month says so when the last row is older, and a month without a year is looked for in earlier years.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Sequence

from sqlglot import exp

from agent.knowledge.vocabulary import Vocabulary
from agent.parser.date_arithmetic import before
from agent.parser.entities import Entities
from agent.parser.execution_probe import Look, foreseen
from agent.parser.interpretation import ColumnKey, Condition, Expression, Query
from agent.parser.joins import JoinGraph
from agent.parser.sql_builder import TreeBuilder
from agent.parser.sql_names import identifier, table_named
from eval.schema import Column, Table

_YEARS_BACK = 10
"""How many years before today a month without a year is looked for in the data."""

Assumed = Sequence[tuple[ColumnKey, dt.date]]
"""Columns restricted by a period relative to today, with its first day."""


class StoredRows:
    """The rows of one database; without a `Look`, nothing is known of them."""

    def __init__(self, look: Look | None, entities: Entities, vocabulary: Vocabulary, graph: JoinGraph) -> None:
        self._look, self._entities, self._vocabulary, self._graph = look, entities, vocabulary, graph

    def written(self, tree: exp.Expression) -> exp.Expression:
        """A statement in terms of the tables that exist."""
        return self._entities.written(tree, self._holds_null)

    def observed(self, tree: exp.Expression) -> dict[str, float]:
        """Observations on the rows of a statement; where none may be looked at, those that follow from its form."""
        return self._look(tree) if self._look is not None else foreseen(tree)

    def observed_of(self, query: Query) -> dict[str, float]:
        """Observations on the rows of a query; none where no rows may be looked at."""
        if self._look is None:
            return {}
        return self._look(self.written(TreeBuilder(self._vocabulary, self._graph).build(query)))

    def hollow(self, tree: exp.Expression) -> bool:
        """Whether a statement was run and returned nothing."""
        observed = self.observed(tree)
        return bool(observed.get("result empty") or observed.get("result null"))

    def _holds_null(self, table: Table, column: Column) -> bool:
        """Whether rows may be looked at, and one has no value in this column."""
        if self._look is None or not column.nullable:
            return False
        empty = exp.Is(this=exp.column(identifier(column.name)), expression=exp.Null())
        query = exp.select(exp.Count(this=exp.Star())).from_(table_named(table)).where(empty)
        return not self._look(query).get("result zero")

    def beyond_data(self, assumed: Assumed) -> Iterator[str]:
        """For each period relative to today that begins after the last row: a sentence that says so."""
        for column, start in assumed:
            first = self._stored(column, start)
            if self._ends_before(column, first):
                yield f"the data ends before that: no row of {column[0]} has {column[1]} on or after {first}"

    def years_since_data(self, assumed: Assumed) -> int:
        """How many years earlier the last data lies on which a month or quarter without a year can be read."""
        for years in range(_YEARS_BACK):
            starts = ((column, before(start, years, "year")) for column, start in assumed)
            if not any(self._ends_before(column, self._stored(column, start)) for column, start in starts):
                return years
        return _YEARS_BACK

    def _stored(self, column: ColumnKey, day: dt.date) -> dt.date | int | str:
        """The day as the column holds it, which may be a year."""
        word = self._vocabulary.columns[column]
        if word.role != "year":
            return day
        return day.year if word.numeric else str(day.year)

    def _ends_before(self, column: ColumnKey, first: object) -> bool:
        """Whether rows may be looked at, and none has this value or a later one."""
        since = Condition(Expression(column=column), ">=", (first,))
        later = Query(select=[Expression("count", table=column[0])], tables=[column[0]], where=[(since,)])
        return bool(self.observed_of(later).get("result zero"))

"""Execution probe: run a reading's statement, because its result shows whether the reading is right.

In: an open database. Out: a `Look`, which runs a statement under the guard and short limits, and describes its rows; no
row leaves this module. An empty result, only NULLs or repeated rows make a reading less likely. `StoredRows` also tells
where the data ends: an answer about last month says so when the last row is older, and a month without a year is looked
for in earlier years.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterator, MutableMapping, Sequence

from sqlglot import exp

from agent.knowledge.vocabulary import Vocabulary
from agent.parser.entities import Entities
from agent.parser.interpretation import ColumnKey, Condition, Expression, Query
from agent.parser.joins import JoinGraph
from agent.parser.periods import before
from agent.parser.sql_builder import TreeBuilder
from agent.parser.sql_parts import identifier, table_named
from eval.databases.base import Database
from eval.databases.types import ExecutionResult, Limits
from eval.schema import Column, Table
from eval.sql import check, parsed_from_tree

_LIMITS = Limits(seconds=0.2, rows=200, bytes=1024 * 1024, cell_bytes=4096)
"""A probe must not delay the answer: a statement that takes longer gives no observations."""
_BUDGET_MS = 300.0
"""Total time in the engine after which a looker runs no new statement."""

Look = Callable[[exp.Expression], dict[str, float]]
"""From a statement's tree to named observations on its rows; empty when it could not be run in time."""
Ran = MutableMapping[str, ExecutionResult]
"""Complete results of statements that were sent, by their SQL."""


def looker(database: Database, ran: Ran | None = None) -> Look:
    """A `Look` at one database for one question; a statement that was already run is not run again. A complete result
    is left in `ran`: the statement that answers the question is one of those looked at."""
    seen: dict[int, tuple[exp.Expression, dict[str, float]]] = {}
    known: dict[str, dict[str, float]] = {}
    spent = 0.0

    def look(tree: exp.Expression) -> dict[str, float]:
        if id(tree) not in seen:
            found = look_up(tree)
            if found is None:
                return {}
            seen[id(tree)] = tree, found
        return seen[id(tree)][1]

    def look_up(tree: exp.Expression) -> dict[str, float] | None:
        nonlocal spent
        parsed = parsed_from_tree(tree, database.dialect)
        if parsed.text not in known:
            statement = check(parsed).statement
            if statement is None or spent > _BUDGET_MS:
                return None
            result = database.execute(statement, limits=_LIMITS)
            spent += result.execution_time_ms
            known[parsed.text] = observed(result.rows) if result.ok else {}
            if ran is not None and result.ok and not result.truncated:
                ran[statement.sql] = result
        return known[parsed.text]

    return look


def observed(rows: tuple[tuple[object, ...], ...]) -> dict[str, float]:
    """Observations on the first rows of a result."""
    cells = [cell for row in rows for cell in row]
    return {
        "result empty": float(not rows),
        "result null": float(bool(cells) and all(cell is None for cell in cells)),
        "result zero": float(len(cells) == 1 and cells[0] == 0),
        "result one row": float(len(rows) == 1),
        "result repeats": float(len({repr(row) for row in rows}) < len(rows)),
    }


def foreseen(tree: exp.Expression) -> dict[str, float]:
    """Observations that follow from the form alone, when there are no rows: one row for an aggregate over all rows, and
    for ORDER BY with LIMIT 1."""
    select = tree if isinstance(tree, exp.Select) else None
    if select is None:
        return {}
    whole = not select.args.get("group") and any(e.find(exp.AggFunc) for e in select.expressions)
    limit = select.args.get("limit")
    return {"result one row": float(whole or (limit is not None and limit.expression.name == "1"))}


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

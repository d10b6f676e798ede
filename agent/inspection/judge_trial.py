"""Whether a model, as a judge, tells right queries from plainly wrong ones on a user's own database.

In: a model and an open database. Out: a `JudgeTrial`. The questions are made from the structure (how many rows a table
has, which values a column holds), each with its right query and with one that answers something else; at most six
calls.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from dataclasses import dataclass

from sqlglot import exp

from agent.models.protocol import JudgeRequest, Model, ModelError
from agent.state import QueryTask
from eval.databases.base import Database
from eval.databases.types import Limits
from eval.databases.values import json_rows
from eval.language.words import singular_words
from eval.schema import Schema, Table
from eval.sql import check, parse
from eval.sql.sources import quoted_column, table_source

log = logging.getLogger(__name__)

PAIRS = 3
APART = 0.25
"""By how much the right queries have to be marked higher, on average."""
_LIMITS = Limits(seconds=2.0, rows=20)


@dataclass(frozen=True, slots=True)
class JudgeTrial:
    """The marks (0..1) that a judge gave."""

    right: tuple[float, ...]
    wrong: tuple[float, ...]

    @property
    def tells_apart(self) -> bool:
        """A trial without marks says nothing against a judge."""
        if not (self.right and self.wrong):
            return True
        return sum(self.right) / len(self.right) - sum(self.wrong) / len(self.wrong) >= APART


@dataclass(frozen=True, slots=True)
class _Played:
    question: str
    right: exp.Select
    wrong: exp.Select


async def tried(model: Model, database: Database, schema: Schema) -> JudgeTrial:
    """Play the pairs. A reply that cannot be used is no mark. Raises DatabaseError."""
    marks: dict[bool, list[float]] = {True: [], False: []}
    for pair in _pairs(schema):
        for right, tree in ((True, pair.right), (False, pair.wrong)):
            mark = await _mark(model, database, pair.question, tree)
            if mark is not None:
                marks[right].append(mark)
    return JudgeTrial(tuple(marks[True]), tuple(marks[False]))


async def _mark(model: Model, database: Database, question: str, tree: exp.Select) -> float | None:
    statement = check(parse(tree.sql(database.dialect), database.dialect)).statement
    if statement is None:
        return None
    result = await database.execute_async(statement, limits=_LIMITS)
    if not result.ok:
        return None
    rows = tuple(tuple(row) for row in json_rows(result.rows))
    task = QueryTask(id="t1", description=question, sql="", depends_on=[])
    request = JudgeRequest(question, task, statement.sql, result.columns, rows, len(rows), database.dialect)
    try:
        judgement = await model.judge(request)
    except ModelError as error:
        log.warning("A trial of the judge %s failed: %s", model.name, error)
        return None
    return min(1.0, max(0.0, judgement.score))


def _pairs(schema: Schema) -> Iterator[_Played]:
    tables = [t for t in schema.tables if len(t.columns) > 1 and t.row_count != 0]
    for at, table in enumerate(tables[:PAIRS]):
        other = tables[(at + 1) % len(tables)]
        name, column = _called(table.name), table.columns[-1]
        values = exp.select(quoted_column(column.name)).distinct().from_(table_source(table))
        if at % 2 == 0 or other is table:
            yield _Played(f"How many rows does {name} have?", _count(table), values)
        else:
            yield _Played(f"Which different values of {_called(column.name)} does {name} have?", values, _count(other))


def _count(table: Table) -> exp.Select:
    return exp.select(exp.Count(this=exp.Star())).from_(table_source(table))


def _called(name: str) -> str:
    return " ".join(singular_words(name)) or name

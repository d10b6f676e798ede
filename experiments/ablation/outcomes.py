"""What became of an answer: not valid, runs but differs, near miss, exact; and how hard its question is.

In: gold and answer as SQL, a database. Out: one word. A near miss has gold's rows but for repeats, or gold's columns
among or around its own, in whatever order.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

from eval.metrics.comparison import same_set
from eval.metrics.items import executed
from eval.sql import facts, parse

if TYPE_CHECKING:
    from eval.databases.base import Database
    from eval.databases.types import ExecutionResult
    from eval.metrics.items import Comparison

Outcome = Literal["exact", "near miss", "runs but differs", "not valid"]
OUTCOMES: tuple[Outcome, ...] = ("exact", "near miss", "runs but differs", "not valid")
DIFFICULTIES = ("easy", "medium", "hard", "extra", "one table", "joins", "groups", "nested")
_CELLS = 2_000_000
"""Larger results are not looked at for a near miss."""


def outcome_of(gold_sql: str, sql: str, measured: Comparison, database: Database) -> Outcome:
    """The outcome of an answer that was measured. Runs both queries again where it is wrong."""
    if measured.ex:
        return "exact"
    if not measured.va:
        return "not valid"
    gold, actual = (executed(parse(text, database.dialect), database) for text in (gold_sql, sql))
    return "near miss" if gold.ok and actual.ok and near(gold, actual) else "runs but differs"


def near(gold: ExecutionResult, actual: ExecutionResult) -> bool:
    """Whether the rows are gold's but for repeats, or the columns of the one are among those of the other."""
    if not gold.rows or not actual.rows or len(gold.rows) * len(gold.columns) > _CELLS:
        return False
    if same_set(gold, actual):
        return True
    if len(gold.rows) != len(actual.rows):
        return False
    wanted, present = (Counter(map(_column, zip(*result.rows, strict=True))) for result in (gold, actual))
    return wanted <= present or present <= wanted


def _column(values: Sequence[object]) -> tuple[str, ...]:
    """The values of a column whatever their order; numbers to nine digits."""
    return tuple(sorted(f"{v:.9g}" if isinstance(v, int | float) else str(v) for v in values))


def difficulty_of(question: dict[str, Any], database: Database) -> str:
    """The benchmark's own level, or else the most demanding form in the gold query."""
    if level := question.get("difficulty"):
        return str(level)
    form = facts(parse(question["gold_sql"], database.dialect))
    if form.subqueries or form.set_operations:
        return "nested"
    return "groups" if form.group_by else "joins" if form.joins else "one table"

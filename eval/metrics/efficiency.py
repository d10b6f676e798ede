"""VES: execution accuracy weighted by the gold query's time divided by the answer's time.

In: two statements that may run, and a database. Out: the ratio of their times. The two run alternately, so that other
load on the machine affects both. The fastest run of each counts, because it was disturbed least. Based on BIRD's valid
efficiency score (Li et al. 2023), which takes the square root of this ratio.
"""

from __future__ import annotations

from eval.databases.base import Database
from eval.databases.types import Limits
from eval.statement import ReadStatement

RUNS = 5


def time_ratio(gold: ReadStatement, other: ReadStatement, database: Database, *, limits: Limits) -> float | None:
    """Gold's time divided by the other's: 2.0 when the other takes half as long. None when either does not run."""
    best = {gold: float("inf"), other: float("inf")}
    for _ in range(RUNS):
        for statement in (gold, other):
            done = database.execute(statement, limits=limits)
            if not done.ok:
                return None
            best[statement] = min(best[statement], done.execution_time_ms)
    return 1.0 if gold == other else best[gold] / max(best[other], 1e-6)

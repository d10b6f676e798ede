"""VES: execution accuracy weighted by gold's time over the query's.

In: two statements that may run and a database. Out: the ratio of their times. The two are run in turn, so that what
else the machine does falls on both, and the fastest run of each counts, the least disturbed one. After BIRD's valid
efficiency score (Li et al. 2023), which takes the square root of this ratio.
"""

from __future__ import annotations

from eval.databases.base import Database, Limits
from eval.sql.types import ReadStatement

RUNS = 5


def time_ratio(
    gold: ReadStatement, other: ReadStatement, database: Database, *, limits: Limits, runs: int = RUNS
) -> float | None:
    """Gold's time over the other's: 2.0 when the other takes half as long. None when either does not run."""
    best = {gold: float("inf"), other: float("inf")}
    for _ in range(runs):
        for statement in (gold, other):
            done = database.execute(statement, limits=limits)
            if not done.ok:
                return None
            best[statement] = min(best[statement], done.execution_time_ms)
    return 1.0 if gold == other else best[gold] / max(best[other], 1e-6)

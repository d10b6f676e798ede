"""Measure one answer against its gold query: VA, EM, EX, BIRD's comparison, TS over a test suite, and VES.

In: two SQL texts and a database, and optionally the databases of its test suite. Out: a `Comparison`. A gold query that
fails is reported as such; an answer that fails counts 0 on every metric.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from eval.databases.base import Database
from eval.databases.types import ExecutionResult, Limits
from eval.metrics.comparison import same_result, same_set
from eval.metrics.exact_match import exact_match
from eval.sql import ParsedQuery, check, orders_rows, parse
from eval.statement import ReadStatement

COMPARE_LIMITS = Limits(seconds=60.0, rows=1_000_000, bytes=512 * 1024 * 1024, cell_bytes=16 * 1024 * 1024)
"""Wide, so that results are compared whole; a result that is still cut equals no complete result."""

_TIMED_RUNS = 5


@dataclass(frozen=True, slots=True)
class Comparison:
    """The metrics of one answer; None when they cannot be computed."""

    va: bool
    """It is one allowed SELECT, and it runs."""
    em: bool
    ex: bool | None
    """None when gold itself fails: nothing can then be said about the answer."""
    bird_ex: bool | None
    ts: bool | None
    """None without a test suite, or when gold fails on one of its databases."""
    gold_error: str | None
    error: str | None
    ves: float | None = None
    """EX times gold's time divided by the answer's; None when not requested, or when gold fails."""


def compare_items(
    gold_sql: str,
    sql: str,
    database: Database,
    *,
    suite: Iterable[Database] = (),
    limits: Limits = COMPARE_LIMITS,
    timed: bool = False,
) -> Comparison:
    """Measure one answer. Runs both queries read-only on the database and, while they agree, on each database of the
    suite.

    Order counts when the outermost gold query has an ORDER BY. TS requires the answer to be right on the database
    itself and on every replica. `timed`: measure VES too, by running both queries several more times.
    """
    gold, other = parse(gold_sql, database.dialect), parse(sql, database.dialect)
    ordered = orders_rows(gold)
    expected, actual = executed(gold, database, limits), executed(other, database, limits)
    ex = same_result(expected, actual, ordered=ordered) if expected.ok else None
    return Comparison(
        va=actual.ok,
        em=exact_match(gold_sql, sql, database.dialect),
        ex=ex,
        bird_ex=same_set(expected, actual) if expected.ok else None,
        ts=_on_suite(gold, other, ex, suite, ordered, limits),
        gold_error=expected.error,
        error=actual.error,
        ves=ves(gold, other, ex, database, limits) if timed and ex is not None else None,
    )


def ves(gold: ParsedQuery, other: ParsedQuery, ex: bool, database: Database, limits: Limits) -> float:
    """EX times gold's time divided by the answer's; 0 where the answer is wrong or does not run.

    Based on BIRD's valid efficiency score (Li et al. 2023), which takes the square root of this ratio."""
    expected, actual = check(gold).statement, check(other).statement
    if not ex or expected is None or actual is None:
        return 0.0
    return _time_ratio(expected, actual, database, limits) or 0.0


def _time_ratio(gold: ReadStatement, other: ReadStatement, database: Database, limits: Limits) -> float | None:
    """Gold's time divided by the other's; None when either does not run. The two run alternately, so that other load on
    the machine affects both, and the fastest run of each counts, because it was disturbed least."""
    best = {gold: float("inf"), other: float("inf")}
    for _ in range(_TIMED_RUNS):
        for statement in (gold, other):
            done = database.execute(statement, limits=limits)
            if not done.ok:
                return None
            best[statement] = min(best[statement], done.execution_time_ms)
    return 1.0 if gold == other else best[gold] / max(best[other], 1e-6)


def _on_suite(
    gold: ParsedQuery, other: ParsedQuery, ex: bool | None, suite: Iterable[Database], ordered: bool, limits: Limits
) -> bool | None:
    replicas = 0
    for replica in suite:
        replicas += 1
        if not ex:
            return ex
        wanted = executed(gold, replica, limits)
        if not wanted.ok:
            return None
        if not same_result(wanted, executed(other, replica, limits), ordered=ordered, columns_count=True):
            return False
    return ex if replicas else None


def executed(parsed: ParsedQuery, database: Database, limits: Limits = COMPARE_LIMITS) -> ExecutionResult:
    """The result of a query that the guard lets run; otherwise an error with the guard's reason."""
    verdict = check(parsed, database.schema() if database.dialect in ("postgres", "clickhouse") else None)
    if verdict.statement is None:
        return ExecutionResult("error", error=verdict.reason or parsed.error or "not a single statement")
    return database.execute(verdict.statement, limits=limits)

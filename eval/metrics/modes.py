"""The modes of `compare`: one answer measured as an official evaluation program measures it.

In: two SQL texts, a database, the databases of its test suite, the names of modes. Out: a figure for each mode, 1 or 0
for most; None when gold fails. Both queries pass the guard first, so an answer that it refuses counts 0 here even where
the official program would have run it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cache
from typing import Literal, get_args

from eval.databases.base import Database
from eval.metrics import official
from eval.metrics.items import executed
from eval.sql import ParsedQuery, parse

Mode = Literal[
    "spider",
    "spider-keep-distinct",
    "test-suite",
    "test-suite-keep-distinct",
    "bird-ex",
    "bird-ves",
    "bird-r-ves",
    "bird-soft-f1",
]
MODES: tuple[Mode, ...] = get_args(Mode)
Read = Callable[[str], ParsedQuery]
RUNS = 100
"""Timed runs of each query for VES and R-VES, as in the official program."""


def official_figures(
    modes: Iterable[Mode],
    gold_sql: str,
    sql: str,
    database: Database,
    *,
    suite: Callable[[], Iterable[Database]] = tuple,
    runs: int = RUNS,
) -> dict[Mode, float | None]:
    """The figure of each mode. `suite` opens the replicas, for each mode that needs them; a test-suite mode without a
    suite is None."""
    read: Read = cache(lambda text: parse(text, database.dialect))
    return {mode: _figure(mode, gold_sql, sql, read, database, suite, runs) for mode in modes}


def _figure(
    mode: Mode,
    gold_sql: str,
    sql: str,
    read: Read,
    database: Database,
    suite: Callable[[], Iterable[Database]],
    runs: int,
) -> float | None:
    if mode.startswith("bird"):
        return _bird(mode, read(gold_sql), read(sql), database, runs)
    gold, other = (
        read(text.replace("> =", ">=").replace("< =", "<=").replace("! =", "!=")) for text in (gold_sql, sql)
    )
    if not mode.endswith("keep-distinct"):
        gold, other = official.without_distinct(gold), official.without_distinct(other)
    ordered = "order by" in gold_sql.lower()
    equal = _same(gold, other, database, ordered)
    if not mode.startswith("test-suite"):
        return equal
    replicas = [equal]
    for replica in suite():
        if not equal:
            return equal
        equal = _same(gold, other, replica, ordered)
        replicas.append(equal)
    return equal if len(replicas) > 1 else None


def _same(gold: ParsedQuery, other: ParsedQuery, database: Database, ordered: bool) -> float | None:
    expected, actual = executed(gold, database), executed(other, database)
    if not expected.ok:
        return None
    return float(actual.ok and official.spider_equal(expected.rows, actual.rows, ordered=ordered))


def _bird(mode: Mode, gold: ParsedQuery, other: ParsedQuery, database: Database, runs: int) -> float | None:
    expected, actual = executed(gold, database), executed(other, database)
    if not expected.ok:
        return None
    if not actual.ok:
        return 0.0
    if mode == "bird-soft-f1":
        return official.soft_f1(expected.rows, actual.rows)
    same = official.bird_equal(expected.rows, actual.rows)
    if mode == "bird-ex" or not same:
        return float(same)
    ratios = _ratios(gold, other, database, runs)
    if not ratios:
        return 0.0
    ratio = official.usual_ratio(ratios)
    return official.ves(ratio) if mode == "bird-ves" else official.r_ves(ratio)


def _ratios(gold: ParsedQuery, other: ParsedQuery, database: Database, runs: int) -> Sequence[float]:
    """Gold's time over the answer's, for each of the runs; empty when one of them fails."""
    ratios: list[float] = []
    for _ in range(runs):
        answer, wanted = executed(other, database), executed(gold, database)
        if not (answer.ok and wanted.ok):
            return ()
        ratios.append(wanted.execution_time_ms / max(answer.execution_time_ms, 1e-6))
    return ratios

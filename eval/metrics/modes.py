"""The modes of `compare`: one answer measured as an official evaluation program measures it.

In: two SQL texts, a database, the databases of its test suite, the names of modes. Out: a figure for each mode, 1 or 0
for most; None when gold fails. Both queries pass the guard first, so an answer that it refuses counts 0 here even where
the official program would have run it.

The comparisons are kinder than `eval.metrics.comparison` in some points (columns in any order, DISTINCT ignored) and
stricter in others (a number never equals its text, floats are compared exactly), and they make figures comparable with
published ones. Sources: github.com/taoyds/test-suite-sql-eval for Spider and test suites (Zhong et al. 2020),
github.com/bird-bench/mini_dev for EX, VES, R-VES and Soft-F1 (Li et al. 2023). Both compare values as Python does.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence
from functools import cache
from typing import Literal, get_args

from sqlglot import exp

from eval.databases.base import Database
from eval.metrics.comparison import Rows
from eval.metrics.items import executed
from eval.sql import ParsedQuery, parse, parsed_from_tree
from eval.sql.traversal import every

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
        gold, other = without_distinct(gold), without_distinct(other)
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
    return float(actual.ok and spider_equal(expected.rows, actual.rows, ordered=ordered))


def _bird(mode: Mode, gold: ParsedQuery, other: ParsedQuery, database: Database, runs: int) -> float | None:
    expected, actual = executed(gold, database), executed(other, database)
    if not expected.ok:
        return None
    if not actual.ok:
        return 0.0
    if mode == "bird-soft-f1":
        return soft_f1(expected.rows, actual.rows)
    same = bird_equal(expected.rows, actual.rows)
    if mode == "bird-ex" or not same:
        return float(same)
    ratios = _ratios(gold, other, database, runs)
    if not ratios:
        return 0.0
    ratio = usual_ratio(ratios)
    return ves(ratio) if mode == "bird-ves" else r_ves(ratio)


def _ratios(gold: ParsedQuery, other: ParsedQuery, database: Database, runs: int) -> Sequence[float]:
    """Gold's time over the answer's, for each of the runs; empty when one of them fails."""
    ratios: list[float] = []
    for _ in range(runs):
        answer, wanted = executed(other, database), executed(gold, database)
        if not (answer.ok and wanted.ok):
            return ()
        ratios.append(wanted.execution_time_ms / max(answer.execution_time_ms, 1e-6))
    return ratios


REWARDS = ((2.0, 1.25), (1.0, 1.0), (0.5, 0.75), (0.25, 0.5), (0.0, 0.25))
"""R-VES: the least ratio of gold's time to the answer's, and its reward; the first that fits counts."""
_SIGMAS = 3.0
"""VES leaves out ratios that lie this many standard deviations from their mean, or farther."""


def spider_equal(gold: Rows, other: Rows, *, ordered: bool) -> bool:
    """Spider's comparison: the same rows for some order of the columns, as a list if `ordered`, else as a multiset. Two
    results without rows are equal, whatever their columns."""
    if not gold and not other:
        return True
    if len(gold) != len(other) or len(gold[0]) != len(other[0]):
        return False
    expected, actual = (list(zip(*_row_tuples(rows), strict=True)) for rows in (gold, other))
    return _aligned(expected, actual, [], ordered)


def _aligned(
    expected: Sequence[Sequence[Hashable]], actual: Sequence[Sequence[Hashable]], matched: list[int], ordered: bool
) -> bool:
    """Whether the columns not yet taken can be put in gold's order. Every prefix of columns has to agree already, which
    leaves few orders to try."""
    if len(matched) == len(expected):
        return True
    prefix = list(zip(*expected[: len(matched) + 1], strict=True))
    for place in range(len(actual)):
        if place in matched:
            continue
        tried = list(zip(*(actual[i] for i in (*matched, place)), strict=True))
        same = prefix == tried if ordered else Counter(prefix) == Counter(tried)
        if same and _aligned(expected, actual, [*matched, place], ordered):
            return True
    return False


def _row_tuples(rows: Rows) -> list[tuple[Hashable, ...]]:
    """Lists and objects, which SQLite does not have, as text."""
    return [tuple(repr(cell) if isinstance(cell, list | dict) else cell for cell in row) for row in rows]


def without_distinct(query: ParsedQuery) -> ParsedQuery:
    """The query with every DISTINCT left out, in aggregates too, as Spider's program does unless it is told to keep
    them. A query that cannot be parsed stays as it is."""
    if query.tree is None:
        return query
    tree = query.tree.copy()
    for distinct in list(every(tree, exp.Distinct)):
        if distinct.arg_key == "distinct" or not distinct.expressions:
            distinct.pop()
        else:
            distinct.replace(distinct.expressions[0])
    return parsed_from_tree(tree, query.dialect)


def bird_equal(gold: Rows, other: Rows) -> bool:
    """BIRD's EX: the same set of rows."""
    return set(_row_tuples(gold)) == set(_row_tuples(other))


def soft_f1(gold: Rows, other: Rows) -> float:
    """BIRD's Soft-F1, 0..1: the first row of gold is compared with the first one of the answer, and so on, after
    repeated rows are dropped; within a row, each value counts that occurs anywhere in the other row."""
    expected, actual = (list(dict.fromkeys(_row_tuples(rows))) for rows in (gold, other))
    if not expected and not actual:
        return 1.0
    both = missing = extra = 0.0
    for gold_row, row in zip(expected, actual, strict=False):
        width = len(gold_row)
        both += sum(value in gold_row for value in row) / width
        extra += sum(value not in gold_row for value in row) / width
        missing += sum(value not in row for value in gold_row) / width
    missing += max(0, len(expected) - len(actual))
    extra += max(0, len(actual) - len(expected))
    return 2 * both / (2 * both + extra + missing)


def usual_ratio(ratios: Sequence[float]) -> float:
    """The mean of the ratios of gold's time to the answer's, without outliers."""
    mean = math.fsum(ratios) / len(ratios)
    spread = _SIGMAS * math.sqrt(math.fsum((r - mean) ** 2 for r in ratios) / len(ratios))
    kept = [r for r in ratios if abs(r - mean) < spread] or list(ratios)
    return math.fsum(kept) / len(kept)


def ves(ratio: float) -> float:
    """One answer's share of VES: the square root of the ratio of times. VES is the mean, times 100."""
    return math.sqrt(ratio)


def r_ves(ratio: float) -> float:
    """One answer's share of R-VES: the square root of the reward. R-VES is the mean, times 100."""
    return math.sqrt(next(reward for least, reward in REWARDS if ratio >= least))

"""Which candidates return the same: labels by which results can be compared without their rows.

In: candidates that ran, with their rows. Out: `Examined`, one a candidate, with three labels: the same rows (and the
same order of them where one of the two queries orders), the same rows in any order, and the same columns in any order.
Rows are compared as EX compares them (`eval.metrics.comparison`).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass

from eval.databases.types import ExecutionResult
from eval.metrics.comparison import same_result

LEAST = 1e-6
"""Probabilities are kept this far from 0 and 1, so that their log-odds stay finite."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A query for a question, and whose it is."""

    system: str
    sql: str


@dataclass(frozen=True, slots=True)
class Examined:
    """A candidate that ran."""

    candidate: Candidate
    log_odds: float
    """That its rows are right, by its own evidence alone."""
    contradicted: bool
    """Something is proved against it."""
    characters: int
    """Of its SQL as it was sent: the simpler the shorter."""
    result: int
    """The same number as another's: the same rows, in the same order where one of the two queries orders."""
    bag: int
    """The same rows in any order."""
    content: int
    """The same columns in any order."""


@dataclass(frozen=True, slots=True)
class Ran:
    """What is needed of a candidate to label it."""

    candidate: Candidate
    sql: str
    """As it was sent."""
    probability: float
    result: ExecutionResult
    ordered: bool
    """Its outermost query has an ORDER BY."""
    contradicted: bool = False
    """Something is proved against it."""


def log_odds(probability: float) -> float:
    kept = min(1 - LEAST, max(LEAST, probability))
    return math.log(kept / (1 - kept))


def labelled(ran: Sequence[Ran]) -> tuple[Examined, ...]:
    """The candidates in the order given. Labels do not depend on that order: results are told apart in the order of
    their SQL."""
    by_text = sorted(range(len(ran)), key=lambda i: (ran[i].sql, ran[i].candidate.system, i))
    results = _labels(ran, by_text, lambda a, b: same_result(a.result, b.result, ordered=a.ordered or b.ordered))
    bags = _labels(ran, by_text, lambda a, b: same_result(a.result, b.result, ordered=False))
    contents: dict[Hashable, int] = {}
    return tuple(
        Examined(
            candidate=one.candidate,
            log_odds=log_odds(one.probability),
            contradicted=one.contradicted,
            characters=len(one.sql),
            result=results[i],
            bag=bags[i],
            content=contents.setdefault(_content(one.result), len(contents)),
        )
        for i, one in enumerate(ran)
    )


def _labels(ran: Sequence[Ran], order: Sequence[int], same: Callable[[Ran, Ran], bool]) -> dict[int, int]:
    """For each place a number, equal for those that are the same as the first of their kind."""
    firsts: list[int] = []
    by_sql: dict[str, int] = {}
    labels: dict[int, int] = {}
    for i in order:
        label = by_sql.get(ran[i].sql)
        if label is None:
            label = next((n for n, first in enumerate(firsts) if same(ran[first], ran[i])), len(firsts))
            if label == len(firsts):
                firsts.append(i)
            by_sql[ran[i].sql] = label
        labels[i] = label
    return labels


def _content(result: ExecutionResult) -> Hashable:
    """The columns as bags of values, whatever their order; nothing equals nothing."""
    if not result.rows:
        return None
    columns = (frozenset(Counter(map(repr, column)).items()) for column in zip(*result.rows, strict=True))
    return frozenset(Counter(columns).items())

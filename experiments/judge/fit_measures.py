"""What a fitted probability is measured by: AUC and calibration error.

In: probabilities and labels. Out: plain numbers.
"""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass

_BINS = 10
_DRAWS = 50


def auc(values: Sequence[float], labels: Sequence[bool]) -> float:
    """The chance that a right answer is ranked above a wrong one, ties counting half (Mann-Whitney)."""
    ranked = sorted(range(len(values)), key=lambda i: values[i])
    positive = sum(labels)
    negative = len(labels) - positive
    if not positive or not negative:
        return math.nan
    rank_sum, at = 0.0, 0
    while at < len(ranked):
        end = at
        while end < len(ranked) and values[ranked[end]] == values[ranked[at]]:
            end += 1
        rank_sum += (at + end + 1) / 2 * sum(labels[ranked[k]] for k in range(at, end))
        at = end
    return (rank_sum - positive * (positive + 1) / 2) / (positive * negative)


@dataclass(frozen=True, slots=True)
class Bin:
    """One line of a reliability table: answers whose probability fell in [low, high)."""

    low: float
    high: float
    answers: int
    predicted: float
    right: float


def reliability(probabilities: Sequence[float], labels: Sequence[bool]) -> tuple[Bin, ...]:
    """Equal-width bins with mean probability and share of right answers; empty bins are left out."""
    table = []
    for k in range(_BINS):
        low, high = k / _BINS, (k + 1) / _BINS
        inside = [i for i, p in enumerate(probabilities) if low <= p < high or (p == 1.0 and k == _BINS - 1)]
        if inside:
            predicted = sum(probabilities[i] for i in inside) / len(inside)
            right = sum(labels[i] for i in inside) / len(inside)
            table.append(Bin(low, high, len(inside), predicted, right))
    return tuple(table)


def calibration_error(probabilities: Sequence[float], labels: Sequence[bool]) -> float:
    """ECE: the mean distance of probability and share of right answers over the bins, weighted by their sizes."""
    table = reliability(probabilities, labels)
    return sum(b.answers * abs(b.predicted - b.right) for b in table) / max(1, len(labels))


def calibration_error_by_chance(probabilities: Sequence[float]) -> float:
    """The ECE that these probabilities have on average where each is exactly right: few answers show some by chance."""
    dice = random.Random(1)
    draws = (calibration_error(probabilities, [dice.random() < p for p in probabilities]) for _ in range(_DRAWS))
    return sum(draws) / _DRAWS

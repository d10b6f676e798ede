"""Confidence intervals of rates, tests of whether two systems differ, and percentiles: Wilson, Newcombe, McNemar.

In: counts or amounts. Out: plain numbers. Nothing here knows what was measured.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

Z_95 = 1.959963984540054
"""The normal quantile of a two-sided 95 % interval."""


@dataclass(frozen=True, slots=True)
class Rate:
    """`right` of `total`. As text: `0.723 (0.681-0.761)`, with the 95 % interval; `–` when `total` is 0."""

    right: int
    total: int

    @property
    def value(self) -> float:
        """0..1; 0 when `total` is 0."""
        return self.right / self.total if self.total else 0.0

    @property
    def interval(self) -> tuple[float, float]:
        """95 %, Wilson."""
        return wilson_interval(self.right, self.total)

    def __str__(self) -> str:
        low, high = self.interval
        return f"{self.value:.3f} ({low:.3f}-{high:.3f})" if self.total else "–"


def wilson_interval(successes: int, total: int) -> tuple[float, float]:
    """Lower and upper bound (0..1, 95 %) of the rate behind `successes` of `total`; (0, 1) when `total` is 0.

    Wilson (1927), J. Am. Stat. Assoc. 22, 209-212: unlike the normal approximation it stays within 0..1 and is useful
    for rates near the ends. Raises ValueError unless 0 <= successes <= total.
    """
    if not 0 <= successes <= total:
        raise ValueError(f"{successes} successes of {total} cannot be")
    if total == 0:
        return 0.0, 1.0
    rate, z, z2 = successes / total, Z_95, Z_95 * Z_95
    centre = (rate + z2 / (2 * total)) / (1 + z2 / total)
    half = z / (1 + z2 / total) * math.sqrt(rate * (1 - rate) / total + z2 / (4 * total * total))
    return max(0.0, centre - half), min(1.0, centre + half)


def mcnemar_exact(only_first: int, only_second: int) -> float:
    """Two-sided p-value for the hypothesis that two systems, tried on the same items, are equally good.

    `only_first` items were right for the first system only, `only_second` for the second only; items on which both
    agree carry no information. Under the null hypothesis each disagreeing item is a fair coin flip (binomial, exact).
    Raises ValueError for a negative count.
    """
    if only_first < 0 or only_second < 0:
        raise ValueError("counts cannot be negative")
    trials, fewer = only_first + only_second, min(only_first, only_second)
    tail = sum(math.comb(trials, k) for k in range(fewer + 1))
    return min(1.0, tail / 2.0 ** (trials - 1)) if trials else 1.0


def paired_interval(both: int, only_first: int, only_second: int, neither: int) -> tuple[float, float]:
    """Lower and upper bound (-1..1) of the second system's rate minus the first's, on the same items.

    Each counts the items that both systems, one of them, or neither got right. Newcombe (1998), Stat. Med. 17,
    2635-2650, method 10: Wilson's intervals of both rates, combined with their correlation. (-1, 1) when there are no
    items. Raises ValueError for a negative count.
    """
    if min(both, only_first, only_second, neither) < 0:
        raise ValueError("counts cannot be negative")
    total = both + only_first + only_second + neither
    if total == 0:
        return -1.0, 1.0
    first, second = (both + only_first) / total, (both + only_second) / total
    (low1, high1), (low2, high2) = (wilson_interval(both + only, total) for only in (only_first, only_second))
    phi = _correlation(both, only_first, only_second, neither)
    difference = second - first
    down = math.sqrt(
        max(0.0, (second - low2) ** 2 - 2 * phi * (second - low2) * (high1 - first) + (high1 - first) ** 2)
    )
    up = math.sqrt(max(0.0, (high2 - second) ** 2 - 2 * phi * (high2 - second) * (first - low1) + (first - low1) ** 2))
    return max(-1.0, difference - down), min(1.0, difference + up)


@dataclass(frozen=True, slots=True)
class Paired:
    """Two systems on the same items, by which of them got each right."""

    both: int
    only_first: int
    only_second: int
    neither: int

    @property
    def interval(self) -> tuple[float, float]:
        return paired_interval(self.both, self.only_first, self.only_second, self.neither)

    @property
    def p(self) -> float:
        return mcnemar_exact(self.only_first, self.only_second)


def paired(first: Sequence[bool], second: Sequence[bool]) -> Paired:
    """Raises ValueError where they are of different lengths."""
    pairs = Counter(zip(first, second, strict=True))
    return Paired(*(pairs[pair] for pair in ((True, True), (True, False), (False, True), (False, False))))


def _correlation(both: int, only_first: int, only_second: int, neither: int) -> float:
    """Phi of the four counts, shrunk towards 0 as in method 10."""
    margins = (both + only_first) * (only_second + neither) * (both + only_second) * (only_first + neither)
    if margins == 0:
        return 0.0
    product = float(both * neither - only_first * only_second)
    if product > 0:
        product = max(0.0, product - (both + only_first + only_second + neither) / 2)
    return product / math.sqrt(margins)


def percentile(numbers: Sequence[float], share: float) -> float:
    """The number below which this share (0..1) of them lies, by linear interpolation between the two nearest; 0 of
    nothing."""
    ordered = sorted(numbers)
    if not ordered:
        return 0.0
    place = share * (len(ordered) - 1)
    below = int(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (ordered[above] - ordered[below]) * (place - below)

"""How sure a measured rate is, and whether two systems differ: Wilson's interval and McNemar's exact test.

In: counts. Out: plain numbers. Nothing here knows what was measured.
"""

from __future__ import annotations

import math

Z_95 = 1.959963984540054
"""The normal quantile of a two-sided 95 % interval."""


def wilson_interval(successes: int, total: int, z: float = Z_95) -> tuple[float, float]:
    """Lower and upper bound (0..1) of the rate behind `successes` of `total`; (0, 1) when nothing was tried.

    Wilson (1927), J. Am. Stat. Assoc. 22, 209-212: unlike the normal approximation it stays within 0..1 and is of
    use for rates near the ends. Raises ValueError unless 0 <= successes <= total.
    """
    if not 0 <= successes <= total:
        raise ValueError(f"{successes} successes of {total} cannot be")
    if total == 0:
        return 0.0, 1.0
    rate, z2 = successes / total, z * z
    centre = (rate + z2 / (2 * total)) / (1 + z2 / total)
    half = z / (1 + z2 / total) * math.sqrt(rate * (1 - rate) / total + z2 / (4 * total * total))
    return max(0.0, centre - half), min(1.0, centre + half)


def mcnemar_exact(only_first: int, only_second: int) -> float:
    """Two-sided p-value that two systems, tried on the same items, are equally good.

    `only_first` items were right for the first system alone, `only_second` for the second alone; items on which both
    agree say nothing. Under the null hypothesis each of the disagreeing items is a fair coin (binomial, exact).
    Raises ValueError for a negative count.
    """
    if only_first < 0 or only_second < 0:
        raise ValueError("counts cannot be negative")
    trials, fewer = only_first + only_second, min(only_first, only_second)
    tail = sum(math.comb(trials, k) for k in range(fewer + 1))
    return min(1.0, tail / 2.0 ** (trials - 1)) if trials else 1.0

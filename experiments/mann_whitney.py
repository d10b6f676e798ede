"""Mann and Whitney's test of two unpaired samples."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

EXACT_PAIRS = 400
"""Up to so many pairs of values, Mann–Whitney's p is exact."""


def mann_whitney(first: Sequence[float], second: Sequence[float]) -> float:
    """Two-sided p-value for the hypothesis that neither of two unpaired samples tends to hold the larger values.

    Mann and Whitney (1947), Ann. Math. Stat. 18, 50-60, with mean ranks for ties: exact over all ways to divide the
    values for small samples, else the normal approximation with corrections for ties and continuity. 1 for an empty
    sample.
    """
    n, m = len(first), len(second)
    if not n or not m:
        return 1.0
    counts = Counter((*first, *second))
    ranks, below = {}, 0
    for value in sorted(counts):
        ranks[value] = 2 * below + counts[value] + 1  # twice the mean rank, which is whole
        below += counts[value]
    total = sum(ranks[value] for value in first)
    mean = n * (n + m + 1)
    if n * m <= EXACT_PAIRS:
        sums: list[Counter[int]] = [Counter({0: 1}), *(Counter() for _ in range(n))]
        for value in (*first, *second):
            for size in range(n, 0, -1):
                for before, ways in sums[size - 1].items():
                    sums[size][before + ranks[value]] += ways
        far = sum(ways for rank_sum, ways in sums[n].items() if abs(rank_sum - mean) >= abs(total - mean))
        return far / math.comb(n + m, n)
    ties = sum(count**3 - count for count in counts.values())
    variance = n * m / 12 * (n + m + 1 - ties / ((n + m) * (n + m - 1)))
    distance = max(0.0, abs(total - mean) / 2 - 0.5)
    return math.erfc(distance / math.sqrt(2 * variance)) if variance else 1.0

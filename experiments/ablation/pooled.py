"""Variants pooled over their seeds, and every pair of them: intervals by a bootstrap over questions.

In: `ItemResult`s by variant, and which variants are seeds of one group. Out: frozen numbers. A question counts once,
with its mean over the seeds, because runs of one question are no independent observations of the benchmark.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from experiments.ablation.variants import ItemResult

DRAWS = 10_000
_SEED = 7
"""Of the bootstrap, so that the same results give the same report."""


@dataclass(frozen=True, slots=True)
class Interval:
    value: float
    low: float
    """95 %, by percentiles."""
    high: float


@dataclass(frozen=True, slots=True)
class Pooled:
    group: str
    seeds: int
    questions: int
    ex: Interval


@dataclass(frozen=True, slots=True)
class PooledPair:
    first: str
    second: str
    questions: int
    """That both answered under some seed."""
    difference: Interval
    """The second's EX minus the first's."""
    p: float
    """Two-sided: how often the draws reach the other side of 0, doubled; 1 / DRAWS at least."""


def groups_of(
    results: Sequence[tuple[str, Sequence[ItemResult]]], groups: Mapping[str, str]
) -> dict[str, list[Sequence[ItemResult]]]:
    """The runs of each group, in the order in which the groups come."""
    by_group: dict[str, list[Sequence[ItemResult]]] = defaultdict(list)
    for name, items in results:
        by_group[groups.get(name) or name].append(items)
    return dict(by_group)


def pooled(runs: Mapping[str, Sequence[Sequence[ItemResult]]]) -> list[Pooled]:
    return [
        Pooled(group, len(seeds), len(means), _interval(np.array(list(means.values()))))
        for group, seeds in runs.items()
        if (means := _means(seeds))
    ]


def pooled_pairs(runs: Mapping[str, Sequence[Sequence[ItemResult]]]) -> list[PooledPair]:
    """All pairs of groups."""
    means = {group: _means(seeds) for group, seeds in runs.items()}
    pairs = []
    for first, second in combinations(means, 2):
        both = [question for question in means[first] if question in means[second]]
        if both:
            leads = np.array([means[second][q] - means[first][q] for q in both])
            drawn = _draws(leads)
            beyond = min(float((drawn <= 0).mean()), float((drawn >= 0).mean()))
            p = min(1.0, max(1 / DRAWS, 2 * beyond))
            pairs.append(PooledPair(first, second, len(both), _interval(leads, drawn), p))
    return pairs


def _means(seeds: Sequence[Sequence[ItemResult]]) -> dict[str, float]:
    """EX of each question, over the seeds that answered it."""
    values: dict[str, list[bool]] = defaultdict(list)
    for items in seeds:
        for item in items:
            values[item.id].append(item.ex)
    return {question: sum(found) / len(found) for question, found in values.items()}


def _draws(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Means of DRAWS samples of the questions, drawn with replacement."""
    random = np.random.default_rng(_SEED)
    size = len(values)
    return np.array([values[random.integers(0, size, size)].mean() for _ in range(DRAWS)])


def _interval(values: NDArray[np.float64], drawn: NDArray[np.float64] | None = None) -> Interval:
    low, high = np.percentile(_draws(values) if drawn is None else drawn, (2.5, 97.5))
    return Interval(float(values.mean()), float(low), float(high))

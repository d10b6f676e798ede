"""Multinomial logistic regression on sets of words, in plain Python: what a question's wording says of its query.

In: a set of named features that are there or not. Out: the probability of each label. The weights are few enough to
keep in a text file; `experiments.judge.softmax_training` trains them.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Softmax:
    """For each label a bias and sparse weights; the reference label has neither."""

    labels: tuple[str, ...]
    """The first is the reference."""
    biases: tuple[float, ...]
    """One for each label but the first."""
    weights: dict[str, tuple[tuple[int, float], ...]]
    """By feature: (place of the label among those with a bias, weight)."""

    def log_probabilities(self, features: Iterable[str]) -> dict[str, float]:
        """Natural logarithm of each label's probability."""
        sums = [0.0, *self.biases]
        for feature in features:
            for place, weight in self.weights.get(feature, ()):
                sums[place + 1] += weight
        top = max(sums)
        total = top + math.log(sum(math.exp(s - top) for s in sums))
        return {label: s - total for label, s in zip(self.labels, sums, strict=True)}

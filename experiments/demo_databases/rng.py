"""The only source of randomness in the demo databases: the same draws on every machine and in every Python version.

Only `random.Random.random` is guaranteed to give the same numbers in all versions. Every draw here is therefore derived
from it, using only additions, multiplications and comparisons, which IEEE floats define to the last bit.
"""

from __future__ import annotations

import random
from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate
from typing import TypeVar

T = TypeVar("T")


class Rng:
    """Draws from a seed."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed).random
        """A float in [0, 1)."""

    def between(self, low: int, high: int) -> int:
        """An integer from low to high, both included."""
        return low + int(self.random() * (high - low + 1))

    def chance(self, probability: float) -> bool:
        return self.random() < probability

    def pick(self, options: Sequence[T]) -> T:
        return options[int(self.random() * len(options))]


class Loaded:
    """Draws from options with integer weights; an option of weight 0 is never drawn."""

    def __init__(self, weights: Sequence[int]) -> None:
        self._totals = list(accumulate(weights))

    def draw(self, rng: Rng) -> int:
        """The index of an option."""
        return bisect_right(self._totals, int(rng.random() * self._totals[-1]))

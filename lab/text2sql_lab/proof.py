"""What two agents on the same questions prove: McNemar's exact test, and the gain with its interval.

In: which questions each got right. Out: the questions won and lost, and p, times the chances that there were to be
lucky.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from eval.metrics.intervals import paired

SIGNIFICANT = 0.05
CHANGED = 0.09
"""The share of the answers that a kit usually changes."""


class _Test:
    """Of the second agent against the first."""

    __slots__ = ()
    won: int
    lost: int
    p: float

    @property
    def better(self) -> bool:
        return self.won > self.lost and self.p < SIGNIFICANT

    @property
    def worse(self) -> bool:
        return self.lost > self.won and self.p < SIGNIFICANT


@dataclass(frozen=True, slots=True)
class Gain(_Test):
    difference: float
    """Of the shares that are right."""
    low: float
    high: float
    """95 % (Newcombe)."""
    won: int
    lost: int
    p: float


def gained(before: Sequence[bool], after: Sequence[bool], chances: int = 1) -> Gain:
    pairs = paired(before, after)
    won, lost = pairs.only_second, pairs.only_first
    low, high = (round(bound, 4) for bound in pairs.interval)
    return Gain(round((won - lost) / max(1, len(before)), 4), low, high, won, lost, min(1.0, pairs.p * chances))


@dataclass(frozen=True, slots=True)
class Proof(_Test):
    """Held-out questions answered without and with the kit."""

    n: int
    before: float
    after: float
    won: int
    lost: int
    p: float
    """McNemar's exact p, times the number of times that these questions were read."""


NO_PROOF = Proof(0, 0.0, 0.0, 0, 0, 1.0)


def proof(event: Mapping[str, Any], readings: int) -> Proof:
    """Of a `held_out` event of the journal."""
    before, after = ([bit == "1" for bit in event[name]] for name in ("before", "after"))
    gain, n = gained(before, after, readings), max(1, len(before))
    first, second = (round(sum(right) / n, 4) for right in (before, after))
    return Proof(len(before), first, second, gain.won, gain.lost, round(gain.p, 6))


def needed(gain: float = 0.05) -> int:
    """Held-out questions that prove a gain with 80 % power at p < .05 if `CHANGED` of the answers change at all.

    Connor (1987), Biometrics 43, 207-211: the sample size of McNemar's test."""
    return math.ceil(((1.96 * math.sqrt(CHANGED) + 0.8416 * math.sqrt(CHANGED - gain * gain)) / gain) ** 2)

"""Grow the forest of the offline engine's confidence.

In: observations with known outcomes. Out: an `agent.parser.confidence.Forest`. Gradient boosting on the logistic
loss (Friedman 2001) with Newton leaves, in plain Python. A few thousand sparse observations take half a minute, and the
same input gives the same trees.
"""

from __future__ import annotations

import math
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from agent.parser.confidence import Forest

DOUBTS = (
    "doubt ", "unmet ", "unread", "some unread", "figure", "default shown", "joins", "inferred", "unnamed", "weakest",
    "mean link", "close choices", "rival", "another", "narrow", "several tables", "fan-out", "key shown", "repeats",
    "aggregate over", "entities", "several ranks", "group by a key", "one named row", "having without",
    "result empty", "result null", "result zero",
)  # fmt: skip
"""Prefixes of the names of features that can only lower the confidence."""
_DEPTH = 3
_LEAST = 20
"""The least number of observations on each side of a split."""
_SHARE = 0.7
"""The share of the observations that is sampled for each tree."""
_BINS = 6
"""The most thresholds for one feature."""
_RIDGE = 5.0
"""Added to a leaf's curvature, so that leaves with few observations have small values."""


@dataclass(frozen=True)
class Node:
    """`feature < threshold` leads to `below`, otherwise to `above`; a leaf has a value and no feature."""

    feature: str = ""
    threshold: float = 0.0
    below: Node | None = None
    above: Node | None = None
    value: float = 0.0

    def at(self, observed: Mapping[str, float]) -> float:
        """The value of the leaf that an observation falls into; a feature not observed counts as 0."""
        node = self
        while node.below is not None and node.above is not None:
            node = node.below if observed.get(node.feature, 0.0) < node.threshold else node.above
        return node.value

    def text(self) -> str:
        """The tree in one line: a split before its two sides, leaves as numbers, separated by tabs."""
        if self.below is None or self.above is None:
            return f"{self.value:.4f}"
        return f"{self.feature}<{self.threshold:g}\t{self.below.text()}\t{self.above.text()}"


def grown(
    observations: Sequence[Mapping[str, float]],
    outcomes: Sequence[bool],
    *,
    falling: Sequence[str] = (),
    trees: int = 250,
    rate: float = 0.05,
    seed: int = 7,
) -> Forest:
    """Learn a forest. Raises ValueError when there are no observations.

    `falling`: name prefixes of features whose increase may never raise the probability, whatever the sample says.
    """
    if not observations:
        raise ValueError("nothing to learn from")
    bins = _thresholds(observations)
    numbered = [(name, t) for name in sorted(bins) for t in bins[name]]
    falls = [name.startswith(tuple(falling)) if falling else False for name, _ in numbered]
    place = {split: k for k, split in enumerate(numbered)}
    rows = [
        [place[name, t] for name, value in o.items() for t in bins.get(name, ()) if value >= t] for o in observations
    ]
    share = min(max(sum(outcomes) / len(outcomes), 0.01), 0.99)
    bias = math.log(share / (1 - share))
    totals = [bias] * len(rows)
    chance = random.Random(seed)
    grown_trees = []
    for _ in range(trees):
        odds = [1 / (1 + math.exp(-t)) for t in totals]
        slope = [y - p for y, p in zip(outcomes, odds, strict=True)]
        bend = [p * (1 - p) for p in odds]
        drawn = [k for k in range(len(rows)) if chance.random() < _SHARE]
        tree = _grow(drawn, rows, slope, bend, numbered, falls, rate, _DEPTH)
        grown_trees.append(tree)
        for k, o in enumerate(observations):
            totals[k] += tree.at(o)
    return Forest((f"bias\t{bias:.4f}", *(tree.text() for tree in grown_trees)))


def _thresholds(observations: Sequence[Mapping[str, float]]) -> dict[str, list[float]]:
    """For each feature, a few split values: half of the smallest value above 0, then evenly spaced over the observed
    ones."""
    values_of: dict[str, list[float]] = {}
    for o in observations:
        for name, value in o.items():
            if value > 0:
                values_of.setdefault(name, []).append(value)
    thresholds = {}
    for name, values in values_of.items():
        if len(values) < _LEAST:
            continue
        values.sort()
        steps = {values[len(values) * k // _BINS] for k in range(1, _BINS)}
        thresholds[name] = sorted({values[0] / 2, *(round(s, 3) for s in steps if s > values[0])})
    return thresholds


def _grow(
    at: list[int],
    rows: list[list[int]],
    slope: list[float],
    bend: list[float],
    splits: list[tuple[str, float]],
    falls: list[bool],
    rate: float,
    depth: int,
) -> Node:
    total, curve = sum(slope[k] for k in at), sum(bend[k] for k in at)
    leaf = Node(value=rate * total / (curve + _RIDGE))
    if depth == 0 or len(at) < 2 * _LEAST:
        return leaf
    sums, curves, counts = [0.0] * len(splits), [0.0] * len(splits), [0] * len(splits)
    for k in at:
        g, h = slope[k], bend[k]
        for s in rows[k]:
            sums[s] += g
            curves[s] += h
            counts[s] += 1
    best, chosen = total * total / (curve + _RIDGE) + 1e-6, -1
    for s in range(len(splits)):
        if _LEAST <= counts[s] <= len(at) - _LEAST:
            more = sums[s] / (curves[s] + _RIDGE) > (total - sums[s]) / (curve - curves[s] + _RIDGE)
            if more and falls[s]:
                continue
            gain = sums[s] ** 2 / (curves[s] + _RIDGE) + (total - sums[s]) ** 2 / (curve - curves[s] + _RIDGE)
            if gain > best:
                best, chosen = gain, s
    if chosen < 0:
        return leaf
    above = [k for k in at if chosen in rows[k]]
    inside = set(above)
    below = [k for k in at if k not in inside]
    name, threshold = splits[chosen]
    deeper = (rows, slope, bend, splits, falls, rate, depth - 1)
    return Node(name, threshold, _grow(below, *deeper), _grow(above, *deeper))

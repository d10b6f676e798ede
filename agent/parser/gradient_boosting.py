"""A small forest: the probability that a reading is right, from human-readable features.

In: a forest as text, one tree a line. Out: the sum of its trees for one observation. `experiments.parser.growing` grows
it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any


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


_Split = Any
"""A leaf's value, or `(place of the feature, threshold, below, above)`."""


@dataclass(frozen=True)
class Forest:
    """Trees whose values add up to the log-odds."""

    bias: float = 0.0
    trees: tuple[Node, ...] = field(default=())

    def probability(self, observed: Mapping[str, float]) -> float:
        places, splits = self._splits
        values, total = [observed.get(feature, 0.0) for feature in places], 0.0
        for node in splits:
            while type(node) is tuple:
                place, threshold, below, above = node
                node = below if values[place] < threshold else above
            total += node
        total += self.bias
        return 1 / (1 + math.exp(-max(-30.0, min(30.0, total))))

    @cached_property
    def _splits(self) -> tuple[list[str], list[_Split]]:
        """The features by place, and the trees as plain tuples, which are walked in a quarter of the time."""
        places: dict[str, int] = {}
        splits = [_split(tree, places) for tree in self.trees]
        return list(places), splits

    def lines(self) -> list[str]:
        return [f"bias\t{self.bias:.4f}", *(tree.text() for tree in self.trees)]


def _split(node: Node, places: dict[str, int]) -> _Split:
    if node.below is None or node.above is None:
        return node.value
    place = places.setdefault(node.feature, len(places))
    return place, node.threshold, _split(node.below, places), _split(node.above, places)


def parsed(lines: Sequence[str]) -> Forest:
    """A forest from its lines. Raises ValueError for a line that is not a tree."""
    bias = float(lines[0].removeprefix("bias\t"))
    return Forest(bias, tuple(_tree(iter(line.split("\t"))) for line in lines[1:]))


def _tree(parts: Iterator[str]) -> Node:
    part = next(parts)
    feature, split, threshold = part.rpartition("<")
    if not split:
        return Node(value=float(part))
    return Node(feature, float(threshold), _tree(parts), _tree(parts))

"""Train `eval.scoring.softmax`: AdaGrad (Duchi et al. 2011) on the most telling features alone.

In: rows, each a set of named features that are there or not, and one label a row. Out: a `Softmax`. The rows are
shuffled by a fixed seed, so that the same rows give the same weights.
"""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Collection, Sequence

from eval.scoring.softmax import Softmax

EPOCHS = 6
RATE = 0.25
KEPT = 400
"""Features used."""
DROPPED = 0.12
"""Smaller weights are left out of the result."""
SEED = 3


def train(rows: Sequence[Collection[str]], labels: Sequence[str], *, least: int) -> Softmax:
    """Fit on rows and their labels; features in fewer than `least` rows are left out. At least one row."""
    ordered = tuple(label for label, _ in Counter(labels).most_common())
    place = {label: k - 1 for k, label in enumerate(ordered)}
    seen = Counter(feature for row in rows for feature in row)
    names = _telling(rows, labels, {f for f, rows_with_it in seen.items() if rows_with_it >= least})
    number = {name: i + 1 for i, name in enumerate(names)}
    coded = [[0, *(number[f] for f in sorted(row) if f in number)] for row in rows]
    wanted = [place[label] for label in labels]
    width = len(ordered) - 1
    weights = [[0.0] * width for _ in range(len(names) + 1)]
    squares = [[1e-2] * width for _ in range(len(names) + 1)]
    order = list(range(len(coded)))
    dice = random.Random(SEED)
    for epoch in range(EPOCHS):
        dice.shuffle(order)
        rate = RATE / (1 + epoch / 2)
        for r in order:
            _step(coded[r], wanted[r], weights, squares, rate)
    kept = {
        name: tuple((k, round(w, 2)) for k, w in enumerate(weights[i]) if abs(w) >= DROPPED)
        for name, i in number.items()
    }
    return Softmax(
        ordered,
        tuple(round(b, 3) for b in weights[0]),
        {n: coefficients for n, coefficients in kept.items() if coefficients},
    )


def _telling(rows: Sequence[Collection[str]], labels: Sequence[str], among: Collection[str]) -> list[str]:
    """The `KEPT` features whose presence moves some label furthest from its share, in standard deviations."""
    share = {label: n / len(labels) for label, n in Counter(labels).items()}
    together: dict[str, Counter[str]] = {feature: Counter() for feature in among}
    for row, label in zip(rows, labels, strict=True):
        for feature in row:
            if feature in together:
                together[feature][label] += 1

    def moved(feature: str) -> float:
        coefficients = together[feature]
        rows_with_it = coefficients.total()
        return max(
            abs(coefficients[label] - rows_with_it * p) / math.sqrt(rows_with_it * p * (1 - p) + 1)
            for label, p in share.items()
        )

    return sorted(sorted(among, key=lambda f: (-moved(f), f))[:KEPT])


def _step(row: list[int], wanted: int, weights: list[list[float]], squares: list[list[float]], rate: float) -> None:
    """One row's update: each label's error spreads over the row's features."""
    sums = [sum(column) for column in zip(*(weights[i] for i in row), strict=True)]
    top = max(0.0, *sums)
    shares = [math.exp(s - top) for s in sums]
    total = math.exp(-top) + sum(shares)
    for k, share in enumerate(shares):
        error = (k == wanted) - share / total
        if abs(error) < 0.01:
            continue
        for i in row:
            line, square = weights[i], squares[i]
            square[k] += error * error
            line[k] += rate * error / math.sqrt(square[k])

"""Logistic regression with an L2 penalty, by Newton's method, on sparse rows: plain Python, a second for thousands.

In: rows of named values, labels, weights. Out: weights by name and an intercept.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

from eval.scoring.correctness import Fit, Row


def fit(
    rows: Sequence[Row],
    labels: Sequence[bool],
    *,
    penalty: float,
    prior: Mapping[str, float] | None = None,
    sign: Callable[[str], int] = lambda _: 0,
    offsets: Sequence[float] | None = None,
    importance: Sequence[float] | None = None,
    steps: int = 12,
) -> Fit:
    """Maximise the log-likelihood less `penalty / 2` times the squared distance of the weights from `prior`'s (0 where
    it has none; the intercept is free). A name that only the prior knows keeps its weight.

    `sign` gives 1 for a name whose weight may not be negative, -1 for one that may not be positive, 0 for any. A weight
    that would come out with the wrong sign is 0 (projected Newton steps).

    With `offsets`, each row's log-odds start from a known number and there is no intercept. `importance` says how much
    each row counts (default 1).

    Newton's steps (iteratively reweighted least squares) until the largest change is below 1e-3, at most `steps`.
    """
    prior = prior or {}
    names = sorted({name for row in rows for name in row} | set(prior))
    place = {name: i + 1 for i, name in enumerate(names)}
    signs = [0, *map(sign, names)]
    sparse = [[(0, 1.0), *((place[n], v) for n, v in sorted(row.items()) if v)] for row in rows]
    width = len(names) + 1
    centre = [0.0, *(prior.get(name, 0.0) for name in names)]
    beta = [0.0 if b * s < 0 else b for b, s in zip(centre, signs, strict=True)]
    known = offsets or [0.0] * len(rows)
    counts = importance or [1.0] * len(rows)
    for _ in range(steps):
        gradient = [0.0] * width
        hessian = [[0.0] * width for _ in range(width)]
        for row, label, start, count in zip(sparse, labels, known, counts, strict=True):
            p = 1 / (1 + math.exp(-max(-30.0, min(30.0, start + sum(beta[i] * v for i, v in row)))))
            error, spread = count * (label - p), count * p * (1 - p)
            for a, (i, v) in enumerate(row):
                gradient[i] += error * v
                line, scaled = hessian[i], spread * v
                for j, w in row[: a + 1]:
                    line[j] += scaled * w
        for i in range(1, width):
            gradient[i] -= penalty * (beta[i] - centre[i])
            hessian[i][i] += penalty
        # A weight at 0 that would leave to the wrong side stays there for this step: a projected Newton step.
        moving = [i for i in range(width) if not (signs[i] and beta[i] == 0.0 and gradient[i] * signs[i] <= 0)]
        moving = moving if offsets is None else [i for i in moving if i]
        lower = [[hessian[i][j] for j in moving[: a + 1]] for a, i in enumerate(moving)]
        change = _solved(lower, [gradient[i] for i in moving])
        largest = 0.0
        for i, c in zip(moving, change, strict=True):
            after = beta[i] + c
            after = 0.0 if after * signs[i] < 0 else after
            largest = max(largest, abs(after - beta[i]))
            beta[i] = after
        if largest < 1e-3:
            break
    return Fit(beta[0], dict(zip(names, beta[1:], strict=True)))


def _solved(lower: list[list[float]], right: list[float]) -> list[float]:
    """The solution of a positive definite system given by its lower triangle (Cholesky)."""
    size = len(right)
    root = [[0.0] * size for _ in range(size)]
    for i in range(size):
        for j in range(i + 1):
            rest = lower[i][j] - sum(a * b for a, b in zip(root[i][:j], root[j][:j], strict=True))
            root[i][j] = math.sqrt(max(rest, 1e-9)) if i == j else rest / root[j][j]
    forward = [0.0] * size
    for i in range(size):
        forward[i] = (right[i] - sum(root[i][k] * forward[k] for k in range(i))) / root[i][i]
    back = [0.0] * size
    for i in reversed(range(size)):
        back[i] = (forward[i] - sum(root[k][i] * back[k] for k in range(i + 1, size))) / root[i][i]
    return back

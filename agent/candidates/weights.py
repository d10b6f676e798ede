"""The probability that a result is right, from what is seen of it among its rivals: a logistic regression.

In: the features of a group of candidates. Out: 0..1. The weights are in `weights.txt`, written by
`python -m experiments.selection.measure --write`.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path

from eval.scoring.correctness import logistic
from eval.scoring.regression import Fit, read_weights

FITTED = Path(__file__).with_name("weights.txt")
INTERCEPT = "intercept"


@cache
def weights(path: Path = FITTED) -> Fit:
    """Read the file once. Raises ValueError naming a bad line."""
    weights = read_weights(path)
    return Fit(weights.pop(INTERCEPT), weights)


def probability(features: Mapping[str, float], fitted: Fit | None = None) -> float:
    """That the result is right, 0..1."""
    return logistic((fitted or weights()).log_odds(features))

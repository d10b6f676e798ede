"""Weights of features, as text: one `weight name` a line. Learned by `python -m experiments.grammar_parser.fit`."""

from __future__ import annotations

from functools import cache
from pathlib import Path

FILE = Path(__file__).parent / "weights.txt"


@cache
def weights() -> dict[str, float]:
    """The learned weights; empty before the first fit."""
    if not FILE.exists():
        return {}
    found = {}
    for line in FILE.read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            number, _, name = line.partition(" ")
            found[name] = float(number)
    return found


def score(features: dict[str, float], learned: dict[str, float]) -> float:
    """The sum of a reading's weighted features."""
    return sum(learned.get(name, 0.0) * value for name, value in features.items())

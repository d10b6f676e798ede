"""The weights of a logistic regression: read from a fitted file, and applied to a row of named values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

Row = Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Fit:
    intercept: float
    weights: dict[str, float]

    def log_odds(self, row: Row) -> float:
        return self.intercept + sum(self.weights.get(name, 0.0) * value for name, value in row.items())


def read_weights(path: Path) -> dict[str, float]:
    """A fitted file's numbers: lines `name weight`, `#` starts a comment. Raises ValueError naming a bad line."""
    weights: dict[str, float] = {}
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        fields = line.partition("#")[0].split()
        if not fields:
            continue
        try:
            name, weight = fields
            weights[name] = float(weight)
        except ValueError:
            raise ValueError(f"{path.name}, line {number}: expected a name and a number") from None
    return weights

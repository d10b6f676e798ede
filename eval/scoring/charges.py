"""What an observation costs a dimension: a tenth of the log-odds that it was found to cost, at most three tenths.

So a sign that recorded answers showed to be empty costs nothing, and no cost is set by taste, but for `GRAVE`: signs so
rare among real answers that the fit can't know them, yet beyond doubt.
"""

from __future__ import annotations

from collections.abc import Sequence
from types import MappingProxyType

from eval.scoring.correctness import coefficients
from eval.scoring.evidence.reading import Observation

PER_LOG_ODDS = 0.1
MOST = 0.3
GRAVE = MappingProxyType({"nothing_linked": 0.5, "other_table_named": 0.5, "cartesian": 0.5, "all_null": 0.3})


def charged(names: frozenset[str], seen: Sequence[Observation]) -> tuple[float, str]:
    """1 less the cost of what was seen of `names`, at least 0; and the dearest of it in words."""
    weights = coefficients().weights
    charges = [(cost, o.text) for o in seen if o.name in names and (cost := _cost(o, weights.get(o.name, 0.0))) > 0]
    if not charges:
        return 1.0, ""
    return max(0.0, 1.0 - sum(cost for cost, _ in charges)), max(charges)[1]


def _cost(seen: Observation, weight: float) -> float:
    return max(GRAVE.get(seen.name, 0.0), min(MOST, PER_LOG_ODDS * max(0.0, -weight * seen.value)))

"""What a contradiction costs a dimension: a tenth of the log-odds that it was found to cost, at most three tenths.

A contradiction that labelled answers showed to be harmless costs nothing, and habits never cost anything here. No cost
is set by taste, except for `GRAVE`: contradictions so rare among real answers that the fit can't know them, yet beyond
doubt.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from eval.scoring.correctness import coefficients
from eval.scoring.evidence.question_reading import Observation
from eval.scoring.evidence_kinds import PROVED, kind_of

PER_LOG_ODDS = 0.1
MOST = 0.3
GRAVE = MappingProxyType({"nothing_linked": 0.5, "other_table_named": 0.5, "cartesian": 0.5, "all_null": 0.3})


def charged(
    names: frozenset[str], seen: Sequence[Observation], fitted: Mapping[str, float] | None = None
) -> tuple[float, str]:
    """1 less the cost of what was seen of `names`, at least 0; and the dearest of it in words."""
    weights = coefficients().weights if fitted is None else fitted
    charges = [
        (cost, o.text)
        for o in seen
        if o.name.removeprefix(PROVED) in names
        and kind_of(o.name) == "contradiction"
        and (cost := _cost(o, weights.get(o.name, 0.0))) > 0
    ]
    if not charges:
        return 1.0, ""
    return max(0.0, 1.0 - sum(cost for cost, _ in charges)), max(charges)[1]


def _cost(seen: Observation, weight: float) -> float:
    grave = GRAVE.get(seen.name, 0.0) * min(1.0, seen.value)
    return max(grave, min(MOST, PER_LOG_ODDS * max(0.0, -weight * seen.value)))

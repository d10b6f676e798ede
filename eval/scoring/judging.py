"""The score of one query: seven dimensions, evidence and vetoes in, one `Score` out; and its blend with relevance."""

from __future__ import annotations

from eval.scoring.best_practices import best_practices
from eval.scoring.completeness import completeness
from eval.scoring.correctness import correctness, evidence
from eval.scoring.efficiency import efficiency
from eval.scoring.evidence.observing import observations
from eval.scoring.evidence.reading import Reading
from eval.scoring.plan_quality import plan_quality
from eval.scoring.presets import RELEVANCE_WEIGHT, THRESHOLD, weights
from eval.scoring.safety import safety
from eval.scoring.semantic_accuracy import semantic_accuracy
from eval.scoring.types import DIMENSIONS, Case, Score
from eval.scoring.vetoes import vetoes

_JUST_BELOW = 0.01


def score(case: Case, preset: str = "default") -> Score:
    """Score a query from what the case already knows: no parsing, no connection, no model, about a millisecond.

    Raises ValueError for an unknown preset.
    """
    by_name = weights(preset)
    forbidden = vetoes(case)
    seen = observations(Reading(case))
    right, probability, sentence = correctness(case, seen, vetoed=bool(forbidden))
    judged = {
        "correctness": (right, sentence),
        "safety": safety(case),
        "efficiency": efficiency(case),
        "completeness": completeness(case, seen),
        "semantic_accuracy": semantic_accuracy(case, seen),
        "best_practices": best_practices(case),
        "plan_quality": plan_quality(case),
    }
    total = sum(by_name[name] * judged[name][0] for name in DIMENSIONS)
    return Score(
        dimensions={name: judged[name][0] for name in DIMENSIONS},
        weighted=min(total, THRESHOLD - _JUST_BELOW) if forbidden else total,
        evidence=evidence(seen),
        vetoes=forbidden,
        preset=preset,
        notes={name: judged[name][1] for name in DIMENSIONS if judged[name][1]},
        probability=probability,
    )


def final_score(scored: Score, relevance: float) -> float:
    """`0.85 × weighted + 0.15 × relevance` (0..1); below the gate's default threshold when something vetoes."""
    blended = (1 - RELEVANCE_WEIGHT) * scored.weighted + RELEVANCE_WEIGHT * min(1.0, max(0.0, relevance))
    return min(blended, THRESHOLD - _JUST_BELOW) if scored.vetoes else blended

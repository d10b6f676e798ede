"""How far a query can be trusted: seven dimensions, one small pure function each, evidence in words, presets.

`score(case)` takes a `Case` with everything already known of a query and returns a `Score`; `final_score` blends it
with the judge's relevance. `observed(case)` is the part of it that takes longest and does not depend on the relevance.
Formulas, features and measured figures: docs/scoring.md.
"""

from __future__ import annotations

from eval.scoring.correctness import EVEN_ODDS, NOT_RUN
from eval.scoring.dimensions import PRESETS, RELEVANCE_WEIGHT, THRESHOLD
from eval.scoring.evidence.question_reading import Observation
from eval.scoring.scorer import final_score, lets_through, observed, passes, score
from eval.scoring.types import DIMENSIONS, Case, Evidence, Score, SecondOpinion

__all__ = [
    "DIMENSIONS",
    "EVEN_ODDS",
    "NOT_RUN",
    "PRESETS",
    "RELEVANCE_WEIGHT",
    "THRESHOLD",
    "Case",
    "Evidence",
    "Observation",
    "Score",
    "SecondOpinion",
    "final_score",
    "lets_through",
    "observed",
    "passes",
    "score",
]

"""Semantic accuracy: the question's intent, literals and units are the query's.

`1` less what each sign that they are not costs (`eval.scoring.penalties`), at least 0.
"""

from __future__ import annotations

from collections.abc import Sequence

from eval.scoring.evidence.question_reading import Observation
from eval.scoring.evidence_kinds import marked
from eval.scoring.penalties import charged
from eval.scoring.types import Case

SIGNS = marked("otherwise")
"""Observations that say that the query means something else."""


def semantic_accuracy(case: Case, seen: Sequence[Observation]) -> tuple[float, str]:
    """The dimension (0..1) and why it is not 1."""
    if case.parsed.tree is None or not case.references.tables:
        return 0.0, "The query speaks of nothing that the question asks about."
    return charged(SIGNS, seen)

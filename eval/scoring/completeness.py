"""Completeness: all rows and columns that the question asks for, nothing cut.

`1` less what each sign that something is missing costs (`eval.scoring.penalties`), at least 0. With
gold: the share of gold's rows that the result has.
"""

from __future__ import annotations

from collections.abc import Sequence

from eval.scoring.evidence.question_reading import Observation
from eval.scoring.evidence_kinds import marked
from eval.scoring.penalties import charged
from eval.scoring.types import Case

SIGNS = marked("incomplete")
"""Observations that say that something is missing."""


def completeness(case: Case, seen: Sequence[Observation]) -> tuple[float, str]:
    """The dimension (0..1) and why it is not 1."""
    if case.result is None or not case.result.ok:
        return 0.0, "There is no result."
    if case.gold is not None:
        expected, actual = len(case.gold.rows), len(case.result.rows)
        if case.gold.columns and len(case.result.columns) < len(case.gold.columns):
            return 0.5, f"{len(case.result.columns)} of {len(case.gold.columns)} columns."
        if actual >= expected:
            return 1.0, ""
        return actual / expected, f"{actual} of {expected} rows."
    return charged(SIGNS, seen)

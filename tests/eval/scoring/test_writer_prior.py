"""A writer's prior is what its answers show beyond their evidence."""

from __future__ import annotations

import pytest

from eval.scoring.correctness import Answered, Coefficients, prior_of


def test_a_writers_prior_takes_the_evidence_into_account() -> None:
    judge = Coefficients(0.75, 0.35, {"quoted_matched": 1.0})
    spoken_for = [Answered({"quoted_matched": 1.0}, n % 5 > 0) for n in range(400)]
    silent = [Answered({}, n % 5 > 0) for n in range(400)]

    assert prior_of(silent, judge) == pytest.approx(0.8, abs=0.01)
    assert prior_of(spoken_for, judge) < 0.65

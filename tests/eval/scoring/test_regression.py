"""The fit finds what made the labels, and the measures agree with values worked out by hand."""

from __future__ import annotations

import pytest

from eval.scoring.contradictions import NAMES
from eval.scoring.correctness import coefficients
from eval.scoring.evidence_kinds import PROVED
from experiments.judge.fit_measures import auc, calibration_error, reliability


def test_auc_counts_ties_half() -> None:
    assert auc([0.1, 0.2, 0.3, 0.4], [False, False, True, True]) == 1.0
    assert auc([0.5, 0.5], [False, True]) == 0.5
    assert auc([0.9, 0.1, 0.5], [False, True, True]) == 0.0


def test_calibration_error_is_the_weighted_distance() -> None:
    probabilities, labels = [0.95] * 4 + [0.05] * 4, [True, True, True, False] + [False] * 4
    assert calibration_error(probabilities, labels) == pytest.approx((0.20 + 0.05) / 2)
    assert [b.answers for b in reliability(probabilities, labels)] == [4, 4]


def test_every_fitted_name_is_one_that_the_evidence_uses() -> None:
    from pathlib import Path

    from eval.scoring import evidence

    source = "".join(p.read_text(encoding="utf-8") for p in Path(evidence.__file__).parent.glob("*.py"))
    known = {PROVED + check for check in NAMES}
    unknown = [name for name in coefficients().weights if f'"{name}"' not in source and name not in known]
    assert unknown == []

"""The fit finds what made the labels, and the measures agree with values worked out by hand."""

from __future__ import annotations

import random

import pytest

from eval.scoring.contradictions import NAMES
from eval.scoring.correctness import coefficients, logistic
from eval.scoring.evidence_kinds import PROVED
from experiments.judge.fit_measures import auc, calibration_error, reliability
from experiments.logistic_regression import fit


def test_the_fit_recovers_the_weights_that_made_the_labels() -> None:
    dice = random.Random(5)
    rows = [{"a": dice.random() * 2, "b": float(dice.random() < 0.3)} for _ in range(6000)]
    labels = [dice.random() < logistic(0.5 + 1.5 * r["a"] - 2.0 * r["b"]) for r in rows]
    model = fit(rows, labels, penalty=0.1)
    assert model.intercept == pytest.approx(0.5, abs=0.25)
    assert model.weights == {"a": pytest.approx(1.5, abs=0.25), "b": pytest.approx(-2.0, abs=0.25)}


def test_what_is_never_seen_keeps_the_priors_weight() -> None:
    model = fit([{"a": 1.0}, {}] * 50, [True, False] * 50, penalty=5.0, prior={"rare": -1.25})
    assert model.weights["rare"] == pytest.approx(-1.25)
    assert model.weights["a"] > 1


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

"""A sentence that speaks for an answer never weighs against it."""

from __future__ import annotations

from eval.scoring.correctness import coefficients
from eval.scoring.evidence_kinds import sign
from experiments.logistic_regression import fit


def test_no_fitted_weight_contradicts_its_name() -> None:
    weights = coefficients().weights
    assert len(weights) > 50
    assert {name: w for name, w in weights.items() if w * sign(name) < 0} == {}


def test_a_weight_of_the_wrong_sign_is_left_out_of_the_fit() -> None:
    rows = [{"a_matched": 1.0, "familiar": 1.0}, {"familiar": 1.0}, {"a_matched": 1.0}, {}] * 5
    labels = [False, True, False, False] * 5
    free = fit(rows, labels, penalty=1.0)
    bound = fit(rows, labels, penalty=1.0, sign=sign)
    assert free.weights["a_matched"] < 0
    assert bound.weights["a_matched"] == 0
    assert bound.weights["familiar"] > 0

"""The fitted weights, what they are fitted and measured with, and the names that they are of."""

from __future__ import annotations

from pathlib import Path

import pytest

from eval.scoring import evidence
from eval.scoring.contradictions import NAMES
from eval.scoring.correctness import Answered, Coefficients, coefficients, prior_of
from eval.scoring.types import _LISTED, PROVED, sign
from experiments.judge.fit_measures import auc, calibration_error, reliability
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


def test_a_writers_prior_takes_the_evidence_into_account() -> None:
    judge = Coefficients(0.75, 0.35, {"quoted_matched": 1.0})
    spoken_for = [Answered({"quoted_matched": 1.0}, n % 5 > 0) for n in range(400)]
    silent = [Answered({}, n % 5 > 0) for n in range(400)]

    assert prior_of(silent, judge) == pytest.approx(0.8, abs=0.01)
    assert prior_of(spoken_for, judge) < 0.65


def test_auc_counts_ties_half() -> None:
    assert auc([0.1, 0.2, 0.3, 0.4], [False, False, True, True]) == 1.0
    assert auc([0.5, 0.5], [False, True]) == 0.5
    assert auc([0.9, 0.1, 0.5], [False, True, True]) == 0.0


def test_calibration_error_is_the_weighted_distance() -> None:
    probabilities, labels = [0.95] * 4 + [0.05] * 4, [True, True, True, False] + [False] * 4
    assert calibration_error(probabilities, labels) == pytest.approx((0.20 + 0.05) / 2)
    assert [b.answers for b in reliability(probabilities, labels)] == [4, 4]


def test_every_name_is_one_that_the_evidence_uses() -> None:
    source = "".join(p.read_text(encoding="utf-8") for p in Path(evidence.__file__).parent.glob("*.py"))
    proofs = NAMES | {PROVED + check for check in NAMES}
    assert [n for n in (*coefficients().weights, *_LISTED) if f'"{n}"' not in source and n not in proofs] == []

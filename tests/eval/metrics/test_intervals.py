"""Intervals and tests against published values."""

from __future__ import annotations

import pytest

from eval.metrics.intervals import Paired, mcnemar_exact, paired, paired_interval, percentile, wilson_interval
from experiments.mann_whitney import mann_whitney


def test_intervals_against_published_values() -> None:
    # Newcombe (1998), Statistics in Medicine 17, table I, method 3: 81/263, 15/148, 0/20, 1/29.
    assert wilson_interval(81, 263) == pytest.approx((0.2553, 0.3662), abs=5e-5)
    assert wilson_interval(15, 148) == pytest.approx((0.0624, 0.1605), abs=5e-5)
    assert wilson_interval(0, 20) == pytest.approx((0.0, 0.1611), abs=5e-5)
    assert wilson_interval(1, 29) == pytest.approx((0.0061, 0.1718), abs=5e-5)
    # Newcombe (1998), Statistics in Medicine 17, 2635-2650, table III, method 10.
    assert paired_interval(36, 2, 12, 0) == pytest.approx((0.0569, 0.3404), abs=5e-5)


def test_mcnemar_is_a_two_sided_coin_test() -> None:
    assert mcnemar_exact(0, 0) == 1.0
    assert mcnemar_exact(5, 5) == 1.0
    assert mcnemar_exact(0, 6) == pytest.approx(2 / 64)
    assert mcnemar_exact(6, 0) == mcnemar_exact(0, 6)
    assert mcnemar_exact(2, 8) == pytest.approx(2 * (1 + 10 + 45) / 1024)
    with pytest.raises(ValueError, match="negative"):
        mcnemar_exact(-1, 2)


def test_mann_whitney_on_two_samples() -> None:
    """Values of R: wilcox.test(…, exact = TRUE), and with the normal approximation for the last."""
    assert mann_whitney([1, 2, 3], [4, 5, 6]) == pytest.approx(0.1)
    assert mann_whitney([0.8, 0.83, 1.89, 1.04, 1.45, 1.38, 1.91, 1.64, 0.73, 1.46], [1.15, 0.88, 0.9, 0.74, 1.21]) == (
        pytest.approx(0.2544, abs=1e-4)
    )
    assert mann_whitney([1, 1, 1], [1, 1]) == 1.0
    assert mann_whitney([], [1.0]) == 1.0
    assert mann_whitney(range(30), range(10, 40)) == pytest.approx(0.000224, abs=1e-6)


@pytest.mark.parametrize(("share", "value"), [(0.0, 1.0), (0.5, 2.5), (0.95, 3.85), (1.0, 4.0)])
def test_percentiles_lie_between_the_nearest(share: float, value: float) -> None:
    assert percentile([4.0, 1.0, 3.0, 2.0], share) == pytest.approx(value)
    assert percentile([], share) == 0.0


def test_two_systems_on_the_same_items_are_counted_by_who_is_right() -> None:
    pairs = paired([True, True, False, False, True], [True, False, True, False, False])

    assert pairs == Paired(both=1, only_first=2, only_second=1, neither=1)
    assert pairs.p == mcnemar_exact(2, 1)
    assert pairs.interval == paired_interval(1, 2, 1, 1)
    with pytest.raises(ValueError, match="shorter"):
        paired([True], [])

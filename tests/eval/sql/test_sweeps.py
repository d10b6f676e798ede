"""Bounded runs of the sweeps against SQLite's own verdicts; `python -m experiments.guard_sweep` prints the figures."""

from __future__ import annotations

from pathlib import Path

import pytest

from experiments import guard_sweep
from tests.samples import ALL

pytestmark = pytest.mark.bench
EVERY = 1 if ALL else 7


def test_every_gold_passes_resolves_and_returns_the_same_rows(bench_dir: Path) -> None:
    figures = guard_sweep.golds(bench_dir, every=EVERY)
    assert dict(figures.counts) == {"golds": figures.counts["golds"]}, figures.examples[:5]
    assert figures.counts["golds"] > 11_000 // EVERY


def test_recorded_statements_are_flagged_exactly_where_the_engine_rejects_a_name(recorded_dir: Path) -> None:
    figures = guard_sweep.recorded(recorded_dir.parent / "bench", every=EVERY)
    assert figures.counts["runs, yet flagged"] == 0, figures.examples[:5]
    assert figures.counts["rejected for a name, yet not flagged"] <= 0.02 * figures.counts["rejected for a name"]


def test_broken_golds_are_judged_as_the_engine_judges_them(bench_dir: Path) -> None:
    figures = guard_sweep.mutants(bench_dir, limit=1_500)
    assert figures.counts["rejected for a name"] > 500
    assert figures.examples == []

"""`python -m experiments.selection.measure --bench DIR --recorded DIR`: what choosing among recorded candidates is
worth.

For each benchmark it prints EX of every system, of the plain vote, of the single best-judged answer and of the choice,
cross-validated by database: neither the weights of the choice nor the judge of single answers has seen an answer to
another question about the same database. `--write` fits on everything and writes `weights.txt`. `--cache FILE` keeps
the examined answers, which take a few minutes to compute; delete it when an evidence file changes.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from agent.candidates.weights import FITTED, INTERCEPT
from eval.metrics.intervals import mcnemar_exact, wilson_interval
from eval.scoring.regression import Fit, calibration_error
from experiments.selection.fit import Folds, Trial, everything, trials
from experiments.selection.samples import lessons

FEWER = (5, 3, 2)


def figures(folds: Folds) -> Iterator[str]:
    """All printed output, line by line."""
    whole = trials(folds)
    fewer = {n: trials(folds, candidates=n) for n in FEWER}
    for benchmark in dict.fromkeys(t.benchmark for t in whole):
        yield from _benchmark(benchmark, _of(whole, benchmark), {n: _of(t, benchmark) for n, t in fewer.items()})


def _of(tried: Sequence[Trial], benchmark: str) -> list[Trial]:
    return [t for t in tried if t.benchmark == benchmark]


def _benchmark(name: str, tried: Sequence[Trial], fewer: dict[int, list[Trial]]) -> Iterator[str]:
    systems = sorted({s for t in tried for s in t.systems})
    yield f"{name}: {len(tried)} questions, {len(systems)} systems"
    ranked = sorted(systems, key=lambda s: -sum(t.systems.get(s, False) for t in tried))
    for system in ranked:
        yield f"  {rate([t.systems.get(system, False) for t in tried])}  {system}"
    yield f"  {rate([t.voted for t in tried])}  plain vote by result"
    yield f"  {rate([t.by_judge for t in tried])}  the best judged alone"
    yield f"  {rate([t.right for t in tried])}  the choice"
    yield f"  {rate([t.possible for t in tried])}  any of them right"
    yield f"  choice against vote: {paired([(t.right, t.voted) for t in tried])}"
    yield f"  choice against {ranked[0]}: {paired([(t.right, t.systems.get(ranked[0], False)) for t in tried])}"
    error = calibration_error([t.probability for t in tried], [t.right for t in tried])
    yield f"  ECE of the choice's probability: {error:.3f}"
    for number, some in fewer.items():
        yield (
            f"  {number} of them, drawn at random: vote {_share([t.voted for t in some]):.3f}, best judged "
            f"{_share([t.by_judge for t in some]):.3f}, choice {_share([t.right for t in some]):.3f}, any "
            f"{_share([t.possible for t in some]):.3f}"
        )


def rate(right: Sequence[bool]) -> str:
    """`0.874 (0.842-0.901)`: the share with its 95 % interval (Wilson)."""
    low, high = wilson_interval(sum(right), len(right))
    return f"{_share(right):.3f} ({low:.3f}-{high:.3f})"


def _share(right: Sequence[bool]) -> float:
    return sum(right) / max(1, len(right))


def paired(pairs: Sequence[tuple[bool, bool]]) -> str:
    """The number of questions that only the first and only the second gets right, and McNemar's exact p."""
    first, second = sum(a and not b for a, b in pairs), sum(b and not a for a, b in pairs)
    return f"+{first} -{second}, p = {mcnemar_exact(second, first):.2g} (McNemar)"


def written(model: Fit, lines: Sequence[str]) -> str:
    """The text of `weights.txt`."""
    told = [
        "# Log-odds that a result is right: intercept + sum of weight x value of what features.py sees of it.",
        "# Written by `python -m experiments.selection.measure --write` (docs/candidates.md). Cross-validated by "
        "database:",
        *(f"#   {line}" for line in lines),
        f"{INTERCEPT} {model.intercept:.4f}",
    ]
    return "\n".join([*told, *(f"{name} {w:.4f}" for name, w in sorted(model.weights.items()))]) + "\n"


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m experiments.selection.measure", description=(__doc__ or "").splitlines()[0]
    )
    parser.add_argument("--bench", type=Path, required=True, help="folder of benchmarks")
    parser.add_argument("--recorded", type=Path, required=True, help="folder of recorded answers")
    parser.add_argument("--cache", type=Path, help="keep the examined answers here")
    parser.add_argument("--write", action="store_true", help="write weights.txt")
    chosen = parser.parse_args(arguments)
    folds = Folds(lessons(chosen.bench, chosen.recorded, chosen.cache))
    lines = list(figures(folds))
    sys.stdout.write("\n".join(lines) + "\n")
    if chosen.write:
        FITTED.write_text(written(everything(folds.found), lines), encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())

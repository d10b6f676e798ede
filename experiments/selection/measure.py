"""`python -m experiments.selection.measure --bench DIR --recorded DIR --cache DIR`: what choosing among candidates is
worth.

Prints for each source and each number of candidates, drawn at random: the plain vote, the single best-judged answer,
the choice, and any of them right. Neither the weights of the choice nor the judge of single answers has seen any of
the source's family. `--write` fits on everything and writes `weights.txt`. The judge's samples and candidates are taken
from the cache; candidates that it lacks are extracted first.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from agent.candidates.choice import FITTED, INTERCEPT
from eval.scoring.correctness import Fit, coefficients
from experiments.judge.__main__ import RECORDED, cached
from experiments.judge.fit_measures import calibration_error
from experiments.selection.fit import Trial, Unseen, fit_weights, trials, unseen
from experiments.selection.samples import Asked, asked

_HALF = 0.5
NUMBERS = (2, 3, 5, 9)
LEADS = (0.0, 0.5, 1.0, 1.25, 1.5, 2.0)
"""Leads over the most voted result that are tried beside the shipped one."""
_HEADER = "source              candidates    draws   vote  judged  choice    any    ECE  choice against vote"


def figures(questions: Sequence[Asked], known: dict[str, Unseen]) -> Iterator[str]:
    """All printed output, line by line."""
    yield _HEADER
    for number in NUMBERS:
        tried = trials(questions, known, candidates=number)
        for source in dict.fromkeys(t.source for t in tried):
            yield _line(source, number, [t for t in tried if t.source == source])
    for lead in LEADS:
        gains = [
            sum(t.right - t.voted for t in tried) / len(tried)
            for number in NUMBERS
            if (tried := trials(questions, known, candidates=number, lead=lead))
        ]
        yield f"lead {lead:4.2f}: gain on the vote {' '.join(f'{gain:+.4f}' for gain in gains)} for {NUMBERS}"


def _line(source: str, number: int, tried: Sequence[Trial]) -> str:
    count = len(tried)
    vote, judged = sum(t.voted for t in tried) / count, sum(t.by_judge for t in tried) / count
    choice, possible = sum(t.right for t in tried) / count, sum(t.possible for t in tried) / count
    error = calibration_error([t.probability for t in tried], [t.right for t in tried])
    better = sum(t.right and t.voted <= _HALF for t in tried)
    worse = sum(not t.right and t.voted > _HALF for t in tried)
    return (
        f"{source:20} {number:9} {count:9} {vote:6.3f} {judged:7.3f} {choice:7.3f} {possible:6.3f} {error:6.3f}  "
        f"{choice - vote:+.3f} (+{better} -{worse})"
    )


def written(model: Fit, lines: Sequence[str]) -> str:
    """The text of `weights.txt`."""
    comments = [
        "# Log-odds that a result is right: intercept + sum of weight x value of what features.py sees of it.",
        "# Written by `python -m experiments.selection.measure --write` (docs/candidates.md). Every source left out:",
        *(f"#   {line}" for line in lines),
        f"{INTERCEPT} {model.intercept:.4f}",
    ]
    return "\n".join([*comments, *(f"{name} {w:.4f}" for name, w in sorted(model.weights.items()))]) + "\n"


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m experiments.selection.measure", description=(__doc__ or "").splitlines()[0]
    )
    parser.add_argument("--bench", type=Path, required=True, help="folder of benchmarks")
    parser.add_argument("--recorded", type=Path, required=True, help="folder of recorded answers")
    parser.add_argument("--cache", type=Path, required=True, help="the cache of `experiments.judge`")
    parser.add_argument("--write", action="store_true", help="write weights.txt")
    chosen = parser.parse_args(arguments)
    questions = asked(chosen.bench, chosen.recorded, chosen.cache)
    known = unseen(questions, cached(chosen.cache), RECORDED)
    lines = list(figures(questions, known))
    sys.stdout.write("\n".join(lines) + "\n")
    if chosen.write:
        FITTED.write_text(written(fit_weights(questions, coefficients()), lines), encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())

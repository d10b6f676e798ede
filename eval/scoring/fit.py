"""`python -m eval.scoring.fit --bench DIR --recorded DIR [--write]`: fit and measure the probability of correctness.

Prints the figures of docs/scoring.md, cross-validated by database: each database's answers are estimated by a fit that
has not seen it. With `--write`, fits on everything and writes `correctness.txt`. `--cache FILE` keeps the observations,
which take a minute or two to make, for the next run; delete it when an evidence file changes.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from pathlib import Path

from eval.scoring.correctness import NOT_RUN, dimension, logistic
from eval.scoring.evidence.signs import sign
from eval.scoring.expectation import LEARNED, told
from eval.scoring.learning import LEARNED_FROM, learned
from eval.scoring.presets import RELEVANCE_WEIGHT, THRESHOLD, weights
from eval.scoring.regression import Fit, auc, calibration_error, fit, reliability
from eval.scoring.samples import GOLD, READING, Sample, read_opinions, recorded, training

PENALTY = 4.0
PRIOR_PENALTY = 5.0
PRIOR_SHARE = 0.5
"""How much of what training questions teach the fit on recorded answers starts from: not all of it, for mutants are
wrong more plainly than real answers are."""
REFUSED_RIGHT = 0.05
"""Of the right answers, how many the gate may refuse."""
REFUSED_GOLD = 0.135
"""Of the training questions' gold queries, how many, judged by an expectation that has not seen them."""
RARE = 8
"""Features seen less often in recorded answers keep what training questions say of them."""


SET = {
    "other_table_named": -4.0,
    "candidates": 1.0,
    "count_missing": -4.0,
    "empty_beside_second_reading": -3.0,
}
"""Set by hand. Recorded models never forgot to count, hardly ever read an unrelated table, and in one of the recorded
databases right answers are empty because its values are padded with spaces; single answers say nothing of agreement:
beside the rest, the nine recorded systems' agreement was worth 1.2 a unit of log-odds."""


def learned_in_training(answers: Sequence[Sample]) -> dict[str, float]:
    """Weights by which right answers to training questions are told from wrong ones, shrunk. How many are right means
    nothing, neither among gold queries and their mutants nor among readings, which have an intercept of their own."""
    usable = [s for s in answers if not s.vetoed]
    if not usable:
        return {}
    rows = [s.features | ({READING: 1.0} if s.system == READING else {}) for s in usable]
    model = fit(rows, [s.right for s in usable], penalty=PRIOR_PENALTY, sign=_sign_in_training)
    return {name: PRIOR_SHARE * weight for name, weight in model.weights.items() if name != READING}


def _sign_in_training(name: str) -> int:
    return 0 if name == READING else sign(name)


def fitted(answers: Sequence[Sample], prior: dict[str, float]) -> Fit:
    """The regression on recorded answers that ran, drawn towards what training questions taught."""
    usable = [s for s in answers if not s.vetoed]
    seen = Counter(name for s in usable for name in s.features)
    rows = [{n: v for n, v in s.features.items() if seen[n] >= RARE or n in prior} for s in usable]
    model = fit(rows, [s.right for s in usable], penalty=PENALTY, prior=prior, sign=sign)
    return Fit(model.intercept, model.weights | SET)


def probability(model: Fit, sample: Sample) -> float:
    return NOT_RUN if sample.vetoed else logistic(model.log_odds(sample.features))


def cross_validated(answers: Sequence[Sample], prior: dict[str, float], *, systems: bool = False) -> list[float]:
    """For each recorded answer, its probability by a fit on the other databases; with `systems`, on the answers of
    other systems to questions about other databases."""
    estimates: dict[int, float] = {}
    for database, system in sorted({(s.database, s.system if systems else "") for s in answers}):
        model = fitted([s for s in answers if s.database != database and s.system != system], prior)
        apart = [i for i, s in enumerate(answers) if s.database == database and system in ("", s.system)]
        estimates |= {i: probability(model, answers[i]) for i in apart}
    return [estimates[i] for i in range(len(answers))]


def pivot_of(
    answers: Sequence[Sample], estimates: Sequence[float], golds: Sequence[Sample], gold_estimates: Sequence[float]
) -> float:
    """The greatest probability, in steps of 0.01, at which few enough right answers and few enough gold queries are
    refused."""
    right = [(s, p) for s, p in zip(answers, estimates, strict=True) if s.right]
    gold = list(zip(golds, gold_estimates, strict=True))

    def refused(some: list[tuple[Sample, float]], at: float) -> float:
        return sum(not passes(s, p, at) for s, p in some) / max(1, len(some))

    steps = [step / 100 for step in range(5, 96)]
    return max(
        (at for at in steps if refused(right, at) <= REFUSED_RIGHT and refused(gold, at) <= REFUSED_GOLD),
        default=steps[0],
    )


def passes(sample: Sample, estimate: float, pivot: float) -> bool:
    """Whether the gate lets it through at the default threshold, preset and a neutral relevance."""
    total = weights("default")["correctness"] * dimension(estimate, pivot) + sample.others
    return not sample.vetoed and (1 - RELEVANCE_WEIGHT) * total + RELEVANCE_WEIGHT * 0.5 >= THRESHOLD


def report(name: str, answers: Sequence[Sample], estimates: Sequence[float], pivot: float) -> Iterable[str]:
    labels = [s.right for s in answers]
    ran = [i for i, s in enumerate(answers) if not s.vetoed]
    right = [i for i, label in enumerate(labels) if label]
    wrong = [i for i, label in enumerate(labels) if not label]
    refused = [not passes(s, p, pivot) for s, p in zip(answers, estimates, strict=True)]
    yield f"{name}: {len(answers)} answers, {len(right) / len(answers):.3f} right"
    yield f"  AUC {auc(estimates, labels):.3f}; among those that execute " + (
        f"{auc([estimates[i] for i in ran], [labels[i] for i in ran]):.3f}"
    )
    yield f"  ECE {calibration_error(estimates, labels):.3f}"
    shares = [sum(refused[i] for i in some) / max(1, len(some)) for some in (right, wrong)]
    yield f"  gate at {THRESHOLD:.2f}, relevance 0.5: refuses {shares[0]:.3f} of right, {shares[1]:.3f} of wrong"
    for b in reliability(estimates, labels):
        yield f"    {b.low:.1f}-{b.high:.1f}  {b.answers:5d}  predicted {b.predicted:.3f}  right {b.right:.3f}"


def written(model: Fit, pivot: float, answers: Sequence[Sample], figures: Sequence[str]) -> str:
    """The text of `correctness.txt`."""
    counts = Counter(name for s in answers for name in s.features)
    lines = [
        "# Log-odds that a query that ran answers its question: intercept + sum of weight x value of each observation.",
        "# Written by `python -m eval.scoring.fit --write`; the names: docs/scoring.md, eval/scoring/evidence.",
        f"# Fitted by Newton's method on recorded answers, with an L2 penalty of {PENALTY:g} on the distance from",
        f"# {PRIOR_SHARE:g} of the weights learned from answers to training questions. Cross-validated by database:",
        *(f"#   {line}" for line in figures if not line.startswith("    ")),
        "# Third column: how many recorded answers show it.",
        f"intercept {model.intercept:.3f}",
        f"pivot {pivot:.3f}  # at most {REFUSED_RIGHT:.0%} of the right answers, {REFUSED_GOLD:.0%} of gold refused",
    ]
    ordered = sorted(model.weights.items(), key=lambda item: item[1])
    lines += [f"{name} {w:.3f}  # {counts[name]}" for name, w in ordered if abs(w) >= 0.0005]
    return "\n".join(lines) + "\n"


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m eval.scoring.fit", description=__doc__.splitlines()[0])
    parser.add_argument("--bench", type=Path, required=True, help="folder of benchmarks")
    parser.add_argument("--recorded", type=Path, required=True, help="folder of recorded answers")
    parser.add_argument("--opinions", type=Path, help="second readings, as `python -m agent.batch opinion` writes them")
    parser.add_argument("--cache", type=Path, help="keep the observations here")
    parser.add_argument("--systems", action="store_true", help="leave out systems too when measuring (slow)")
    parser.add_argument("--write", action="store_true", help="write correctness.txt")
    chosen = parser.parse_args(arguments)
    samples = _samples(chosen)
    answers = [s for s in samples if s.benchmark != "spider_train"]
    taught = [s for s in samples if s.benchmark == "spider_train"]
    golds = [s for s in taught if s.system == GOLD]
    prior = learned_in_training(taught)
    estimates = cross_validated(answers, prior, systems=chosen.systems)
    model = fitted(answers, prior)
    pivot = pivot_of(answers, estimates, golds, [probability(model, s) for s in golds])
    figures: list[str] = []
    for name in dict.fromkeys(s.benchmark for s in answers):
        chosen_ones = [i for i, s in enumerate(answers) if s.benchmark == name]
        figures += report(name, [answers[i] for i in chosen_ones], [estimates[i] for i in chosen_ones], pivot)
    passed = sum(passes(s, probability(model, s), pivot) for s in golds)
    figures.append(f"spider_train: {passed / max(1, len(golds)):.3f} of {len(golds)} gold queries pass the gate")
    sys.stdout.write("\n".join(figures) + "\n")
    if chosen.write:
        target = Path(__file__).with_name("correctness.txt")
        target.write_text(written(model, pivot, answers, figures), encoding="utf-8")
    return 0


def _samples(chosen: argparse.Namespace) -> list[Sample]:
    """The observations, from the cache where that will do: what is written is made anew."""
    cache: Path | None = chosen.cache
    if cache is not None and cache.exists() and not chosen.write:
        return [Sample(**json.loads(line)) for line in cache.read_text(encoding="utf-8").splitlines()]
    readings = read_opinions(chosen.opinions)
    whole, halves = learned(chosen.bench / "spider_train")
    if chosen.write:
        LEARNED.write_text(told(whole, LEARNED_FROM), encoding="utf-8")
    samples = [*recorded(chosen.bench, chosen.recorded, readings, whole), *training(chosen.bench, readings, halves)]
    if cache is not None:
        cache.write_text("".join(json.dumps(asdict(s)) + "\n" for s in samples), encoding="utf-8")
    return samples


if __name__ == "__main__":
    raise SystemExit(main())

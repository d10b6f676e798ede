"""Refit the judge from verdicts: the writers' priors, then the weights, each only if it holds on answers held out.

In: `Lesson`s, answers of which people said whether they are right. Out: `Learned`. Three judges are compared on answers
that they have not seen (`FOLDS`, by question): the shipped one, the shipped one with the writers' own priors, and one
whose weights were moved as well. A later one is taken only if its log-loss is lower by `GAIN`.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from agent.judging.local import LocalJudge
from eval.scoring.correctness import Coefficients, coefficients, logit
from eval.scoring.evidence.question_reading import Observation
from eval.scoring.evidence_kinds import sign
from eval.scoring.regression import fit

FOLDS = 5
GAIN = 0.01
"""Log-loss of an answer, in nats."""
LEAST_FOR_PRIOR = 20
LEAST_FOR_WEIGHTS = 60
"""Answers; with fewer a fit says nothing."""
PENALTY = 20.0
"""Holds the weights near the shipped ones: a weight moves far only if some twenty answers say so."""
TRUST = 10.0
"""Answers that the shipped prior is worth beside a writer's own."""
_RANGE = (0.02, 0.98)
_EXACTLY = 1e-4


@dataclass(frozen=True, slots=True)
class Lesson:
    question: str
    writer: str
    """The model's name; empty for SQL that a person wrote."""
    features: Mapping[str, float]
    """The observations of its query."""
    right: bool


@dataclass(frozen=True, slots=True)
class Learned:
    judge: LocalJudge | None
    """None: the shipped judge stays."""
    answers: int
    losses: dict[str, float]
    """The log-loss of an answer held out, of each judge that was tried: `shipped`, `prior`, `weights`."""


def learn(lessons: Sequence[Lesson]) -> Learned:
    """The best judge that answers held out bear out."""
    shipped = coefficients()
    if len(lessons) < LEAST_FOR_PRIOR:
        return Learned(None, len(lessons), {})
    losses = {"shipped": _held_out(lessons, weights=False, priors=False)}
    losses["prior"] = _held_out(lessons, weights=False, priors=True)
    if len(lessons) >= LEAST_FOR_WEIGHTS and len({lesson.right for lesson in lessons}) == 2:
        losses["weights"] = _held_out(lessons, weights=True, priors=True)
    best = "shipped"
    for name in ("prior", "weights"):
        if name in losses and losses[name] < losses[best] - GAIN:
            best = name
    if best == "shipped":
        return Learned(None, len(lessons), losses)
    priors = _priors(lessons, shipped)
    weights = _weights(lessons, priors, shipped) if best == "weights" else None
    return Learned(LocalJudge(priors, weights, len(lessons)), len(lessons), losses)


def _held_out(lessons: Sequence[Lesson], *, weights: bool, priors: bool) -> float:
    shipped = coefficients()
    total = 0.0
    for fold in range(FOLDS):
        known = [lesson for lesson in lessons if _fold(lesson) != fold]
        own = _priors(known, shipped) if priors else {}
        judge = replace(shipped, weights=_weights(known, own, shipped)) if weights else shipped
        for lesson in lessons:
            if _fold(lesson) == fold:
                chance = judge.probability(_observed(lesson), own.get(lesson.writer))
                total -= math.log(max(1e-6, chance if lesson.right else 1 - chance))
    return total / len(lessons)


def _fold(lesson: Lesson) -> int:
    """By the question: its answers stay together."""
    return zlib.crc32(lesson.question.casefold().encode()) % FOLDS


def _priors(lessons: Sequence[Lesson], shipped: Coefficients) -> dict[str, float]:
    return {
        writer: prior_of([lesson for lesson in lessons if lesson.writer == writer], shipped)
        for writer in sorted({lesson.writer for lesson in lessons if lesson.writer})
    }


def prior_of(lessons: Sequence[Lesson], judge: Coefficients) -> float:
    """The prior with which a judge expects of these answers as many right ones as there were.

    It is not their share of right answers: where their evidence speaks for them on average, the prior is lower. `TRUST`
    answers without evidence, right as often as the judge's own prior says, count as well.
    """
    seen = [_observed(lesson) for lesson in lessons]
    right = sum(lesson.right for lesson in lessons) + TRUST * judge.prior
    least, most = _RANGE
    while most - least > _EXACTLY:
        prior = (least + most) / 2
        expected = sum(judge.probability(observed, prior) for observed in seen) + TRUST * prior
        least, most = (prior, most) if expected < right else (least, prior)
    return round((least + most) / 2, 4)


def _observed(lesson: Lesson) -> tuple[Observation, ...]:
    return tuple(Observation(name, value) for name, value in lesson.features.items())


def _weights(lessons: Sequence[Lesson], priors: Mapping[str, float], shipped: Coefficients) -> dict[str, float]:
    moved = fit(
        [{n: v for n, v in lesson.features.items() if n in shipped.weights} for lesson in lessons],
        [lesson.right for lesson in lessons],
        penalty=PENALTY,
        prior=shipped.weights,
        sign=sign,
        offsets=[logit(priors.get(lesson.writer, shipped.prior)) for lesson in lessons],
    )
    return {name: round(weight, 4) for name, weight in moved.weights.items()}

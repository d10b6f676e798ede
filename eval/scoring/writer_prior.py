"""A writer's own prior, for TEXT2SQL_WRITER_PRIOR: from answers that are known to be right or wrong."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from eval.scoring.correctness import Coefficients
from eval.scoring.evidence.question_reading import Observation

TRUST = 10.0
"""Answers that the shipped prior is worth beside a writer's own."""
_RANGE = (0.02, 0.98)
_EXACTLY = 1e-4


@dataclass(frozen=True, slots=True)
class Answered:
    features: Mapping[str, float]
    """The observations of its query."""
    right: bool


def features_of(seen: Iterable[Observation]) -> dict[str, float]:
    """The observations by name; what was seen several times adds up."""
    features: dict[str, float] = {}
    for one in seen:
        features[one.name] = round(features.get(one.name, 0.0) + one.value, 4)
    return features


def prior_of(answers: Sequence[Answered], judge: Coefficients) -> float:
    """The prior with which a judge expects of these answers as many right ones as there were.

    It is not their share of right answers: where their evidence speaks for them on average, the prior is lower. `TRUST`
    answers without evidence, right as often as the judge's own prior says, count as well.
    """
    seen = [tuple(Observation(name, value) for name, value in answer.features.items()) for answer in answers]
    right = sum(answer.right for answer in answers) + TRUST * judge.prior
    least, most = _RANGE
    while most - least > _EXACTLY:
        prior = (least + most) / 2
        expected = sum(judge.probability(observed, prior) for observed in seen) + TRUST * prior
        least, most = (prior, most) if expected < right else (least, prior)
    return round((least + most) / 2, 4)

"""Correctness: with gold, whether the results match; without, the probability that they are right.

The probability starts from the writer's prior, the share of its answers that are right, and moves by the named
observations of `eval.scoring.evidence`: `log-odds = logit(prior) + sum of weight x value`. Where nothing is observed it
is the prior: absent evidence is no suspicion. The weights are in `correctness.txt`, written by
`python -m experiments.judge --write`. The dimension is a monotone image of the probability: `dimension(p)` is piecewise
linear through (0, 0), (pivot, PIVOT_VALUE) and (1, 1), so the gate passes from the pivot on.

`prior_of` finds a writer's own prior, for TEXT2SQL_WRITER_PRIOR, from answers that are known to be right or wrong.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from eval.metrics.comparison import same_result
from eval.scoring.evidence.question_reading import Observation
from eval.scoring.types import HABITS, PROVED, Case, Evidence, kind_of, sign

PIVOT_VALUE = 0.30
"""Where other dimensions are as good queries have them, the weighted sum then meets the threshold at neutral relevance:
(0.70 - 0.075) / 0.85 = 0.735, of which they bring 0.63."""
NOT_RUN = 0.01
"""Probability for a query that did not run, was refused, or names what does not exist."""
SHOWN = 0.05
"""Log-odds below which an observation only informs."""
EVEN_ODDS = 0.5
"""Probability below which nothing is told as a success."""
OPINION_MOST = 0.6
"""Log-odds by which a judge's opinion moves the probability at most. No opinions with labels are recorded, so it is a
bound and no fit: the surest judge lifts a probability of 0.36 to even odds, and lowers one of 0.64 to them."""
NEUTRAL = 0.5
BOUNDED_MOST = 1.0
"""Log-odds that habits together may count against a query, and as many an independent reading that differs, approached
by a hyperbolic tangent: each kind overlaps within itself, so an unusual query would otherwise be refused for one oddity
that many of them see. Less than the odds of the prior, so that neither kind alone makes a query likely wrong."""


PROVED_MOST = 0.6
"""The most that a query may have against which something is proved: in doubt, however much speaks for it. Of recorded
answers with a proof against them one in ten is right, many of these by chance."""


@dataclass(frozen=True, slots=True)
class Coefficients:
    """The regression: log-odds = logit(prior) + sum of weight x value; habits and other readings that speak against it
    bounded, each kind by itself."""

    prior: float
    """The share of right answers of a writer of whom nothing is known."""
    pivot: float
    weights: dict[str, float]

    def probability(self, seen: Iterable[Observation], prior: float | None = None) -> float:
        checked = usual = agreeing = 0.0
        for o in (seen := tuple(seen)):
            weight = self.weights.get(o.name, 0.0) * o.value
            kind = kind_of(o.name)
            if kind in HABITS:
                usual += weight
            elif kind == "agreement":
                agreeing += weight
            else:
                checked += weight
        start = logit(self.prior if prior is None else prior)
        return _in_doubt(logistic(start + checked + _bounded(usual) + _bounded(agreeing)), seen)


def is_contradicted(seen: Iterable[Observation]) -> bool:
    return any(o.name.startswith(PROVED) for o in seen)


def _in_doubt(probability: float, seen: Iterable[Observation]) -> float:
    return min(probability, PROVED_MOST) if is_contradicted(seen) else probability


def _bounded(against: float) -> float:
    return against if against >= 0 else BOUNDED_MOST * math.tanh(against / BOUNDED_MOST)


def logit(probability: float) -> float:
    """The log-odds of a probability, which is kept between 0.02 and 0.98."""
    kept = min(0.98, max(0.02, probability))
    return math.log(kept / (1 - kept))


def logistic(log_odds: float) -> float:
    return 1 / (1 + math.exp(-log_odds)) if log_odds > -700 else 0.0


FITTED = Path(__file__).with_name("correctness.txt")


@cache
def coefficients() -> Coefficients:
    """Read the file once. Raises ValueError naming a bad line."""
    weights = read_weights(FITTED)
    return Coefficients(weights.pop("prior"), weights.pop("pivot"), weights)


def dimension(probability: float, pivot: float) -> float:
    """The probability as the dimension's value: monotone, 0 at 0 and 1 at 1."""
    if probability <= pivot:
        return PIVOT_VALUE * probability / pivot
    return PIVOT_VALUE + (1 - PIVOT_VALUE) * (probability - pivot) / (1 - pivot)


def correctness(
    case: Case, seen: Sequence[Observation], *, vetoed: bool, confirmed: bool = False
) -> tuple[float, float, str]:
    """The dimension (0..1), which rests on the evidence alone; the probability (0..1), the judge's opinion included;
    and a sentence. What the judge has `confirmed`, with nothing but habits against it, is at least as likely as what
    the gate lets pass."""
    if case.gold is not None:
        right = case.result is not None and same_result(case.gold, case.result, ordered=case.gold_ordered)
        return float(right), float(right), "" if right else "The result differs from the gold query's."
    fitted = coefficients()
    if vetoed:
        return dimension(NOT_RUN, fitted.pivot), NOT_RUN, "What forbids the query leaves no chance that it is right."
    if case.estimate is not None:
        from_evidence = case.estimate
    elif case.own_confidence is not None:
        # The writer's own figure, lowered by what contradicts the query; what confirms it is in the figure
        # already
        against = sum(fitted.weights.get(o.name, 0.0) * o.value for o in contradicting(seen))
        own = case.own_confidence
        from_evidence = own if against == 0 else _in_doubt(logistic(logit(own) + against), seen)
    else:
        from_evidence = fitted.probability(seen, case.prior)
    if confirmed:
        from_evidence = max(from_evidence, fitted.pivot)
    probability = with_opinion(from_evidence, opinion_of(case, seen))
    return (
        dimension(from_evidence, fitted.pivot),
        probability,
        f"Estimated probability of being right: {probability:.0%}.",
    )


def contradicting(seen: Iterable[Observation]) -> list[Observation]:
    return [o for o in seen if kind_of(o.name) == "contradiction"]


def opinion_of(case: Case, seen: Iterable[Observation]) -> float:
    """The judge's opinion, neutral where there is none or where the judge is the writer itself; a favourable one does
    not count where something is proved."""
    opinion = NEUTRAL if case.relevance is None or case.own_confidence is not None else case.relevance
    return min(opinion, NEUTRAL) if is_contradicted(seen) else opinion


def opinion_weight(relevance: float) -> float:
    """Log-odds that a judge's opinion (0..1) adds."""
    return 2 * OPINION_MOST * (min(1.0, max(0.0, relevance)) - NEUTRAL)


def with_opinion(probability: float, relevance: float) -> float:
    shift = opinion_weight(relevance)
    return probability if shift == 0 else logistic(logit(probability) + shift)


def evidence(seen: Iterable[Observation], weights: Mapping[str, float]) -> tuple[Evidence, ...]:
    """The observations that have a sentence and speak for or against, the weightiest first."""
    pieces = []
    for o in seen:
        weight = weights.get(o.name, 0.0) * o.value
        if o.text and sign(o.name):
            supports = None if abs(weight) < SHOWN else weight > 0
            pieces.append(Evidence(o.name, supports, round(weight, 3), o.text, kind_of(o.name)))
    return tuple(sorted(pieces, key=lambda e: -abs(e.weight)))


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


Row = Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Fit:
    intercept: float
    weights: dict[str, float]

    def log_odds(self, row: Row) -> float:
        return self.intercept + sum(self.weights.get(name, 0.0) * value for name, value in row.items())


def read_weights(path: Path) -> dict[str, float]:
    """A fitted file's numbers: lines `name weight`, `#` starts a comment. Raises ValueError naming a bad line."""
    weights: dict[str, float] = {}
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        fields = line.partition("#")[0].split()
        if not fields:
            continue
        try:
            name, weight = fields
            weights[name] = float(weight)
        except ValueError:
            raise ValueError(f"{path.name}, line {number}: expected a name and a number") from None
    return weights

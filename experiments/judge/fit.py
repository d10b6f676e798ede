"""Fit the probability of correctness, and measure its decisions on unseen answers.

In: `Sample`s of several sources. Out: `Coefficients`; for a held-out source, a line of the table that `python -m
experiments.judge` prints. Each source has about the same weight, and each starts from its own share of right answers,
as a writer's prior does. Only the effect of the evidence is therefore fitted.
"""

from __future__ import annotations

import zlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from eval.scoring import contradictions
from eval.scoring.correctness import (
    EVEN_ODDS,
    NEUTRAL,
    NOT_RUN,
    SHOWN,
    Answered,
    Coefficients,
    dimension,
    is_contradicted,
    logit,
    prior_of,
    with_opinion,
)
from eval.scoring.dimensions import RELEVANCE_WEIGHT, THRESHOLD, charged, weights
from eval.scoring.evidence.question_reading import Observation
from eval.scoring.scorer import SURE_RELEVANCE
from eval.scoring.types import HABITS, PROVED, kind_of, marked, sign
from experiments.judge.fit_measures import auc, calibration_error
from experiments.judge.samples import GOLD, Sample
from experiments.logistic_regression import fit

PRIOR = 0.80
"""The prior of an unknown writer, among answers that nothing forbids: what recorded systems have on Spider's questions
(0.80 to 0.84 of those that are not contradicted); weaker ones have less (0.61 to 0.70)."""
PIVOT = 0.30
"""Chosen on all sources: the largest step of 0.05 at which at least 95 % of the gold queries pass in most sources."""
PENALTY = 4.0
SOURCE_TOTAL = 600.0
"""The largest total weight of the answers of one source."""
MOST_EACH = 1.5
MOST_COST = 1.2
CAPPED = frozenset(
    {
        "all_null",
        "empty_result",
        "group_single_row",
        "null_column",
        "repeated_rows",
        "repeated_rows_joined",
        "some_nulls",
    }
)
"""A property of the result may come from the data; a single such observation does not refuse an answer."""
PITFALL = -1.0
"""Weight that a pitfall has before any answer is seen: the penalty draws it there and not to 0, because SQL that means
something else than it seems to is seldom right, and each pitfall is too rare for the fit to learn that."""
PITFALLS = frozenset(
    {
        "aggregate_of_key",
        "average_multiplied",
        "given_returned",
        "outer_join_undone",
        "sum_multiplied",
        "versions_counted",
        "window_not_partitioned",
    }
)
SURE = -2.0
"""The same for conflicts that leave no other reading, so that one of them refuses a query that nothing speaks for."""
SURELY = frozenset(
    {
        "bare_beside_total",
        "compared_with_null",
        "count_of_outer_rows",
        "denied_value_kept",
        "double_negation",
        "limit_differs",
        "limit_without_order",
        "not_in_nulls",
        "order_reversed",
        "rank_direction_wrong",
        "whole_number_division",
        "zero_in_average",
    }
)
PROOF = -3.0
"""The same for what is proved, and the least that it weighs: of recorded answers with a proof against them one in ten
is right, mostly by chance or by what only the writer knew, and an edit of a right query that a proof sees is wrong."""
PROOFS = frozenset(PROVED + name for name in contradictions.NAMES)
_CONFLICTS_OR_NOT = "conflicts or not"
"""What all answers share while contradictions are fitted alone: those without any are right more often."""
SET = {"candidates": 1.0, "count_missing": -2.5, "other_table_named": -3.0}
"""Set manually: single answers carry no information about agreement, and recorded models rarely forget to count or read
an unrelated table."""


def fitted(samples: Sequence[Sample], recorded: frozenset[str] = frozenset()) -> Coefficients:
    """The regression on answers that ran. Gold queries of `recorded` sources, which have real answers, are left out.

    Contradictions are fitted first and the rest explains what they leave: habits see the same faults, but they are
    silent on unfamiliar ground, where a contradiction has to count in full.
    """
    usable = [s for s in samples if not s.vetoed and not (s.system == GOLD and s.source in recorded)]
    counts = Counter(s.source for s in usable)
    right = Counter(s.source for s in usable if s.right)
    labels = [s.right for s in usable]
    importance = [min(MOST_EACH, SOURCE_TOTAL / counts[s.source]) for s in usable]
    starts = [logit(min(0.95, max(0.05, right[s.source] / counts[s.source]))) for s in usable]
    conflicts = [{n: v for n, v in s.features.items() if kind_of(n) == "contradiction"} for s in usable]
    first = fit(
        [row | {_CONFLICTS_OR_NOT: 1.0} for row in conflicts],
        labels,
        penalty=PENALTY,
        prior=dict.fromkeys(PITFALLS, PITFALL) | dict.fromkeys(SURELY, SURE) | dict.fromkeys(PROOFS, PROOF),
        sign=lambda name: 0 if name == _CONFLICTS_OR_NOT else sign(name),
        offsets=starts,
        importance=importance,
    )
    weights = _bounded(first.weights)
    rest = fit(
        [{n: v for n, v in s.features.items() if n not in row} for s, row in zip(usable, conflicts, strict=True)],
        labels,
        penalty=PENALTY,
        sign=sign,
        offsets=[
            start + sum(weights[n] * v for n, v in row.items()) for start, row in zip(starts, conflicts, strict=True)
        ],
        importance=importance,
    )
    del weights[_CONFLICTS_OR_NOT]
    return Coefficients(PRIOR, PIVOT, weights | _bounded(rest.weights) | SET)


def _bounded(weights: Mapping[str, float]) -> dict[str, float]:
    return {
        name: max(weight, -MOST_COST) if name in CAPPED else min(weight, PROOF) if name in PROOFS else weight
        for name, weight in weights.items()
    }


def probability(model: Coefficients, sample: Sample, prior: float | None = None) -> float:
    return NOT_RUN if sample.vetoed else model.probability(_observed(sample), prior)


def _observed(sample: Sample) -> tuple[Observation, ...]:
    return tuple(Observation(name, value) for name, value in sample.features.items())


def _objects(seen: Observation, model: Coefficients) -> bool:
    """Whether an observation, not a habit, speaks against the query: then a sure judge does not settle it."""
    return kind_of(seen.name) not in HABITS and model.weights.get(seen.name, 0.0) * seen.value < -SHOWN


def passes(sample: Sample, model: Coefficients, relevance: float) -> bool:
    """Whether the gate accepts the answer at the default threshold and preset."""
    if sample.vetoed:
        return False
    by_name, seen = weights("default"), _observed(sample)
    chance = probability(model, sample)
    if relevance >= SURE_RELEVANCE and not any(_objects(o, model) for o in seen):
        chance = max(model.pivot, model.probability([o for o in seen if kind_of(o.name) not in HABITS]))
    if with_opinion(chance, min(relevance, NEUTRAL) if is_contradicted(seen) else relevance) < EVEN_ODDS:
        return False
    total = sample.fixed + by_name["correctness"] * dimension(chance, model.pivot)
    total += by_name["completeness"] * charged(marked("incomplete"), seen, model.weights)[0]
    total += by_name["semantic_accuracy"] * charged(marked("otherwise"), seen, model.weights)[0]
    return (1 - RELEVANCE_WEIGHT) * total + RELEVANCE_WEIGHT * relevance >= THRESHOLD


@dataclass(frozen=True, slots=True)
class Measured:
    """One source, judged by a fit that has not seen it."""

    source: str
    answers: int
    right: float
    """Share of the answers that are right."""
    gold: int
    gold_neutral: float
    """Share of the gold queries that pass at relevance 0.5."""
    gold_high: float
    """The same at relevance 0.95."""
    right_refused: float
    wrong_refused: float
    auc: float
    ece: float
    """Calibration error with the prior of an unknown writer."""
    known_writer: tuple[float, ...]
    """The probabilities with a prior that was learned from the answers to the other half of the questions."""
    labels: tuple[bool, ...]

    @property
    def ece_known_writer(self) -> float:
        return calibration_error(self.known_writer, self.labels)


def measured(source: str, samples: Sequence[Sample], model: Coefficients, *, recorded: bool) -> Measured:
    golds = [s for s in samples if s.system == GOLD]
    answers = [s for s in samples if not (recorded and s.system == GOLD)]
    labels = [s.right for s in answers]
    share = sum(labels) / max(1, len(labels))
    estimates = [probability(model, s) for s in answers]
    refused = [not passes(s, model, 0.5) for s in answers]

    def refused_share(right: bool) -> float:
        some = [r for r, label in zip(refused, labels, strict=True) if label is right]
        return sum(some) / max(1, len(some))

    return Measured(
        source=source,
        answers=len(answers),
        right=share,
        gold=len(golds),
        gold_neutral=sum(passes(s, model, 0.5) for s in golds) / max(1, len(golds)),
        gold_high=sum(passes(s, model, 0.95) for s in golds) / max(1, len(golds)),
        right_refused=refused_share(True),
        wrong_refused=refused_share(False),
        auc=auc(estimates, labels),
        ece=calibration_error(estimates, labels),
        known_writer=tuple(_known_writer(answers, model)),
        labels=tuple(labels),
    )


def _known_writer(answers: Sequence[Sample], model: Coefficients) -> list[float]:
    """The estimates with a writer's own prior, learned from the answers to the other half of the questions. Answers
    that ran teach it."""
    priors = [
        prior_of([Answered(s.features, s.right) for s in answers if _half(s) != half and not s.vetoed], model)
        for half in (0, 1)
    ]
    return [probability(model, s, priors[_half(s)]) for s in answers]


def _half(sample: Sample) -> int:
    return zlib.crc32(sample.question.encode()) % 2


def written(model: Coefficients, samples: Sequence[Sample]) -> str:
    """The text of `correctness.txt`."""
    seen = Counter(name for s in samples for name in s.features)
    sources = ", ".join(sorted({s.source for s in samples}))
    lines = [
        "# Log-odds that a query that ran answers its question: logit(prior) + sum of weight x value.",
        "# Written by `python -m experiments.judge --write`; the names: docs/scoring.md, eval/scoring/evidence.",
        f"# Fitted by Newton's method with an L2 penalty of {PENALTY:g} on {len(samples)} answers of: {sources}.",
        "# Third column: how many of them show it.",
        f"prior {model.prior:.3f}",
        f"pivot {model.pivot:.3f}",
    ]
    ordered: Mapping[str, float] = dict(sorted(model.weights.items(), key=lambda item: item[1]))
    lines += [f"{name} {w:.3f}  # {seen[name]}" for name, w in ordered.items() if abs(w) >= 0.0005]
    return "\n".join(lines) + "\n"

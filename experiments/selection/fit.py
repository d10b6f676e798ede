"""Learn how much agreement and evidence count in the choice among candidates, and choose where neither was learned.

In: recorded candidates (`experiments.selection.samples`) and the judge's samples. Out: the regression's weights;
and for each question the choice by weights, and by a judge of single answers, that have seen nothing of its family.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from agent.candidates.choice import Examined, choose, grouped, log_odds
from eval.scoring.correctness import Coefficients, Fit
from experiments.judge.fit import fitted, probability
from experiments.judge.samples import Sample
from experiments.judge.sources import SOURCES
from experiments.logistic_regression import fit
from experiments.selection.samples import Answer, Asked, rejudged

PENALTY = 1.0
FEWER = (2, 3, 4, 5, 6)
"""Numbers of candidates drawn from each question, so that the weights work for few candidates and for many."""
DRAWS = 2
TRIALS = 3
"""Draws of candidates for one question, so that a figure depends less on the dice."""
_SEED = 5


@dataclass(frozen=True, slots=True)
class Trial:
    """One question with some of its candidates: the choice made, and the alternatives."""

    source: str
    right: bool
    probability: float
    voted: float
    """Whether the most frequent result is right; the share of right ones where several are as frequent."""
    by_judge: bool
    """Whether the answer with the best evidence of its own is right."""
    possible: bool


@dataclass(frozen=True, slots=True)
class Unseen:
    """For a family of sources, the judge and the weights that have seen nothing of it."""

    judge: Coefficients
    weights: Fit


def unseen(asked: Sequence[Asked], samples: Sequence[Sample], recorded: frozenset[str]) -> dict[str, Unseen]:
    families = {source.name: source.family for source in SOURCES}
    by_family = {}
    for family in dict.fromkeys(one.family for one in asked):
        judge = fitted([s for s in samples if families[s.source] != family], recorded)
        by_family[family] = Unseen(judge, fit_weights([one for one in asked if one.family != family], judge))
    return by_family


def fit_weights(questions: Sequence[Asked], judge: Coefficients) -> Fit:
    """The regression on each distinct result among all candidates, and among some drawn from them."""
    dice = random.Random(_SEED)
    rows: list[dict[str, float]] = []
    labels: list[bool] = []
    for question in questions:
        draws: list[Sequence[Answer]] = [question.answers]
        for _ in range(DRAWS):
            some = min(len(question.answers), dice.choice((*FEWER, len(question.answers))))
            draws.append(dice.sample(question.answers, some))
        for answers in draws:
            ran, right = _judged(answers, judge)
            for group in grouped(ran, len(answers)):
                rows.append(group.features)
                labels.append(any(right[i] for i in group.places))
    return fit(rows, labels, penalty=PENALTY)


def trials(
    asked: Sequence[Asked], known: dict[str, Unseen], *, candidates: int, lead: float | None = None
) -> list[Trial]:
    """Every question that has as many candidates, decided among so many drawn at random; a family at a time by what
    has not seen it."""
    dice = random.Random(_SEED)
    return [
        _tried(question, dice.sample(question.answers, candidates), known[question.family], lead)
        for question in asked
        if len(question.answers) >= candidates
        for _ in range(TRIALS if len(question.answers) > candidates else 1)
    ]


def _judged(answers: Iterable[Answer], judge: Coefficients) -> tuple[list[Examined], list[bool]]:
    """The answers that ran as the judge sees them, and whether they are right."""
    ran, right = [], []
    for answer in answers:
        one = rejudged(answer, log_odds(probability(judge, answer.sample)))
        if one is not None:
            ran.append(one)
            right.append(answer.sample.right)
    return ran, right


def _tried(question: Asked, answers: Sequence[Answer], known: Unseen, lead: float | None) -> Trial:
    ran, right = _judged(answers, known.judge)
    choice = choose(ran, len(answers), known.weights, lead)
    votes = [sum(one.bag == other.bag for other in ran) for one in ran]
    most = {one.bag: right[i] for i, one in enumerate(ran) if votes[i] == max(votes)}
    return Trial(
        source=question.source,
        right=choice is not None and right[choice.place],
        probability=choice.probability if choice else 0.0,
        voted=sum(most.values()) / len(most) if most else 0.0,
        by_judge=bool(ran) and right[max(range(len(ran)), key=lambda i: ran[i].log_odds)],
        possible=any(right),
    )

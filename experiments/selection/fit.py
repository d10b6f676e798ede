"""Learn the weights of agreement and evidence in the choice among candidates, and test them on held-out databases.

In: recorded candidates (`experiments.selection.samples`). Out: the regression's weights; and for each question, the
choice by weights, and by a judge of single answers, that have seen no answer to any question about its database.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from agent.candidates.choice import choose
from agent.candidates.features import grouped
from agent.candidates.result_groups import Examined, log_odds
from eval.scoring.correctness import Coefficients
from eval.scoring.regression import Fit, fit
from experiments.judge.fit import fitted as judge_fitted
from experiments.judge.fit import probability as judged
from experiments.selection.samples import Answer, Asked, Lessons, rejudged

PENALTY = 1.0
FEWER = (2, 3, 4, 5, 6)
"""Numbers of candidates drawn from each question, so that the weights work for few candidates and for many."""
DRAWS = 2
_SEED = 5


@dataclass(frozen=True, slots=True)
class Trial:
    """One question with some of its candidates: the choice made, and the alternatives."""

    benchmark: str
    question: str
    right: bool
    probability: float
    voted: bool
    """Whether the most frequent result is right; among equally frequent ones, the first."""
    by_judge: bool
    """Whether the answer with the best evidence of its own is right."""
    possible: bool
    systems: Mapping[str, bool]


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


def trials(folds: Folds, *, candidates: int | None = None) -> list[Trial]:
    """Every question decided by weights and a judge that have not seen its database; with `candidates`, among this
    number of its answers, drawn at random."""
    dice = random.Random(_SEED)
    tried = []
    for question in folds.found.questions:
        judge, weights = folds.without(question.database)
        answers = question.answers
        if candidates is not None:
            answers = tuple(dice.sample(answers, min(candidates, len(answers))))
        tried.append(_tried(question, answers, judge, weights))
    return tried


def everything(found: Lessons) -> Fit:
    """The weights that are shipped: from all questions, by a judge from all answers."""
    return fit_weights(found.questions, _judge(found, ""))


class Folds:
    """For each database, the judge and the weights that have not seen it; fitted on first use."""

    def __init__(self, found: Lessons) -> None:
        self.found = found
        self._known: dict[str, tuple[Coefficients, Fit]] = {}

    def without(self, database: str) -> tuple[Coefficients, Fit]:
        if database not in self._known:
            judge = _judge(self.found, database)
            others = [q for q in self.found.questions if q.database != database]
            self._known[database] = judge, fit_weights(others, judge)
        return self._known[database]


def _judge(found: Lessons, without: str) -> Coefficients:
    samples = [a.sample for q in found.questions if q.database != without for a in q.answers]
    return judge_fitted([*samples, *found.mutants])


def _judged(answers: Iterable[Answer], judge: Coefficients) -> tuple[list[Examined], list[bool]]:
    """The answers that ran as the judge sees them, and whether they are right."""
    ran, right = [], []
    for answer in answers:
        one = rejudged(answer, log_odds(judged(judge, answer.sample)))
        if one is not None:
            ran.append(one)
            right.append(answer.sample.right)
    return ran, right


def _tried(question: Asked, answers: Sequence[Answer], judge: Coefficients, weights: Fit) -> Trial:
    ran, right = _judged(answers, judge)
    choice = choose(ran, len(answers), weights)
    votes = [sum(one.bag == other.bag for other in ran) for one in ran]
    return Trial(
        benchmark=question.benchmark,
        question=question.id,
        right=choice is not None and right[choice.place],
        probability=choice.probability if choice else 0.0,
        voted=bool(ran) and right[votes.index(max(votes))],
        by_judge=bool(ran) and right[max(range(len(ran)), key=lambda i: ran[i].log_odds)],
        possible=any(right),
        systems={a.sample.system: a.sample.right for a in answers},
    )

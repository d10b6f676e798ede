"""What queries for questions worded like this one usually look like, learned from many questions and their queries.

In: a question and a schema. Out: for each aspect of a query's form (`eval.scoring.aspects`) the probability of each
label, and for a column the probability that it is returned. The weights are in `expectation.txt`, written by
`python -m experiments.judge --expectation` (`experiments.judge.expectation_training` trains them).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

from eval.schema import Column, Table
from eval.scoring.question_wording import Wording
from eval.scoring.softmax import Softmax

RETURNED = "returned"
"""The model of columns: `yes` or `no`."""
LEARNED = Path(__file__).with_name("expectation.txt")


@dataclass(frozen=True)
class Expectation:
    """One model for each aspect, and one for columns."""

    models: Mapping[str, Softmax]

    @cached_property
    def phrases(self) -> frozenset[str]:
        """Every phrase that some aspect has a weight for."""
        return frozenset(p for aspect, model in self.models.items() if aspect != RETURNED for p in model.weights)

    def form(self, wording: Wording) -> dict[str, dict[str, float]]:
        """By aspect, the natural logarithm of each label's probability."""
        return {
            aspect: model.log_probabilities(wording.phrases)
            for aspect, model in self.models.items()
            if aspect != RETURNED
        }

    def returned(self, wording: Wording, table: Table, column: Column) -> float:
        """The natural logarithm of the probability that the query returns the column."""
        return self.models[RETURNED].log_probabilities(wording.signs_of(table, column))["yes"]


@cache
def expectation(path: Path = LEARNED) -> Expectation:
    """Read the file once. Raises ValueError naming a line that is not of its form."""
    models: dict[str, Softmax] = {}
    aspect = ""
    labels: tuple[str, ...] = ()
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        try:
            if line.startswith("["):
                aspect, _, words = line[1:].partition("] ")
                labels = tuple(words.split())
            elif line.startswith("\t"):
                models[aspect] = Softmax(labels, tuple(map(float, line.split())), {})
            elif line and not line.startswith("#"):
                phrase, *pairs = line.split("\t")
                models[aspect].weights[phrase] = tuple(_pairs(pairs, labels))
        except (ValueError, KeyError):
            raise ValueError(f"{path.name}, line {number}: expected a phrase and its weights") from None
    return Expectation(models)


def _pairs(fields: Iterable[str], labels: tuple[str, ...]) -> Iterable[tuple[int, float]]:
    for field in fields:
        label, weight = field.split(" ")
        yield labels.index(label) - 1, float(weight)

"""Which candidate to take: the one in the likeliest group, by rules that no order of the candidates can change.

In: candidates that ran, with their rows. Candidates with the same result are a group; rows are compared as EX compares
them (`eval.metrics.comparison`). How likely a group is right is a logistic regression; its weights are in
`weights.txt`, written by `python -m experiments.selection.measure --write`.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from operator import itemgetter
from pathlib import Path

from eval.databases.types import ExecutionResult
from eval.metrics.comparison import same_result
from eval.scoring.correctness import Fit, logistic, read_weights

LEAST = 1e-6
"""Probabilities are kept this far from 0 and 1, so that their log-odds stay finite."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A query for a question, and whose it is."""

    system: str
    sql: str


@dataclass(frozen=True, slots=True)
class Examined:
    """A candidate that ran."""

    candidate: Candidate
    log_odds: float
    """That its rows are right, by its own evidence alone."""
    contradicted: bool
    """Something is proved against it."""
    characters: int
    """Of its SQL as it was sent: the simpler the shorter."""
    result: int
    """The same number as another's: the same rows, in the same order where one of the two queries orders."""
    bag: int
    """The same rows in any order."""
    content: int
    """The same columns in any order."""


@dataclass(frozen=True, slots=True)
class Ran:
    """What is needed of a candidate to label it."""

    candidate: Candidate
    sql: str
    """As it was sent."""
    probability: float
    result: ExecutionResult
    ordered: bool
    """Its outermost query has an ORDER BY."""
    contradicted: bool = False
    """Something is proved against it."""


def log_odds(probability: float) -> float:
    kept = min(1 - LEAST, max(LEAST, probability))
    return math.log(kept / (1 - kept))


def labelled(ran: Sequence[Ran]) -> tuple[Examined, ...]:
    """The candidates in the order given. Labels do not depend on that order: results are told apart in the order of
    their SQL."""
    by_text = sorted(range(len(ran)), key=lambda i: (ran[i].sql, ran[i].candidate.system, i))
    results = _labels(ran, by_text, lambda a, b: same_result(a.result, b.result, ordered=a.ordered or b.ordered))
    bags = _labels(ran, by_text, lambda a, b: same_result(a.result, b.result, ordered=False))
    contents: dict[Hashable, int] = {}
    return tuple(
        Examined(
            candidate=one.candidate,
            log_odds=log_odds(one.probability),
            contradicted=one.contradicted,
            characters=len(one.sql),
            result=results[i],
            bag=bags[i],
            content=contents.setdefault(_content(one.result), len(contents)),
        )
        for i, one in enumerate(ran)
    )


def _labels(ran: Sequence[Ran], order: Sequence[int], same: Callable[[Ran, Ran], bool]) -> dict[int, int]:
    """For each place a number, equal for those that are the same as the first of their kind."""
    firsts: list[int] = []
    by_sql: dict[str, int] = {}
    labels: dict[int, int] = {}
    for i in order:
        label = by_sql.get(ran[i].sql)
        if label is None:
            label = next((n for n, first in enumerate(firsts) if same(ran[first], ran[i])), len(firsts))
            if label == len(firsts):
                firsts.append(i)
            by_sql[ran[i].sql] = label
        labels[i] = label
    return labels


def _content(result: ExecutionResult) -> Hashable:
    """The columns as bags of values, whatever their order; nothing equals nothing."""
    if not result.rows:
        return None
    columns = (frozenset(Counter(map(repr, column)).items()) for column in zip(*result.rows, strict=True))
    return frozenset(Counter(columns).items())


_HALF = 0.5
"""Added to each side of a vote, so that no vote is certain."""


@dataclass(frozen=True, slots=True)
class Group:
    """Candidates with the same result."""

    members: tuple[Examined, ...]
    places: tuple[int, ...]
    """Where the members are among those that ran."""
    features: dict[str, float]


def grouped(ran: Sequence[Examined], total: int) -> tuple[Group, ...]:
    """What is seen of each distinct result: named values for the regression, none of which depends on a system's name.
    All but `judged` are 0 where a single candidate leaves nothing to compare. `total` counts the candidates that did
    not run, too; they agree with nobody.

    - `judged`: the mean of the members' log-odds, each by its own evidence;
    - `votes`: others with this result against candidates without it, as a logarithm;
    - `same_rows`, `same_columns`: the share of the others with the same rows, the same columns, in any order;
    - `length_lead`: how much longer its shortest SQL is than that of the most voted other result, as a logarithm.
    """
    results: dict[int, list[Examined]] = {}
    for one in ran:
        results.setdefault(one.result, []).append(one)
    groups = []
    for label, members in results.items():
        others = [other for key, other in results.items() if key != label]
        places = tuple(i for i, one in enumerate(ran) if one.result == label)
        groups.append(Group(tuple(members), places, _features(members, others, ran, total)))
    return tuple(groups)


def _features(
    members: Sequence[Examined], others: Sequence[Sequence[Examined]], ran: Sequence[Examined], total: int
) -> dict[str, float]:
    first, votes = members[0], len(members)
    features = {
        "judged": _mean(members),
        "votes": math.log((votes - 1 + _HALF) / (total - votes + _HALF)),
        "same_rows": _share(lambda one: one.bag, first, ran, total),
        "same_columns": _share(lambda one: one.content, first, ran, total),
    }
    if others:
        rival = max(others, key=lambda other: (len(other), _mean(other), -_length(other)))
        features["length_lead"] = _length(members) - _length(rival)
    return features


def _mean(members: Sequence[Examined]) -> float:
    return sum(m.log_odds for m in members) / len(members)


def _length(members: Sequence[Examined]) -> float:
    """Of the shortest, as a natural logarithm."""
    return math.log(min(m.characters for m in members) + 1)


def _share(of: Callable[[Examined], int], first: Examined, ran: Sequence[Examined], total: int) -> float:
    """Of the other candidates, how many have the same."""
    return (sum(of(one) == of(first) for one in ran) - 1) / max(1, total - 1)


FITTED = Path(__file__).with_name("weights.txt")
INTERCEPT = "intercept"


@cache
def weights(path: Path = FITTED) -> Fit:
    """Read the file once. Raises ValueError naming a bad line."""
    weights = read_weights(path)
    return Fit(weights.pop(INTERCEPT), weights)


def probability(features: Mapping[str, float], fitted: Fit | None = None) -> float:
    """That the result is right, 0..1."""
    return logistic((fitted or weights()).log_odds(features))


@dataclass(frozen=True, slots=True)
class Choice:
    candidate: Candidate
    probability: float
    """0..1: that its rows are right."""
    agreeing: int
    """Candidates with its result, itself counted."""
    place: int
    """Where it is among those that ran."""


LEAD = 1.0
"""Log-odds by which another result must lead the most voted one to be taken in its place (docs/candidates.md)."""


def choose(ran: Sequence[Examined], total: int, fitted: Fit | None = None, lead: float | None = None) -> Choice | None:
    """One of the candidates that ran; None where none did. `total` counts those that did not, too.

    The most voted result wins, unless another is likelier by `lead`, or at all where something is proved against each
    of its queries. Without a vote that more candidates share than any other, the likeliest wins; among equals the more
    voted, the shorter, the first by its SQL. Of its queries, the one that its evidence speaks for most, then the
    shortest; of equal ones, the first in the order given.
    """
    groups = grouped(ran, total)
    most = max((len(group.members) for group in groups), default=0)
    voted = [g for g in groups if len(g.members) == most]
    # something that forbids each of its queries is not lifted by a favourable vote
    alone = len(voted) == 1 and not all(member.contradicted for member in voted[0].members)
    ahead = (LEAD if lead is None else lead) if alone else 0.0
    ranked: list[tuple[tuple[float, int, int, str], Choice]] = []
    for group in groups:
        chance = probability(group.features, fitted)
        standing = log_odds(chance) + (ahead if group is voted[0] else 0.0)
        place = min(group.places, key=lambda i: (-ran[i].log_odds, ran[i].characters, ran[i].candidate.sql, i))
        member = ran[place]
        rank = (-round(standing, 9), -len(group.members), member.characters, member.candidate.sql)
        ranked.append((rank, Choice(member.candidate, chance, len(group.members), place)))
    return min(ranked, key=itemgetter(0))[1] if ranked else None

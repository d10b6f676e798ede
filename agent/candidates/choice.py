"""Which candidate to take: the one in the likeliest group, by rules that no order of the candidates can change.

How likely a group is right is a logistic regression; its weights are in `weights.txt`, written by
`python -m experiments.selection.measure --write`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from agent.candidates.result_groups import Candidate, Examined, log_odds
from eval.scoring.correctness import Fit, logistic, read_weights

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
    best: tuple[tuple[float, int, int, str], Choice] | None = None
    for group in groups:
        chance = probability(group.features, fitted)
        standing = log_odds(chance) + (ahead if group is voted[0] else 0.0)
        place = min(group.places, key=lambda i: (-ran[i].log_odds, ran[i].characters, ran[i].candidate.sql, i))
        member = ran[place]
        rank = (-round(standing, 9), -len(group.members), member.characters, member.candidate.sql)
        if best is None or rank < best[0]:
            best = rank, Choice(member.candidate, chance, len(group.members), place)
    return best[1] if best is not None else None

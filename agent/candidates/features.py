"""What is seen of each distinct result among candidates: how many return it, how well their evidence speaks for it.

In: the candidates that ran, labelled, and how many there were. Out: one `Group` for each distinct result, with named
values that enter the regression of `agent.candidates.weights`. No value depends on a system's name, and all but
`judged` are 0 where a single candidate leaves nothing to compare:

- `judged`: the mean of the members' log-odds, each by its own evidence;
- `votes`: others with this result against candidates without it, as a logarithm;
- `same_rows`, `same_columns`: the share of the others with the same rows in any order, the same columns in any order;
- `length_lead`: how much longer its shortest SQL is than that of the most voted other result, as a logarithm.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from agent.candidates.result_groups import Examined

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
    """`total` counts the candidates that did not run, too; they agree with nobody."""
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

"""Which candidate to take: the one in the likeliest group, by rules that no order of the candidates can change."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from agent.candidates.features import grouped
from agent.candidates.result_groups import Candidate, Examined
from agent.candidates.weights import probability
from eval.scoring.regression import Fit


@dataclass(frozen=True, slots=True)
class Choice:
    candidate: Candidate
    probability: float
    """0..1: that its rows are right."""
    agreeing: int
    """Candidates with its result, itself counted."""
    place: int
    """Where it is among those that ran."""


def choose(ran: Sequence[Examined], total: int, fitted: Fit | None = None) -> Choice | None:
    """One of the candidates that ran; None where none did. `total` counts those that did not, too.

    The likeliest result wins; among equals the more voted, the shorter, the first by its SQL. Of its queries, the one
    that its evidence speaks for most, then the shortest; of equal ones, the first in the order given.
    """
    best: tuple[tuple[float, int, int, str], Choice] | None = None
    for group in grouped(ran, total):
        chance = probability(group.features, fitted)
        place = min(group.places, key=lambda i: (-ran[i].log_odds, ran[i].characters, ran[i].candidate.sql, i))
        member = ran[place]
        rank = (-round(chance, 9), -len(group.members), member.characters, member.candidate.sql)
        if best is None or rank < best[0]:
            best = rank, Choice(member.candidate, chance, len(group.members), place)
    return best[1] if best is not None else None

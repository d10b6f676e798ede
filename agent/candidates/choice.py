"""Which candidate to take: the one in the likeliest group, by rules that no order of the candidates can change."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from agent.candidates.features import Group, grouped
from agent.candidates.result_groups import Candidate, Examined, log_odds
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
    ahead = (LEAD if lead is None else lead) if len(voted) == 1 and not _contradicted(voted[0]) else 0.0
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


def _contradicted(group: Group) -> bool:
    """Whether something forbids each of its queries: a favourable vote does not lift them."""
    return all(member.contradicted for member in group.members)

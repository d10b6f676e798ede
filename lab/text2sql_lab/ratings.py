"""Ratings of kits, recomputed from all rounds: ELO for choosing parents and for the picture, Bradley–Terry beside it.

In: for each round, how many questions each kit got right. Out: ratings by kit. Neither decides what is accepted.
Sources: Elo (1978), The Rating of Chessplayers; Bradley and Terry (1952), Biometrika 39, fitted by Hunter's (2004) MM
algorithm.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import combinations

START = 1500.0
K = 32.0
_STEPS = 200
"""Of the fit; far fewer are enough for the kits of a run."""
Round = Mapping[str, int]


def elo_history(rounds: Sequence[Round]) -> list[dict[str, float]]:
    """The ratings after each round. Each round is taken apart into pairs; a kit begins at 1500."""
    ratings: dict[str, float] = {}
    history = []
    for scores in rounds:
        for kit in scores:
            ratings.setdefault(kit, START)
        for a, b in combinations(sorted(scores), 2):
            won = 0.5 if scores[a] == scores[b] else float(scores[a] > scores[b])
            expected = 1 / (1 + 10 ** ((ratings[b] - ratings[a]) / 400))
            ratings[a] += K * (won - expected)
            ratings[b] -= K * (won - expected)
        history.append(dict(ratings))
    return history


def elo(rounds: Sequence[Round]) -> dict[str, float]:
    return elo_history(rounds)[-1] if rounds else {}


def bradley_terry(rounds: Sequence[Round]) -> dict[str, float]:
    """Strengths on ELO's scale with mean 1500; each pair is given half a win each way, so that none is infinite."""
    wins: dict[str, float] = defaultdict(float)
    games: dict[tuple[str, str], float] = defaultdict(float)
    for scores in rounds:
        for a, b in combinations(sorted(scores), 2):
            share = 0.5 if scores[a] == scores[b] else float(scores[a] > scores[b])
            first = (a, b) not in games
            wins[a] += share + 0.5 * first
            wins[b] += 1 - share + 0.5 * first
            games[a, b] += 1 + first
    strength = dict.fromkeys(sorted(wins), 1.0)
    for _ in range(_STEPS):
        fitted = {
            kit: wins[kit]
            / sum(n / (strength[kit] + strength[b if kit == a else a]) for (a, b), n in games.items() if kit in (a, b))
            for kit in strength
        }
        mean = math.exp(sum(map(math.log, fitted.values())) / len(fitted)) if fitted else 1.0
        strength = {kit: value / mean for kit, value in fitted.items()}
    return {kit: START + 400 * math.log10(value) for kit, value in strength.items()}

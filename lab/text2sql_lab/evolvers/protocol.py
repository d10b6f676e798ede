"""What every evolver implements: it sees the questions to learn from, and proposes a kit."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from agent.models.protocol import Model
from text2sql_lab.journal import BASE, State
from text2sql_lab.measurement import Kits, Measurer
from text2sql_lab.questions import Question
from text2sql_lab.ratings import elo


@dataclass(frozen=True, slots=True)
class View:
    """What an evolver may see of a run; held-out questions are no part of it."""

    split: str
    questions: Sequence[Question]
    """Those to learn from."""
    state: State
    measurer: Measurer
    model: Model | str
    """The model that writes kits."""
    draw: random.Random

    @property
    def kits(self) -> Kits:
        return self.measurer.kits

    @property
    def round(self) -> int:
        """From 0."""
        return len(self.state.proposed.get(self.split, ()))


def ranked(state: State, split: str) -> list[str]:
    """The kits of a split, and BASE, the best by ELO first."""
    ratings = elo([scores(e) for e in state.played.get(split, ())])
    known = list(dict.fromkeys((BASE, *(e["kit"] for e in state.proposed.get(split, ())))))
    return sorted(known, key=lambda kit: (-ratings.get(kit, 0.0), known.index(kit)))


def scores(played: Mapping[str, Mapping[str, str]]) -> dict[str, int]:
    """Questions that each kit got right in a round."""
    return {kit: bits.count("1") for kit, bits in played["right"].items()}


def yields(state: State, split: str) -> dict[str, tuple[int, int]]:
    """Of each way of making kits: how many pairs its kits won in the round that they were made for, and how many they
    played. A kit that is there already or cannot be used loses one."""
    tally: dict[str, tuple[int, int]] = {}
    known = {BASE}
    for event, played in zip(state.proposed.get(split, ()), state.played.get(split, ()), strict=False):
        kit, right = event["kit"], scores(played)
        if kit in known:
            won, pairs = 0, 0 if event["by"] in ("challenger", "none") else 1
        else:
            won, pairs = sum(right[kit] > n for n in right.values()), len(right) - 1
        known.add(kit)
        before = tally.get(event["by"], (0, 0))
        tally[event["by"]] = before[0] + won, before[1] + pairs
    return {way: counts for way, counts in tally.items() if counts[1]}


@dataclass(frozen=True, slots=True)
class Proposal:
    files: Mapping[str, str]
    """The kit; without content where nothing is proposed."""
    by: str
    """The strategy that made it."""
    parents: tuple[str, ...] = ()
    note: str = ""


class Evolver(Protocol):
    name: str
    chooses: bool
    """Whether it makes several kits, so that some questions have to choose among them."""

    async def propose(self, view: View) -> Proposal: ...

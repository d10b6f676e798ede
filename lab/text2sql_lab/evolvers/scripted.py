"""Proposes kits that somebody wrote, one a round: to prove them, and for tests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from text2sql_lab.evolvers.protocol import Proposal, View


class Scripted:
    name = "scripted"
    chooses = True

    def __init__(self, kits: Sequence[Mapping[str, str]]) -> None:
        self._kits = kits

    async def propose(self, view: View) -> Proposal:
        return Proposal(self._kits[view.round] if view.round < len(self._kits) else {}, self.name)

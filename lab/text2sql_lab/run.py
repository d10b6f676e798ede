"""A run of the lab, event by event: propose a kit, play rounds, choose, prove on held-out questions, decide.

In: questions, an evolver, a measurer, a journal. Out: the journal, complete, and a `Result`. Each step depends on the
journal's state alone, so a run that was stopped goes on as if it had not been. Nothing is accepted but by McNemar's
exact test on held-out answers.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agent.knowledge.kit import EVIDENCE
from agent.knowledge.memory.lines import BadMemory
from agent.models.protocol import Model
from text2sql_lab.budget import BudgetSpent
from text2sql_lab.evolvers.protocol import Evolver, View, ranked, scores
from text2sql_lab.journal import BASE, Journal, State
from text2sql_lab.measurement import Measurer, bits
from text2sql_lab.proof import NO_PROOF, Proof, needed, proof
from text2sql_lab.questions import Question, Split
from text2sql_lab.ratings import elo

DATABASES, QUESTIONS = 5, 30
"""Databases of a round, and questions of each."""
CONTENDERS = 3
LATE = 11
"""From this round on, some rounds evolve nothing and test what is there."""


@dataclass(frozen=True, slots=True)
class Result:
    accepted: bool
    kit: str
    """Its folder; empty without one."""
    why: str
    random: Proof
    form_disjoint: Proof


@dataclass(frozen=True, slots=True)
class Run:
    journal: Journal
    splits: Sequence[Split]
    evolver: Evolver
    measurer: Measurer
    writer: Model | str
    """The model that writes kits."""
    on_event: Callable[[str], None]
    """Called with each event in words."""

    async def finish(self) -> Result:
        """Take steps until the end. Raises LabStopped where the model is away."""
        while (state := self.journal.state).end is None:
            try:
                event = await self._next(state)
            except BudgetSpent as spent:
                event = {"event": "end", "accepted": False, "kit": BASE, "why": f"{spent} Nothing is proved."}
            self.journal.add(event)
            self.on_event(_line(event))
        proofs = {name: proof(event, state.readings) for name, event in state.held_out.items()}
        at_random, apart = (proofs.get(name, NO_PROOF) for name in ("random", "form_disjoint"))
        kit = "" if state.end["kit"] == BASE else str(self.measurer.kits.path(state.end["kit"]))
        result = Result(state.end["accepted"], kit, state.end["why"], at_random, apart)
        if result.kit:
            (Path(result.kit) / EVIDENCE).write_text(evidence(result), encoding="utf-8")
        return result

    async def _next(self, state: State) -> dict[str, Any]:
        for split in self.splits:
            if split.name in state.held_out:
                continue
            proposed, played = (len(events.get(split.name, ())) for events in (state.proposed, state.played))
            if split.name in state.chosen:
                return await self._prove(split, state.chosen[split.name]["kit"])
            if played < proposed:
                return await self._play(split, state)
            if proposed < (state.rounds if self.evolver.chooses else 1) and self._affords_another():
                return await self._propose(split, state)
            return await self._choose(split, state)
        accepted, why = decided(state)
        return {"event": "end", "accepted": accepted, "kit": state.chosen["random"]["kit"], "why": why}

    async def _propose(self, split: Split, state: State) -> dict[str, Any]:
        draw = state.draw()
        round_ = len(state.proposed.get(split.name, ()))
        event: dict[str, Any] = {"event": "proposed", "split": split.name, "round": round_}
        if round_ >= LATE and (chance := draw.random()) < 0.3:
            by = "challenger" if chance < 0.15 else "none"
            return {**event, "kit": BASE, "by": by, "parents": [], "note": ""}
        proposal = await self.evolver.propose(View(split.name, split.mine, state, self.measurer, self.writer, draw))
        event |= {"by": proposal.by, "parents": list(proposal.parents)}
        try:
            kit = self.measurer.kits.add(proposal.files)
        except BadMemory as error:
            return {**event, "kit": BASE, "note": f"The proposed kit cannot be used: {error}"[:500]}
        return {**event, "kit": kit, "note": proposal.note[:500]}

    async def _play(self, split: Split, state: State) -> dict[str, Any]:
        """All contenders answer the same questions of the round."""
        round_ = len(state.played.get(split.name, ()))
        draw = state.draw()
        questions = sampled(split.mine, draw) if self.evolver.chooses else split.mine
        kits = contenders(state, split.name, draw)
        right = {kit: bits(await self.measurer.outcomes(kit, questions)) for kit in kits}
        ids = [q.id for q in questions]
        return {"event": "played", "split": split.name, "round": round_, "ids": ids, "right": right}

    async def _choose(self, split: Split, state: State) -> dict[str, Any]:
        best = ranked(state, split.name)[:CONTENDERS]
        right = {kit: bits(await self.measurer.outcomes(kit, split.choose)) for kit in best if split.choose}
        kit = max(best, key=lambda kit: right.get(kit, "").count("1"))
        return {"event": "chosen", "split": split.name, "kit": kit, "right": right}

    async def _prove(self, split: Split, kit: str) -> dict[str, Any]:
        before = bits(await self.measurer.outcomes(BASE, split.held_out))
        after = bits(await self.measurer.outcomes(kit, split.held_out)) if kit != BASE else before
        ids = [q.id for q in split.held_out]
        return {"event": "held_out", "split": split.name, "kit": kit, "ids": ids, "before": before, "after": after}

    def _affords_another(self) -> bool:
        """Whether the budget allows another round beside the proof that has to follow."""
        questions = sum(2 * len(s.held_out) + CONTENDERS * len(s.choose) for s in self.splits)
        return self.measurer.budget.affords(round(questions * self.measurer.mean_calls))


def sampled(questions: Sequence[Question], draw: random.Random) -> list[Question]:
    """At most 30 questions of each of at most five databases."""
    by_db: dict[str, list[Question]] = {}
    for question in questions:
        by_db.setdefault(question.db, []).append(question)
    names = draw.sample(sorted(by_db), min(DATABASES, len(by_db)))
    return [q for name in names for q in draw.sample(by_db[name], min(QUESTIONS, len(by_db[name])))]


def contenders(state: State, split: str, draw: random.Random) -> list[str]:
    """The newest kit, who won the last round (all that tied, up to three), and one of the two best by ELO; in a round
    that evolves nothing, four of those that are there, for a challenge the least tested ones above the start."""
    newest = state.proposed[split][-1]
    played = state.played.get(split, ())
    order = ranked(state, split)
    if newest["kit"] == BASE and newest["by"] in ("challenger", "none"):
        tests = {kit: sum(kit in e["right"] for e in played) for kit in order}
        ratings = elo([scores(e) for e in played])
        if newest["by"] == "challenger":
            order = sorted(order, key=lambda kit: (ratings.get(kit, 0.0) <= 1500, tests[kit]))
        return order[: CONTENDERS + 1]
    last = scores(played[-1]) if played else {BASE: 0}
    winners = [kit for kit in order if last.get(kit) == max(last.values())][:CONTENDERS]
    sure = list(dict.fromkeys((*winners, newest["kit"])))
    others = [kit for kit in order if kit not in sure][:2]
    return [*sure, draw.choice(others)] if others else sure


def decided(state: State) -> tuple[bool, str]:
    """Whether the kit is accepted, and why. Raises KeyError before both splits are proved."""
    at_random, apart = (proof(state.held_out[name], state.readings) for name in ("random", "form_disjoint"))
    if state.held_out["random"]["kit"] == BASE:
        return False, "Nothing proved better."
    if apart.worse:
        return False, "On questions of other forms it is worse."
    if not at_random.better:
        return False, "Nothing proved better."
    elsewhere = "on questions of other forms too" if apart.better else (
        "on questions of other forms nothing is proved: expect the gain on questions like those it learned from"
    )  # fmt: skip
    return True, f"Better on held-out questions; {elsewhere}."


def too_few(held_out: int) -> str:
    """What few questions cannot prove; empty where there are enough."""
    if held_out >= 100:
        return ""
    return (
        f"{held_out} held-out questions cannot prove a small gain: at least 6 answers must change, all for the better "
        f"({6 / max(6, held_out):.0%} of them). About {needed()} held-out questions prove a gain of 5 points."
    )


def evidence(result: Result) -> str:
    """The text of EVIDENCE.md."""
    rows = [
        f"| {name} | {p.n} | {p.before:.3f} | {p.after:.3f} | {p.won} | {p.lost} | {p.p:.4g} |"
        for name, p in (("at random", result.random), ("forms kept apart", result.form_disjoint))
    ]
    verdict = "Accepted" if result.accepted else "Not accepted"
    head = "| split | held-out questions | right before | after | won | lost | p |\n|" + " --- |" * 7
    apart = "The second row is of a kit made in the same way from questions none of whose forms is held out."
    return "\n".join([f"{verdict}. {result.why}", "", head, *rows, "", apart, ""])


def _line(event: dict[str, Any]) -> str:
    """An event, for people."""
    kind, split = event["event"], event.get("split", "").replace("_", "-")
    if kind == "proposed":
        return f"{split}, round {event['round'] + 1}: {event['by']} proposes {event['kit']} {event['note']}".rstrip()
    if kind == "played":
        counts = ", ".join(f"{kit} {b.count('1')}" for kit, b in event["right"].items())
        return f"{split}, round {event['round'] + 1}: of {len(event['ids'])} right: {counts}"
    if kind == "chosen":
        return f"{split}: {event['kit']} is chosen"
    if kind == "held_out":
        p = proof(event, 1)
        return f"{split}, held out: {p.before:.3f} → {p.after:.3f} of {p.n}, won {p.won}, lost {p.lost}, p = {p.p:.4g}"
    return f"{'accepted' if event['accepted'] else 'not accepted'}: {event['why']}"

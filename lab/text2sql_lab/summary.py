"""The summary of a run, `summary.json` in its folder, from which a server shows the run without the lab.

In: the journal's state and the kits. Out: the file, written anew after each event: what is proved, the tournament of
each split, and what each kit changes against its parent.
"""

from __future__ import annotations

import difflib
import json
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from agent.knowledge.kit import CONTENT
from text2sql_lab.evolvers.protocol import scores
from text2sql_lab.journal import BASE, State
from text2sql_lab.measurement import Kits
from text2sql_lab.proof import proof
from text2sql_lab.ratings import START, bradley_terry, elo

SUMMARY = "summary.json"


def write_summary(out: Path, state: State, kits: Kits) -> None:
    """A reader never finds half of the file."""
    end = state.end or {}
    summary = {
        **{name: state.start.get(name) for name in ("evolver", "model", "seed")},
        "ended": state.end is not None,
        "accepted": bool(end.get("accepted")),
        "why": end.get("why", ""),
        "splits": [_split(state, split, kits) for split in state.proposed],
    }
    beside = out / f"{SUMMARY}.new"
    beside.write_text(json.dumps(summary, ensure_ascii=False) + "\n", encoding="utf-8")
    beside.replace(out / SUMMARY)


def changes(kits: Kits, kit: str, parent: str) -> dict[str, list[str]]:
    """The lines of each file of a kit against its parent's, as in `difflib.ndiff`, without its hints."""
    old, new = kits.files(parent), kits.files(kit)
    return {
        name: [
            line
            for line in difflib.ndiff(old.get(name, "").splitlines(), new.get(name, "").splitlines())
            if not line.startswith("?")
        ]
        for name in sorted({*old, *new} & {*CONTENT})
    }


def _split(state: State, split: str, kits: Kits) -> dict[str, Any]:
    rounds = [scores(event) for event in state.played.get(split, ())]
    proved = state.held_out.get(split)
    chosen = state.chosen.get(split, {}).get("kit", BASE)
    first: dict[str, Mapping[str, Any]] = {}
    for event in state.proposed[split]:
        if event["kit"] != BASE:
            first.setdefault(event["kit"], event)
    ratings, strengths = elo(rounds), bradley_terry(rounds)
    return {
        "name": split,
        "played": len(rounds),
        "rounds": state.rounds,
        "proof": asdict(proof(proved, state.readings)) if proved else None,
        "base_elo": round(ratings.get(BASE, START)),
        "kits": [
            {
                "kit": kit,
                "round": event["round"] + 1,
                "by": event["by"],
                "parents": event["parents"],
                "note": event["note"],
                "elo": round(ratings.get(kit, START)),
                "bradley_terry": round(strengths.get(kit, START)),
                "chosen": kit == chosen,
                "changes": [
                    {"file": file, "lines": lines}
                    for file, lines in changes(kits, kit, next(iter(event["parents"]), BASE)).items()
                ],
            }
            for kit, event in first.items()
        ],
    }

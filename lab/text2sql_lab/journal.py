"""The journal of a run: append-only JSON lines. The state is a fold over them, and nothing else is kept.

In: events as they happen. Out: a `State`. Each random draw comes from (seed, number of the event), so a run that is
killed after any event and resumed ends with the same bytes as one that was not.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from eval.errors import InputError
from eval.jsonl import encode
from text2sql_lab.record_lines import append_record, records_in

BASE = "base"
"""The name of the agent without a kit, in events."""
Event = dict[str, Any]


@dataclass(frozen=True, slots=True)
class State:
    """What the events say. Rights are strings of 0 and 1, in the order of the questions."""

    start: Event = field(default_factory=dict)
    rounds: int = 0
    """Rounds to play for each split; `extended` events add to it."""
    proposed: Mapping[str, tuple[Event, ...]] = field(default_factory=dict)
    """By split."""
    played: Mapping[str, tuple[Event, ...]] = field(default_factory=dict)
    chosen: Mapping[str, Event] = field(default_factory=dict)
    held_out: Mapping[str, Event] = field(default_factory=dict)
    end: Event | None = None
    readings: int = 1
    """How often the held-out questions are read; each reading but the first is one more chance to be lucky."""
    events: int = 0

    def draw(self) -> random.Random:
        """The source of random draws for the next event."""
        return random.Random(f"{self.start['seed']}:{self.events}")  # noqa: S311 (no secret)


def fold(events: Iterable[Event]) -> State:
    """The state after these events. Raises InputError for an event that cannot be there."""
    fields: dict[str, Any] = {name: {} for name in ("proposed", "played", "chosen", "held_out")}
    fields |= {"rounds": 0, "readings": 1, "events": 0}
    for number, event in enumerate(events, 1):
        kind, split = event.get("event"), event.get("split", "")
        fields["events"] = number
        if kind == "start":
            fields |= {"start": event, "rounds": event["rounds"]}
        elif kind in ("proposed", "played"):
            fields[kind][split] = (*fields[kind].get(split, ()), event)
        elif kind in ("chosen", "held_out"):
            fields[kind][split] = event
        elif kind == "extended":  # what was chosen and proved before stays in the journal and counts no longer
            fields["readings"] += bool(fields["held_out"])
            fields["rounds"] += event["rounds"]
            fields |= {"chosen": {}, "held_out": {}, "end": None}
        elif kind == "end":
            fields["end"] = event
        else:
            raise InputError(f"The journal's line {number} is of no kind that is known.")
    return State(**fields)


class Journal:
    """The file of events."""

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            self.events: list[Event] = records_in(path)
        except ValueError:
            raise InputError(f"{path} is no journal.") from None

    @property
    def state(self) -> State:
        return fold(self.events)

    def add(self, event: Event) -> None:
        """Append an event; once this returns, it survives a kill."""
        append_record(self.path, event)
        self.events.append(json.loads(encode(event)))

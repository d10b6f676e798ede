"""Reads the paired fixture files: a case opens with `-- @case name: what it is`, its text is what follows."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

FIXTURES = Path(__file__).resolve().parents[2] / "fixtures"

_CASE = re.compile(r"^-- @case (?P<name>\w+)(?:: (?P<about>.*))?$")


@dataclass(frozen=True)
class Case:
    name: str
    about: str
    text: str


def cases(path: Path) -> list[Case]:
    """All cases of a file in order; a name that stands twice is an error."""
    read: list[Case] = []
    lines: list[str] = []
    head: re.Match[str] | None = None
    for line in [*path.read_text(encoding="utf-8").split("\n"), "-- @case end"]:
        match = _CASE.match(line)
        if match is None:
            lines.append(line)
            continue
        if head is not None:
            read.append(Case(head["name"], head["about"] or "", "\n".join(lines).rstrip("\n")))
        head, lines = match, []
    names = [case.name for case in read]
    assert len(names) == len(set(names)), f"{path.name}: a name stands twice"
    return read

"""Cases from the files below `fixtures`: pairs of texts, and lines of JSON.

In a file of texts `[name]` opens a section, blank lines part its blocks, and a block's lines are the pair. In a file of
statements `-- @case name: what it is` opens a case.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, NamedTuple

from tests.jsonl import read_lines

FIXTURES = Path(__file__).resolve().parent / "fixtures"


def sections(file: str) -> dict[str, list[tuple[str, ...]]]:
    """The blocks of each section of a file below `fixtures`."""
    found: dict[str, list[tuple[str, ...]]] = {}
    text = (FIXTURES / file).read_text(encoding="utf-8")
    for part in re.split(r"^\[(?=[^\]\n]+\]$)", text, flags=re.MULTILINE)[1:]:
        name, _, rest = part.partition("]\n")
        found[name] = [tuple(block.splitlines()) for block in re.split(r"\n{2,}", rest.strip("\n"))]
    return found


class Case(NamedTuple):
    name: str
    about: str
    text: str


def cases(file: str) -> list[Case]:
    """The cases of a file of statements; a name that stands twice is an error."""
    parts = re.split(
        r"^-- @case (\w+)(?:: (.*))?\n", (FIXTURES / file).read_text(encoding="utf-8"), flags=re.MULTILINE
    )[1:]
    read = [Case(name, about or "", text.rstrip("\n")) for name, about, text in zip(*[iter(parts)] * 3, strict=True)]
    assert len({case.name for case in read}) == len(read), f"{file}: a name stands twice"
    return read


def rows(file: str) -> list[tuple[Any, ...]]:
    """The values of each line of a file of JSON Lines, whose names are those of the test's parameters."""
    return [tuple(line.values()) for line in read_lines(FIXTURES / file)]


def values(file: str) -> list[Any]:
    """The value of each line of a file of JSON Lines that names one parameter."""
    return [value for (value,) in rows(file)]

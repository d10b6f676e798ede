"""Pairs of texts from a file: `[name]` opens a section, blank lines part its blocks, a block's lines are the pair."""

from __future__ import annotations

import re
from pathlib import Path

FIXTURES = Path(__file__).resolve().parent / "fixtures"


def sections(file: str) -> dict[str, list[tuple[str, ...]]]:
    """The blocks of each section of a file below `fixtures`."""
    found: dict[str, list[tuple[str, ...]]] = {}
    text = (FIXTURES / file).read_text(encoding="utf-8")
    for part in re.split(r"^\[(?=[^\]\n]+\]$)", text, flags=re.MULTILINE)[1:]:
        name, _, rest = part.partition("]\n")
        found[name] = [tuple(block.splitlines()) for block in re.split(r"\n{2,}", rest.strip("\n"))]
    return found

"""What people write in cells, from `notation.txt`: months, yes and no, marks for no value, names of totals."""

from __future__ import annotations

from functools import cache
from pathlib import Path


@cache
def notation(section: str) -> tuple[tuple[str, ...], ...]:
    """The words of a section, line by line. Raises KeyError where there is no such section."""
    found: dict[str, list[tuple[str, ...]]] = {}
    lines: list[tuple[str, ...]] = []
    for line in Path(__file__).with_suffix(".txt").read_text(encoding="utf-8").splitlines():
        if line.startswith("[") and line.endswith("]") and line[1:-1].replace(" ", "").isalpha():
            lines = found.setdefault(line[1:-1], [])
        elif line and not line.startswith("# "):
            lines.append(tuple(line.split()))
    return tuple(found[section])

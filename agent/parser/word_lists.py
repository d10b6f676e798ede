"""The lists of words by which the engine reads English: `words.txt` in this folder, a list a line."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from eval.language.lexicon import lines


@cache
def _lists() -> dict[str, frozenset[str]]:
    rows = (line.partition(":") for line in lines(Path(__file__).with_name("words.txt")))
    return {name: frozenset(listed.split()) for name, _, listed in rows}


def word_list(name: str) -> frozenset[str]:
    """The words of one list. Raises KeyError for a name that the file does not have."""
    return _lists()[name]

"""The lists of words by which the engine reads English: `words.txt` in this folder.

A line is the name of a list, a colon and its words. Lines of one name are a group each; a line with further words
behind its name says what these words mean.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

from eval.language.lexicon import lines

_Row = tuple[tuple[str, ...], tuple[str, ...]]


@cache
def _rows() -> dict[str, list[_Row]]:
    rows: dict[str, list[_Row]] = {}
    for line in lines(Path(__file__).with_name("words.txt")):
        head, _, listed = line.partition(":")
        name, *keys = head.split()
        rows.setdefault(name, []).append((tuple(keys), tuple(listed.split())))
    return rows


def word_list(name: str) -> frozenset[str]:
    """The words of one list. Raises KeyError for a name that the file does not have."""
    return frozenset(word for _, words in _rows()[name] for word in words)


def word_groups(name: str) -> tuple[frozenset[str], ...]:
    """The groups of one list, a line each."""
    return tuple(frozenset(words) for _, words in _rows()[name])


def word_table(name: str) -> dict[str, tuple[str, ...]]:
    """What each of the words behind the list's name means, in the order of the file."""
    return {key: words for keys, words in _rows()[name] for key in keys}

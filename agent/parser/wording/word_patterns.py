"""Patterns that look at a text only where it holds a word that every match of theirs holds.

In: a regular expression, in upper or lower case, and a text. Out: what `re` finds. Most of the rules' 300 patterns are
for words that a question does not have, and looking for a word is ten times as fast as looking for a pattern. So a
pattern is compiled when a text first has its words: compiling them all takes 0.2 s at the start of a process.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache

_LEAST = 3
"""Letters; shorter words are in most texts."""
_MOST = 40
"""Words, one of which has to be there."""
Words = tuple[str, ...]


class WordPattern:
    """A pattern whose case does not matter."""

    __slots__ = ("_compiled", "_needed", "pattern")

    def __init__(self, pattern: str) -> None:
        self.pattern = pattern
        self._compiled: re.Pattern[str] | None = None
        self._needed: tuple[Words, ...] | None = None

    def compiled(self) -> re.Pattern[str]:
        if self._compiled is None:
            self._compiled = re.compile(self.pattern, re.IGNORECASE)
        return self._compiled

    def search(self, text: str) -> re.Match[str] | None:
        return self.compiled().search(text) if self._may_be_in(text) else None

    def sub(self, words: str | Callable[[re.Match[str]], str], text: str) -> str:
        return self.compiled().sub(words, text) if self._may_be_in(text) else text

    def _may_be_in(self, text: str) -> bool:
        if self._needed is None:
            self._needed = needed_words(self.pattern)
        lower = _lower(text)
        if lower is None:
            return True
        for words in self._needed:
            for word in words:  # a third of the time of `any`: it runs 800 times a question
                if word in lower:
                    break
            else:
                return False
        return True


@lru_cache(maxsize=8)
def _lower(text: str) -> str | None:
    """None for a text with other letters than English ones: `ſ` is an `s` to a pattern."""
    return text.lower() if text.isascii() else None


def needed_words(pattern: str) -> tuple[Words, ...]:
    """Texts in lower case: every match of the pattern holds one of each group; empty where none is known."""
    groups = [_Sequence("")]
    for match in _PARTS.finditer(pattern):
        kind, part = match.lastgroup, match[0]
        if kind == "open":
            groups[-1].close_run()
            groups.append(_Sequence(part))
        elif kind == "shut" and len(groups) > 1:
            inner = groups.pop()
            groups[-1].wait_with(inner.needed() if inner.counts else [])
        elif kind == "or":
            groups[-1].next_branch()
        elif kind == "repeat":
            groups[-1].repeat(may_be_absent=part[0] != "+")
        elif kind == "letters":
            groups[-1].letters(part)
        else:
            groups[-1].close_run()
    found = groups[0].needed()
    return tuple(tuple(dict.fromkeys(word.lower() for word in words)) for words in found if len(words) <= _MOST)


_PARTS = re.compile(
    r"(?P<escape>\\.)|(?P<set>\[\^?\]?(?:\\.|[^\]\\])*\])|(?P<open>\((?:\?(?:P?<\w+>|P=\w+|<?[=!]|[a-z-]*:|[a-z]+))?)"
    r"|(?P<shut>\))|(?P<or>\|)|(?P<repeat>(?:[?*+]|\{\d*,?\d*\})[?+]?)|(?P<letters>[\w '&,-]+)|(?P<other>.)",
    re.DOTALL,
)


class _Sequence:
    """The parts of one group, as far as they are read."""

    def __init__(self, opening: str) -> None:
        self.counts = opening in ("", "(", "(?:") or opening.startswith("(?P<")
        """Whether what is in it is part of a match: not so in a look ahead."""
        self._branches: list[list[Words]] = []
        self._found: list[Words] = []
        self._run = ""
        self._waiting: list[Words] = []
        """The words of the group just read, which count unless it may be absent."""

    def letters(self, part: str) -> None:
        self._take_waiting()
        self._run += part

    def wait_with(self, words: list[Words]) -> None:
        self._take_waiting()
        self._waiting = words

    def repeat(self, *, may_be_absent: bool) -> None:
        if may_be_absent:
            self._run, self._waiting = self._run[:-1], []
        self.close_run()

    def close_run(self) -> None:
        self._take_waiting()
        if len(self._run.strip()) >= _LEAST:
            self._found.append((self._run,))
        self._run = ""

    def next_branch(self) -> None:
        self.close_run()
        self._branches.append(self._found)
        self._found = []

    def needed(self) -> list[Words]:
        """One of each of these is in every match of the group: of several branches, what is the rarest in each."""
        self.next_branch()
        if len(self._branches) == 1:
            return sorted(self._branches[0], key=_rarest, reverse=True)
        if not all(self._branches):
            return []
        return [tuple(word for branch in self._branches for word in max(branch, key=_rarest))]

    def _take_waiting(self) -> None:
        self._found += self._waiting
        self._waiting = []


def _rarest(words: Words) -> tuple[int, int]:
    """The fewest words are best, and among those the longest."""
    return -len(words), min(map(len, words))

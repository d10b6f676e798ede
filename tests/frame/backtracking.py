"""Texts on which a regular expression may backtrack for long: its loops, fed with words that they can divide among
themselves in many ways.

In: a pattern. Out: for each of its loops texts that begin as the loop's first word needs it, repeat a word, and end so
that most patterns fail. The words are samples of the loop's body, drawn with one sign after the other, those of what
stands between it and the next loop, and both in a row; whether a text is slow, the clock tells.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from re import _constants as op
from re import _parser
from typing import Any

LENGTH = 2_000
"""Characters of a text; a question has at most as many."""
_SIGNS = "a 5,.-b'“é\n" + "".join(map(chr, range(33, 127)))
_TRIED = 6
"""Of the signs, so many have words of their own."""
_ENDS = ("\n!", "!", "", " zz5\x00")


@dataclass(frozen=True, slots=True)
class Attack:
    """A text of any length: a beginning, a word again and again, and an end at which most patterns fail."""

    start: str
    word: str
    end: str

    def __call__(self, length: int) -> str:
        return (self.start + self.word * (length // len(self.word) + 1))[: length - len(self.end)] + self.end


def _fits(kind: Any, value: Any, char: str, flags: int) -> bool:
    if kind is op.IN:
        negated = value[0][0] is op.NEGATE
        return negated != any(_fits(k, v, char, flags) for k, v in value if k is not op.NEGATE)
    if kind is op.RANGE:
        return bool(value[0] <= ord(char) <= value[1])
    if kind is op.CATEGORY:
        name = str(value).removeprefix("CATEGORY_").removeprefix("UNI_")
        base = {"DIGIT": char.isdigit(), "SPACE": char.isspace(), "WORD": char.isalnum() or char == "_"}
        return base[name.removeprefix("NOT_")] != name.startswith("NOT_")
    if kind in (op.LITERAL, op.NOT_LITERAL):
        return (kind is op.LITERAL) == (ord(char) == value)
    return char != "\n" or bool(flags & re.DOTALL)  # any


def _parts(nodes: Any, whole: bool) -> Iterator[tuple[Any, Any]]:
    """The signs of a short text that fits; `whole`: with all that may be left out, and the last of the branches."""
    for kind, value in nodes:
        if kind is op.BRANCH:
            yield from _parts(value[1][-1 if whole else 0], whole)
        elif kind is op.SUBPATTERN:
            yield from _parts(value[3], whole)
        elif kind is op.ATOMIC_GROUP:
            yield from _parts(value, whole)
        elif kind in (op.MAX_REPEAT, op.MIN_REPEAT, op.POSSESSIVE_REPEAT):
            for _ in range(max(value[0], int(whole))):
                yield from _parts(value[2], whole)
        elif kind in (op.LITERAL, op.NOT_LITERAL, op.ANY, op.IN):
            yield kind, value


def _sample(nodes: Any, flags: int, sign: str, whole: bool = False) -> str:
    """A text that fits, of this sign wherever it may stand."""
    return "".join(next((c for c in (sign, *_SIGNS) if _fits(*part, c, flags)), sign) for part in _parts(nodes, whole))


def _loops(nodes: Any, before: list[Any], after: list[Any]) -> Iterator[tuple[list[Any], Any, list[Any]]]:
    """What stands before each loop, its body, and what stands behind it."""
    nodes = list(nodes)
    for at, (kind, value) in enumerate(nodes):
        lead, rest = before + nodes[:at], nodes[at + 1 :] + after
        if kind is op.BRANCH:
            for branch in value[1]:
                yield from _loops(branch, lead, rest)
        elif kind is op.SUBPATTERN:
            yield from _loops(value[3], lead, rest)
        elif kind is op.ATOMIC_GROUP or (kind in (op.ASSERT, op.ASSERT_NOT) and value[0] > 0):
            yield from _loops(value if kind is op.ATOMIC_GROUP else value[1], lead, rest)
        elif kind in (op.MAX_REPEAT, op.MIN_REPEAT, op.POSSESSIVE_REPEAT):
            if value[1] > 1:
                yield lead, value[2], rest
            yield from _loops(value[2], lead, [*value[2], *rest] if value[1] > 1 else rest)


def attacks(pattern: re.Pattern[str]) -> Iterator[Attack]:
    """Texts whose characters the loops of a pattern can divide among themselves in many ways."""
    parsed, flags, seen = _parser.parse(pattern.pattern, pattern.flags), pattern.flags, set()
    for before, body, after in _loops(parsed, [], []):
        start = _sample(before, flags, "a")
        repeats = (at for at, (kind, _) in enumerate(after) if kind in (op.MAX_REPEAT, op.MIN_REPEAT))
        between = after[: next(repeats, len(after))]
        for sign in _SIGNS[:_TRIED]:
            once, full, gap = (
                _sample(body, flags, sign),
                _sample(body, flags, sign, True),
                _sample(between, flags, sign),
            )
            for word in (once, full, gap, once + gap, once + full, start + full):
                key = ("" if word == start + full else start, word)
                if word and key not in seen:
                    seen.add(key)
                    yield from (Attack(*key, end) for end in _ENDS)

"""A pattern is looked for only in texts that have its words, and finds what it always found."""

from __future__ import annotations

import random
import re
from re import _constants as sre
from re import _parser as sre_parser
from types import ModuleType
from typing import Any

import pytest

from agent.parser.wording import pipeline
from agent.parser.wording.rules import Replacements, Rule
from agent.parser.wording.word_patterns import WordPattern, needed_words

PATTERNS = sorted(
    {
        pattern.pattern
        for module in vars(pipeline).values()
        if isinstance(module, ModuleType)
        for value in vars(module).values()
        if isinstance(value, Rule | Replacements)
        for pattern in value.patterns
    }
)


def written(items: Any, chance: random.Random) -> str:
    """A text made along the parts of a pattern; what it looks ahead for is left out, so it may not match."""
    text = ""
    for kind, value in items:
        if kind is sre.LITERAL:
            text += chance.choice((chr(value), chr(value).upper()))
        elif kind is sre.NOT_LITERAL or kind is sre.ANY:
            text += "q"
        elif kind is sre.IN:
            text += _of_set(value, chance)
        elif kind is sre.BRANCH:
            text += written(chance.choice(value[1]), chance)
        elif kind is sre.SUBPATTERN:
            text += written(value[3], chance)
        elif kind in (sre.MAX_REPEAT, sre.MIN_REPEAT, sre.POSSESSIVE_REPEAT):
            times = chance.choice((value[0], min(value[1], value[0] + 1)))
            text += "".join(written(value[2], chance) for _ in range(times))
    return text


def _of_set(members: Any, chance: random.Random) -> str:
    kind, value = chance.choice([m for m in members if m[0] is not sre.NEGATE])
    if kind is sre.RANGE:
        return chr(chance.randint(*value))
    if kind is sre.LITERAL:
        return chr(value)
    return {sre.CATEGORY_DIGIT: "7", sre.CATEGORY_SPACE: " ", sre.CATEGORY_WORD: "w"}.get(value, "q")


@pytest.mark.parametrize("pattern", PATTERNS)
def test_every_match_holds_one_of_each_group_of_words(pattern: str) -> None:
    needed, compiled, chance = needed_words(pattern), re.compile(pattern, re.IGNORECASE), random.Random(3)
    for _ in range(60):
        text = written(sre_parser.parse(pattern, re.IGNORECASE), chance)
        match = compiled.search(text)
        if match is not None:
            assert all(any(word in match[0].lower() for word in words) for words in needed), (text, needed)


@pytest.mark.parametrize(
    ("pattern", "needed"),
    [
        (r"\bsorted (?:by|on) ", (("sorted ",),)),
        (r"\b(?:percent|share)\b of", (("percent", "share"),)),
        (r"(?:percent)? of", ()),
        (r"colou?rs", (("colo",),)),
        (r"(?=percent)of", ()),
        (r"abc|x", ()),
        (r"[abc]def+", (("def",),)),
        (r"(?:how|what) share (?:of|among)", ((" share ",), ("how", "what"))),
        (r"(?:much (?:of|among)|rarely )paid", (("paid",), ("much ", "rarely "))),
        (r"(?:abc|defg)+ hi", (("abc", "defg"),)),
    ],
)
def test_what_a_pattern_needs(pattern: str, needed: tuple[tuple[str, ...], ...]) -> None:
    assert needed_words(pattern) == needed


def test_a_letter_that_only_a_pattern_takes_for_another_is_found() -> None:
    assert WordPattern("share").search("\u017fhare") is not None


def test_most_patterns_have_words() -> None:
    assert len(PATTERNS) > 300
    assert sum(not needed_words(p) for p in PATTERNS) < len(PATTERNS) / 10

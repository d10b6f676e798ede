"""Whether a question is in English, as far as its letters and its small words tell.

In: a text. Out: False where it is in another language; True where nothing tells of one. A name in foreign letters or
words does not make a question foreign: its small words decide, or many of its letters.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path

from eval.language.lexicon import lines, word_set

ENGLISH = "en"
_WORDS = {
    code: word_set(words)
    for code, words in (line.split(": ", 1) for line in lines(Path(__file__).with_name("lexicon_small_words.txt")))
}
_WORD = re.compile(r"[^\W\d_]+")
_LETTER = re.compile(r"[^\W\d_]")
_NOT_LATIN = re.compile(r"[^\W\d_A-Za-z\u00aa-\u024f]")
_QUOTED = re.compile(r"\"[^\"]*\"|“[^”]*”|„[^“]*“|«[^»]*»|(?<!\w)'[^']*'(?!\w)")
_READ = 2_000
"""Characters that are looked at."""
_LEAD = 2
"""Small words by which another language has to lead English."""

READS_ENGLISH = "Without a language model, questions are read in English only. Ask it in English, or set up a model."
"""What the engine without a model says to a question in another language."""


@lru_cache(maxsize=512)
def is_english(text: str) -> bool:
    """Whether nothing tells of another language."""
    plain = _QUOTED.sub(" ", text[:_READ])
    if len(_NOT_LATIN.findall(plain)) * 3 > len(_LETTER.findall(plain)):
        return False
    words = [w.casefold() for w in _WORD.findall(plain)]
    counts = {code: sum(w in known for w in words) for code, known in _WORDS.items()}
    english = counts.pop(ENGLISH)
    return max(counts.values()) < english + _LEAD


def without_names(text: str, names: Iterable[str]) -> str:
    """The text without the words of these names, which tell of no language: `total 销量 by 城市`."""
    known = {word.casefold() for name in names for word in _WORD.findall(name)}
    return _WORD.sub(lambda word: "" if word[0].casefold() in known else word[0], text)

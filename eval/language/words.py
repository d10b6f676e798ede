"""Words of questions and of names, reduced to a form in which they match: `Customers`, `customer_id`, "customer's".

In: text. Out: tuples of reduced words; and whether a question is in English at all (`is_english`). It uses only English
grammar, no dictionary of a database's words.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache, lru_cache
from pathlib import Path

from eval.language.inflection import lemma, light_stem
from eval.language.lexicon import lines, word_set

_WORD = re.compile(r"[^\W_]+(?:'[a-z]+)?", re.UNICODE)
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|(?<=[^\W\d_])(?=\d)")

STOPWORDS = word_set(Path(__file__).with_name("lexicon_stopwords.txt").read_text(encoding="utf-8"))
"""Words that say what to do with data rather than which data."""


def question_words(text: str) -> tuple[str, ...]:
    """Every word of a question in order, reduced."""
    return tuple(light_stem(w) for w in _WORD.findall(text))


def content_words(text: str) -> tuple[str, ...]:
    """The words of a question that name data, reduced, in order, without duplicates."""
    words = (w.lower() for w in _WORD.findall(text))
    return tuple(dict.fromkeys(light_stem(w) for w in words if w not in STOPWORDS and not w.isdecimal()))


_PARTS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\d_a-zA-Z]+")


@lru_cache(100_000)
def singular_words(name: str) -> tuple[str, ...]:
    """The words of a name, in small letters and singular, otherwise whole: `CustomerIDs`, `customer_ids` and
    `customer ids` all become (customer, id)."""
    return tuple(lemma(w.casefold()) for w in _PARTS.findall(name))


_TAILS = ("name", "type", "code", "date", "year", "title", "id", "no", "num", "number", "time", "price")
"""Words that names attach to others without a separator: `petid`, `lname`, `airportcode`."""


@lru_cache(maxsize=50_000)
def name_words(name: str) -> tuple[str, ...]:
    """The words of a table's or column's name, reduced: `OrderDetails`, `order_details` and `order details` are
    equal."""
    parts = _WORD.findall(_CAMEL.sub(" ", name).replace("_", " "))
    if len(parts) == 1:
        word = parts[0].lower()
        tail = next((t for t in _TAILS if word.endswith(t) and word != t), None)
        if tail is not None and (tail != "no" or parts[0].endswith(("No", "NO"))):
            parts = [word.removesuffix(tail), tail]
    return tuple(light_stem(word) for word in parts)


@lru_cache(maxsize=100_000)
def akin(word: str, other: str) -> bool:
    """Whether two reduced words are equal or clearly belong to one word family (`nationality` and `nation`)."""
    if word == other:
        return True
    short, long = sorted((word, other), key=len)
    if len(short) >= 4:
        return long.startswith(short) or (len(short) >= 6 and long.startswith(short[:-2]))
    return len(short) == 3 and len(long) <= 7 and long.startswith(short)


def meets(name: str, words: frozenset[str]) -> bool:
    """Whether a word of the name (except `id`) is akin to one of the words."""
    parts = [p for p in name_words(name) if p not in _SAYS_LITTLE] or list(name_words(name))
    if any(p in words for p in parts):
        return True
    joined = name.casefold()
    return any(len(w) >= 4 and w in joined for w in words) or any(
        akin(p, w) for p in parts if len(p) >= 3 for w in words
    )


_SAYS_LITTLE = frozenset({"id", "code", "key", "no", "num", "name", "cod"})


_LETTERS = re.compile(r"[^\W\d_]+")
_LETTER = re.compile(r"[^\W\d_]")
_NOT_LATIN = re.compile(r"[^\W\d_A-Za-z\u00aa-\u024f]")
_QUOTED = re.compile(r"\"[^\"]*\"|“[^”]*”|„[^“]*“|«[^»]*»|(?<!\w)'[^']*'(?!\w)")
_READ = 2_000
"""Characters that are looked at."""
_LEAD = 2
"""Small words by which another language has to lead English."""

READS_ENGLISH = "Without a language model, questions are read in English only. Ask it in English, or set up a model."
"""What the engine without a model says to a question in another language."""


@cache
def _small_words() -> dict[str, frozenset[str]]:
    """By the code of a language, its small words."""
    listed = lines(Path(__file__).with_name("lexicon_small_words.txt"))
    return {code: word_set(words) for code, words in (line.split(": ", 1) for line in listed)}


@lru_cache(maxsize=512)
def is_english(text: str) -> bool:
    """Whether nothing tells of another language, as far as letters and small words do. A name in foreign letters or
    words does not make a question foreign: its small words decide, or many of its letters."""
    plain = _QUOTED.sub(" ", text[:_READ])
    if len(_NOT_LATIN.findall(plain)) * 3 > len(_LETTER.findall(plain)):
        return False
    words = [w.casefold() for w in _LETTERS.findall(plain)]
    counts = {code: sum(w in known for w in words) for code, known in _small_words().items()}
    english = counts.pop("en")
    return max(counts.values()) < english + _LEAD


def without_names(text: str, names: Iterable[str]) -> str:
    """The text without the words of these names, which tell of no language: `total 销量 by 城市`."""
    known = {word.casefold() for name in names for word in _LETTERS.findall(name)}
    return _LETTERS.sub(lambda word: "" if word[0].casefold() in known else word[0], text)

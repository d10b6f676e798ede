"""Base forms and plurals of English words, by spelling rules and a list of irregular forms.

In: a lower-case word. Out: the word without its plural (`lemma`), also without verb endings (`stem`), also without
derivational endings (`root`). `light_stem` is the cruder form on which the judge's fitted weights were learned.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path


def _pairs(file: str) -> dict[str, str]:
    """The file's lines `form:form`; a line that begins with # is a comment."""
    lines = (Path(__file__).parent / file).read_text(encoding="utf-8").splitlines()
    return dict(line.split(":") for line in lines if not line.startswith("#"))


_PLURALS = _pairs("lexicon_plurals.txt")
_IRREGULAR = {many: one for one, many in _PLURALS.items()} | _pairs("lexicon_irregular.txt")
_PLURAL_US = ("status", "campus", "bus", "virus", "bonus", "census", "genus", "corpus", "radius", "surplus")
_DERIVATIONAL = ("isation", "ization", "ation", "ition", "ment", "ance", "ence", "tion", "sion", "ion", "ship",
                 "ness", "ity", "ive", "or", "er", "al", "ee", "y")  # fmt: skip


@lru_cache(maxsize=20_000)
def lemma(word: str) -> str:
    """The singular or base form of a lower-case English word, as far as its spelling shows."""
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    if word.endswith("people"):
        return f"{word[:-6]}person"
    if len(word) < 4 or not word.endswith("s") or word.endswith(("ss", "us", "is")):
        return word
    if word.endswith("ies"):
        return word[:-3] + "y" if len(word) > 4 else word[:-1]
    if word.endswith(("sses", "shes", "ches", "xes", "zzes")):
        return word[:-2]
    if word.endswith("uses") and word[:-2].endswith(_PLURAL_US):
        return word[:-2]
    if word.endswith("oes") and len(word) > 5:
        return word[:-2]
    return word[:-1]


@lru_cache(maxsize=20_000)
def stem(word: str) -> str:
    """The lemma without verb endings: `attending`, `attended` and `attend` share a stem."""
    base = lemma(word)
    for ending in ("ing", "ed"):
        if base.endswith(ending) and len(base) - len(ending) >= 3 and any(c in "aeiouy" for c in base[: -len(ending)]):
            base = base[: -len(ending)]
            if base.endswith("i"):
                base = base[:-1] + "y"
            elif len(base) > 3 and base[-1] == base[-2] and base[-1] not in "lsz":
                base = base[:-1]
            break
    return base[:-1] if base.endswith("e") and len(base) > 3 else base


@lru_cache(maxsize=20_000)
def root(word: str) -> str:
    """The stem without common derivational endings: `enrolment`, `enrolled`; `manager`, `manages`."""
    base = stem(word)
    ending = next((e for e in _DERIVATIONAL if base.endswith(e) and len(base) - len(e) >= 4), "")
    base = base[:-6] if base.endswith("faction") and len(base) > 9 else base.removesuffix(ending)  # satisfied
    return base[:-1] if len(base) > 4 and base[-1] == base[-2] else base


@lru_cache(maxsize=20_000)
def light_stem(word: str) -> str:
    """A word without its plural and verb endings; deliberately crude, since both sides are reduced by it."""
    word = word.lower().removesuffix("'s").replace("'", "")
    if len(word) <= 3:
        return word
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith(("sses", "shes", "ches", "xes", "zes")):
        return word[:-2]
    if word.endswith("s") and not word.endswith(("ss", "us", "is")):
        word = word[:-1]
    for ending in ("ing", "ed"):
        if word.endswith(ending) and len(word) - len(ending) >= 4:
            word = word[: -len(ending)]
            return word[:-1] if len(word) > 3 and word[-1] == word[-2] and word[-1] not in "ls" else word
    return word.removesuffix("e") if len(word) > 4 else word


def plural(word: str) -> str:
    """The plural of a noun: `city` → `cities`, `box` → `boxes`, `child` → `children`, `series` → `series`."""
    if word in _PLURALS:
        return _PLURALS[word]
    if word.endswith("sis"):
        return word[:-2] + "es"
    if word.endswith("y") and word[-2:-1] not in "aeiou":
        return word[:-1] + "ies"
    return word + ("es" if word.endswith(("s", "x", "ch", "sh")) else "s")


def plural_phrase(words: Sequence[str]) -> str:
    """The words with the last one in the plural: `order items`."""
    *first, last = words
    return " ".join((*first, plural(last)))


def counted(number: int, noun: str) -> str:
    """A number with its noun: `1 row`, `1,200 rows`."""
    return f"{number:,} {noun if number == 1 else plural(noun)}"

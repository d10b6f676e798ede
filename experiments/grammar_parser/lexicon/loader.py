"""The lexicon: which words and phrases say what is to be computed, rather than which data.

In: `signals.txt` (class, argument, phrases) and `functions.txt` (words that only hold a sentence together). Out: a trie
of phrases over lower-case words, and a set of function words, read once per process.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path

from eval.language.inflection import lemma
from eval.language.lexicon import lines

_HERE = Path(__file__).parent


@dataclass(frozen=True, slots=True)
class Signal:
    """What a phrase says: its class (`agg`, `cmp`, `sup` …) and the argument of the class (`avg`, `>=`, `desc` …)."""

    kind: str
    argument: str


Trie = dict[str, "Trie | list[Signal]"]
_END = ""


@cache
def signals() -> Trie:
    """All phrases, word by word; the signal of a phrase stands under the empty word."""
    trie: Trie = {}
    for line in lines(_HERE / "signals.txt"):
        kind, argument, phrases = line.split(maxsplit=2)
        for phrase in phrases.split("|"):
            at = trie
            for word in phrase.split():
                at = at.setdefault(word, {})  # type: ignore[assignment]
            meanings = at.setdefault(_END, [])
            if Signal(kind, argument) not in meanings:
                meanings.append(Signal(kind, argument))  # type: ignore[union-attr]
    return trie


def signals_at(words: list[str], start: int) -> list[tuple[int, Signal]]:
    """The phrases that begin with the word at `start`: (end, signal), the longest first."""
    found: list[tuple[int, Signal]] = []
    at, here = signals(), start
    while here < len(words) and (below := at.get(words[here])) is not None:
        at, here = below, here + 1  # type: ignore[assignment]
        if isinstance(meanings := at.get(_END), list):
            found.extend((here, signal) for signal in meanings)
    return found[::-1]


@cache
def verbs() -> dict[str, frozenset[str]]:
    """For each form of a verb, the nouns of what it may link."""
    found: dict[str, set[str]] = {}
    for line in lines(_HERE / "verbs.txt"):
        forms, _, nouns = line.partition("|")
        for form in forms.split():
            found.setdefault(form, set()).update(nouns.split())
    return {form: frozenset(nouns) for form, nouns in found.items()}


@cache
def function_words() -> frozenset[str]:
    """Words that may be passed over: articles, pronouns, auxiliaries, prepositions, politeness."""
    return frozenset(word for line in lines(_HERE / "functions.txt") for word in line.split())


@dataclass(frozen=True, slots=True)
class Computed:
    """A measure made of two columns, each by the words that may name it."""

    left: tuple[tuple[str, ...], ...]
    sign: str
    right: tuple[tuple[str, ...], ...]


@cache
def computed() -> dict[str, Computed]:
    """Measures made of two columns, by name in lower case."""
    found: dict[str, Computed] = {}
    for line in lines(_HERE / "computed.txt"):
        names, left, sign, right = (part.strip() for part in line.split("|"))
        made = Computed(_words(left), sign, _words(right))
        found.update({name.strip(): made for name in names.split(",")})
    return found


def _words(text: str) -> tuple[tuple[str, ...], ...]:
    return tuple(tuple(lemma(w) for w in name.split()) for name in text.split(","))

"""The words of stored values: which values have a word, or one that begins so.

In: the values by their folded text. Out: for a word, the folded texts that have it, and counts per column. Everything
is built once, on first use.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, islice

from agent.knowledge.effort import spend
from agent.knowledge.value_forms import singular
from eval.language.inflection import lemma, plural

Exact = Mapping[str, list[tuple[int, str]]]
"""Folded text -> places of columns and values."""
_MOST_HOLDERS = 2_000
"""Maximum values examined for one of their words."""
_WORDS = 12
"""A value of more words is prose."""
_PREFIX = 4
"""Minimum letters of the beginning of a word."""
_PREFIXED = 60
"""Maximum words with the same beginning that are examined."""
EXAMPLES = 5
"""Values that are shown for those that have a word."""

Counted = tuple[int, int, int, int, tuple[str, ...]]
"""Place of the column, values with the word, as their first word, as their last word, examples."""


@dataclass(frozen=True, slots=True)
class ValueParts:
    """The values of one column that have a word."""

    table: str
    column: str
    count: int
    """How many of the known values have the word."""
    first: int
    """In how many it is the first word."""
    last: int
    """In how many it is the last word; a value of one word counts as both."""
    examples: tuple[str, ...]
    prefix: bool = False
    """The word is only the beginning of a word of theirs."""

    @property
    def score(self) -> float:
        """0.8 where it is the first or the last word of most of these values, 0.6 elsewhere, 0.45 for a prefix."""
        if self.prefix:
            return 0.45
        return 0.8 if max(self.first, self.last) >= 0.75 * self.count else 0.6


class ValueWords:
    """The words of the values of several words."""

    def __init__(self, exact: Exact) -> None:
        self._exact = exact

    def holding(self, word: str) -> Iterator[str]:
        """Folded values of several words that have exactly this word."""
        return islice(self._by_word.get(word, ()), _MOST_HOLDERS)

    def containing(self, form: str) -> Iterator[tuple[str, float]]:
        """Folded values of which these words, in the singular, are a part; with the share of their words, 0..1."""
        words = form.split()
        telling = [w for w in words if len(w) > 2 or w.isdecimal()]
        if not telling:
            return
        rarest = min(telling, key=lambda w: sum(len(self._by_word.get(other, ())) for other in _forms(w)))
        for folded in dict.fromkeys(self._holders(rarest)):
            spend()
            if f" {form} " in f" {singular(folded)} ":
                yield folded, len(words) / (folded.count(" ") + 1)

    def counted(self, word: str) -> list[Counted]:
        """The columns with values that have a word, in the singular or the plural."""
        forms = _forms(word)
        return self._by_column(chain((f for f in forms if f in self._exact), self._holders(word)), forms)

    def beginning_with(self, start: str) -> list[Counted]:
        """The columns with values that have a word which begins so."""
        if len(start) < _PREFIX:
            return []
        words = self._sorted
        longer = words[bisect_left(words, start) : bisect_right(words, f"{start}\U0010ffff")][:_PREFIXED]
        texts = (chain((w,) if w in self._exact else (), self._by_word.get(w, ())) for w in longer)
        return self._by_column(islice(chain.from_iterable(texts), _MOST_HOLDERS), tuple(longer))

    @cached_property
    def _by_word(self) -> dict[str, list[str]]:
        by_word: dict[str, list[str]] = {}
        for folded in self._exact:
            if " " in folded:
                words = folded.split()
                for word in set(words) if len(words) <= _WORDS else ():
                    by_word.setdefault(word, []).append(folded)
        return by_word

    @cached_property
    def _sorted(self) -> list[str]:
        return sorted({*(folded for folded in self._exact if " " not in folded), *self._by_word})

    def _holders(self, word: str) -> Iterator[str]:
        return islice(chain.from_iterable(self._by_word.get(form, ()) for form in _forms(word)), _MOST_HOLDERS)

    def _by_column(self, folded: Iterable[str], words: tuple[str, ...]) -> list[Counted]:
        count: dict[int, list[int]] = {}
        examples: dict[int, list[str]] = {}
        for text in dict.fromkeys(folded):
            first, last = text.partition(" ")[0] in words, text.rpartition(" ")[2] in words
            for place, value in self._exact[text]:
                counted = count.setdefault(place, [0, 0, 0])
                counted[0] += 1
                counted[1] += first
                counted[2] += last
                if len(shown := examples.setdefault(place, [])) < EXAMPLES:
                    shown.append(value)
        return [
            (place, holding, first, last, tuple(examples[place])) for place, (holding, first, last) in count.items()
        ]


def _forms(word: str) -> tuple[str, ...]:
    """A word, its singular and its plural."""
    return tuple(dict.fromkeys((word, lemma(word), plural(word))))

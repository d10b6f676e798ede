"""Values that a phrase means without naming them: `rainy` for `rain`, `Saturday` for `Sat`, `Japanese` for `Japan`.

In: the values by column and by their folded text. Out: for a folded phrase, places of columns with the value, its score
and how it is meant. Short forms and demonyms count only in columns whose name or values say that they hold such.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property

from agent.knowledge.value_forms import CALENDAR, KINDS, PLACES, How, Kind, family, fold, folded_forms, singular
from agent.knowledge.value_words import Exact, ValueWords
from eval.language.inflection import lemma

CATEGORIES = 300
"""A column with at most so many values is a category, whose values people inflect (`rainy days`)."""
_SAMPLE = 60
"""Values of a column that tell of which kind it is."""
_MEANT, _SHORT, _ENDING, _FAMILY, _BEGUN = 0.95, 0.7, 0.86, 0.8, 0.6
"""Scores: the same meaning, an abbreviation of any kind, a place that ends so, a word of the same family, a word that
begins with a code."""

_CODE = (3, 5)
"""Letters of a code that is the beginning of a word."""
_CODES = 30

Related = tuple[int, str, float, How]
"""Place of the column, value, score, how it is meant."""


class ValueRelations:
    """The kinds of the columns, and the word families of their values; each is found out on first use."""

    def __init__(self, names: Sequence[str], values: Sequence[Sequence[str]], exact: Exact, words: ValueWords) -> None:
        self._names, self._values, self._exact, self._words = names, values, exact, words
        self._holders: dict[str, frozenset[int]] = {}

    def meant(self, folded: str) -> list[Related]:
        """The best hit for each value."""
        hits = [hit for kind in KINDS for hit in self._of_kind(kind, folded)]
        if not hits and " " not in folded:
            kin = (other for other in self._families.get(family(lemma(folded)), ()) if other != folded)
            hits = [hit for other in kin for hit in self._in_categories(other)] or list(self._begun(lemma(folded)))
        best: dict[tuple[int, str], Related] = {}
        for hit in hits:
            best[hit[:2]] = max(best.get(hit[:2], hit), hit, key=lambda h: h[2])
        return sorted(best.values(), key=lambda h: (-h[2], h[0], h[1]))

    def _in_categories(self, folded: str) -> Iterator[Related]:
        calendar = [self._columns_of(kind) for kind in KINDS if kind.name in CALENDAR]
        for place, value in self._exact[folded]:
            if len(self._values[place]) <= CATEGORIES and not any(place in held for held in calendar):
                yield place, value, _FAMILY, "inflected"

    def _begun(self, word: str) -> Iterator[Related]:
        """`restaurants` for REST: a word that begins with the only code which it begins with, in a column of codes."""
        starts = (word[:size] for size in range(_CODE[0], min(_CODE[1], len(word) - _CODE[0]) + 1))
        found = [
            (place, value) for start in starts for place, value in self._exact.get(start, ()) if place in self._coded
        ]
        if len(found) == 1:
            yield *found[0], _BEGUN, "abbreviation"

    @cached_property
    def _coded(self) -> frozenset[int]:
        """The columns whose values are codes of some letters each, in capitals."""
        return frozenset(
            place
            for place, values in enumerate(self._values)
            if 1 < len(values) <= _CODES and all(v.isupper() and v.isalpha() and len(v) <= _CODE[1] for v in values)
        )

    @cached_property
    def _families(self) -> dict[str, list[str]]:
        """Word family -> folded values of one word, of columns that are categories."""
        by_family: dict[str, list[str]] = {}
        small = (value for values in self._values if len(values) <= CATEGORIES for value in values)
        for folded in dict.fromkeys(form for value in small for form in folded_forms(value)):
            if folded.isalpha() and folded in self._exact:
                by_family.setdefault(family(lemma(folded)), []).append(folded)
        return by_family

    def _of_kind(self, kind: Kind, folded: str) -> Iterator[Related]:
        """The values with the same meaning as the phrase, in columns of that kind."""
        forms = kind.forms().get(folded) or kind.forms().get(singular(folded)) or frozenset()
        others = [form for form in forms if form != folded and form in self._exact]
        holders = self._columns_of(kind) if others else frozenset()
        score, found = _MEANT if kind.named else _SHORT, False
        for form in others:
            for place, value in self._exact[form]:
                if place in holders:
                    found = True
                    yield place, value, score, kind.how
        if forms and not found and kind.name in PLACES:
            yield from self._ending_in(forms)

    def _columns_of(self, kind: Kind) -> frozenset[int]:
        """The places of the columns that hold values of a kind."""
        if kind.name not in self._holders:
            columns = enumerate(zip(self._names, self._values, strict=True))
            self._holders[kind.name] = frozenset(
                place
                for place, (name, values) in columns
                if (not kind.named and len(values) <= CATEGORIES) or kind.holds(name, values[:_SAMPLE])
            )
        return self._holders[kind.name]

    def _ending_in(self, forms: frozenset[str]) -> Iterator[Related]:
        """Places whose last part is a state or country: `Miami, FL`."""
        for word in {form.rpartition(" ")[2] for form in forms}:
            for text in self._words.holding(word):
                for place, value in self._exact[text]:
                    town, _, end = value.rpartition(", ")
                    if town and fold(end) in forms:
                        yield place, value, _ENDING, "part"

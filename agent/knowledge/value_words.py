"""Forms and words of stored values: in which other words people say them, and which values have a word.

In: a word or phrase of a question, or the stored values by column and by their folded text. Out: folded and singular
forms, word families (`rainy` and `rain`), and what stands for what in general knowledge (`Saturday` for `Sat`,
`Japanese` for `Japan`, `women` for `F`); for a word, the folded texts that have it and counts per column; for a phrase,
the values that it means without naming them. What is built over the values is built once, on first use.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import chain, islice
from typing import Literal

from agent.knowledge.effort import spend
from agent.knowledge.grouping import grouped
from eval.language.inflection import lemma, plural, root
from eval.language.lexicon import abbreviations, countries, states, word_set
from eval.language.words import singular_words

How = Literal["same", "folded", "inflected", "part", "abbreviation", "demonym", "misspelt"]
"""How a phrase names a value."""

_WORD = re.compile(r"[^\W_]+")
_JOINED = re.compile(r"(?<=[a-z])(?=[A-Z])")
"""Where two words of a value meet that is written without a space (`bankTransfer`)."""


def fold(text: str) -> str:
    """Lower case, without accents and signs, single spaces: `Café-Bar` and `cafe bar` fold alike."""
    if not text.isascii():
        text = "".join(c for c in unicodedata.normalize("NFKD", text) if not unicodedata.combining(c)).casefold()
        return " ".join(_WORD.findall(text))
    text = text.lower()
    if text.isalnum():
        return text  # true of most values, and ten times as fast
    return " ".join(_WORD.findall(text))


def folded_forms(value: str) -> tuple[str, ...]:
    """The folded forms of a value: `bankTransfer` is also looked up as two words."""
    folded = fold(value)
    if not folded:
        return ()
    if value.isalpha() and not value.islower() and not value.isupper():
        return tuple(dict.fromkeys((folded, fold(_JOINED.sub(" ", value)))))
    return (folded,)


def singular(folded: str) -> str:
    """Each word in its base form: enough to make `Electronics` meet `electronic`."""
    return " ".join(map(lemma, folded.split())) if "s " in folded or folded.endswith("s") else folded


def family(word: str) -> str:
    """What the words of a family have in common: `rainy` and `rain`, `sunny` and `sun`, `cancelled` and
    `cancellation`, `adopted` and `adoption`, `closed` and `closure`."""
    ending = next((e for e in ("ion", "ure") if word.endswith((f"ct{e}", f"pt{e}", f"s{e}")) and len(word) > 6), "")
    base = root(word.removesuffix(ending))
    if len(base) > 3 and base.endswith("y"):
        base = base[:-1]
    return base[:-1] if len(base) > 3 and base[-1] == base[-2] else base


def likeness(one: str, other: str) -> float:
    """The trigram similarity of two texts, 0..1 (Dice's coefficient)."""
    left, right = _grams(one), _grams(other)
    return 2 * len(left & right) / (len(left) + len(right))


def _grams(text: str) -> set[str]:
    padded = f" {text} "
    return {padded[i : i + 3] for i in range(len(padded) - 2)}


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of values with several forms each (days, sexes, countries), and the columns that hold them."""

    name: str
    how: How
    named: frozenset[str] = frozenset()
    """A column is of this kind if its name has one of these words; without any, every category may be."""
    share: float = 2.0
    """Or if at least this share of its values (and two of them) are of this kind."""

    def forms(self) -> dict[str, frozenset[str]]:
        """For each folded form, all forms with the same meaning."""
        return _forms(self.name)

    def holds(self, column: str, values: Iterable[str]) -> bool:
        """Whether a column of this name with these values is of this kind."""
        if self.named & set(singular_words(column)):
            return True
        if self.share > 1.0:
            return False
        seen = [fold(value) in self.forms() for value in values]
        return sum(seen) >= max(2.0, self.share * len(seen))


@cache
def _forms(kind: str) -> dict[str, frozenset[str]]:
    if kind in _GROUPS:
        groups = (frozenset(form.replace("_", " ") for form in group.split()) for group in _GROUPS[kind].split(","))
        return {form: group for group in groups for form in group}
    if kind == "short":
        known: dict[str, set[str]] = {}
        for short, words in abbreviations().items():
            known.setdefault(" ".join(words), set()).add(short)
        return {word: frozenset(shorts) for word, shorts in known.items()}
    listed = states() if kind == "state" else countries()[0 if kind == "land" else 1]
    return {fold(form): frozenset(map(fold, forms)) for form, forms in listed.items()}


_GROUPS = {
    "currency": "eur euro euros, usd dollar dollars, gbp pound pounds sterling, chf franc francs, jpy yen, "
                "sek nok dkk krona kronor krone kroner, inr rupee rupees, cny yuan renminbi",
    "day": "monday mon, tuesday tue tues, wednesday wed, thursday thu thur thurs, friday fri, saturday sat, sunday sun",
    "month": "january jan, february feb, march mar, april apr, june jun, july jul, august aug, "
             "september sep sept, october oct, november nov, december dec",
    "sex": "female f w woman women girl girls lady ladies, male m man men boy boys gentleman gentlemen guy guys",
    "hand": "left l left_handed left_hander left_handers left_footed left_hand lefty lefties, "
            "right r right_handed right_hander right_handers right_footed right_hand, "
            "both b ambidextrous both_hands switch switch_hitter switch_hitters",
}  # fmt: skip
"""By kind, the forms of each meaning, `_` for a space."""
CURRENCY_WORDS = word_set("eur euro euros usd dollar dollars gbp pound pounds chf jpy")
"""Words for currencies in questions; the others are met as values anyway."""
_CURRENCY = word_set("currency curr ccy")


def holds_currencies(column: str) -> bool:
    """Whether a column of this name holds the currencies of the amounts beside it."""
    return bool(_CURRENCY & set(singular_words(column)))


KINDS = (
    Kind("currency", "abbreviation", _CURRENCY),
    Kind("day", "abbreviation", word_set("day weekday dow"), 0.5),
    Kind("month", "abbreviation", word_set("month"), 0.5),
    Kind("sex", "abbreviation", word_set("sex gender")),
    Kind("hand", "abbreviation", word_set("hand handed handedness bat throw foot footed batting throwing")),
    Kind("state", "abbreviation", word_set("state"), 0.5),
    Kind("land", "demonym", word_set("country nation nationality citizenship origin land"), 0.5),
    Kind("tongue", "demonym", word_set("language")),
    Kind("short", "abbreviation"),
)
CALENDAR = ("day", "month")
"""Kinds whose values have no family: `sunny` is no Sunday."""
PLACES = ("state", "land")
"""Kinds that other values end in (`Miami, FL`)."""


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

    def holding(self, *words: str) -> Iterator[str]:
        """Folded values of several words that have exactly one of these words."""
        return islice(chain.from_iterable(self._by_word.get(word, ()) for word in words), _MOST_HOLDERS)

    def containing(self, form: str) -> Iterator[tuple[str, float]]:
        """Folded values of which these words, in the singular, are a part; with the share of their words, 0..1."""
        words = form.split()
        telling = [w for w in words if len(w) > 2 or w.isdecimal()]
        if not telling:
            return
        rarest = min(telling, key=lambda w: sum(len(self._by_word.get(other, ())) for other in _inflected(w)))
        for folded in dict.fromkeys(self.holding(*_inflected(rarest))):
            spend()
            if f" {form} " in f" {singular(folded)} ":
                yield folded, len(words) / (folded.count(" ") + 1)

    def counted(self, word: str) -> list[Counted]:
        """The columns with values that have a word, in the singular or the plural."""
        forms = _inflected(word)
        return self._by_column(chain((f for f in forms if f in self._exact), self.holding(*forms)), forms)

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
        for folded in self._exact:  # a loop: this runs for each value
            if " " in folded:
                words = folded.split()
                for word in set(words) if len(words) <= _WORDS else ():
                    by_word.setdefault(word, []).append(folded)
        return by_word

    @cached_property
    def _sorted(self) -> list[str]:
        return sorted({*(folded for folded in self._exact if " " not in folded), *self._by_word})

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


def _inflected(word: str) -> tuple[str, ...]:
    """A word, its singular and its plural."""
    return tuple(dict.fromkeys((word, lemma(word), plural(word))))


class ValueRelations:
    """The kinds of the columns, and the word families of their values. Short forms and demonyms count only in columns
    whose name or values say that they hold such."""

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
        small = (value for values in self._values if len(values) <= CATEGORIES for value in values)
        forms = dict.fromkeys(form for value in small for form in folded_forms(value))
        words = (folded for folded in forms if folded.isalpha() and folded in self._exact)
        return grouped((family(lemma(folded)), folded) for folded in words)

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

"""Forms of a stored value: in which other words people say it.

In: a word or phrase of a question, or a stored value. Out: its folded and singular form, its word family (`rainy` and
`rain`), and what it stands for in general knowledge (`Saturday` for `Sat`, `Japanese` for `Japan`, `women` for `F`).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from typing import Literal

from eval.language.inflection import lemma, root
from eval.language.lexicon import abbreviations, countries, states, word_set
from eval.language.words import singular_words

How = Literal["same", "folded", "inflected", "part", "abbreviation", "demonym", "misspelt"]
"""How a phrase names a value."""

_WORDS = re.compile(r"[^\W_]+")
_JOINED = re.compile(r"(?<=[a-z])(?=[A-Z])")
"""Where two words of a value meet that is written without a space (`bankTransfer`)."""


def fold(text: str) -> str:
    """Lower case, without accents and signs, single spaces: `Café-Bar` and `cafe bar` fold alike."""
    if not text.isascii():
        text = "".join(c for c in unicodedata.normalize("NFKD", text) if not unicodedata.combining(c)).casefold()
        return " ".join(_WORDS.findall(text))
    text = text.lower()
    if text.isalnum():
        return text  # true of most values, and ten times as fast
    return " ".join(_WORDS.findall(text))


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

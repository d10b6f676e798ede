"""Stored values that stand for a word of general knowledge: countries, states, languages, sexes.

In: a word or phrase of a question that names nothing in the schema, the vocabulary, the value index. Out: stored values
with the same meaning (`French` for `France`, `UK` for `United Kingdom`, `Florida` for `FL`, `women` for `F`).
"""

from __future__ import annotations

from agent.knowledge.values import ValueHit, ValueIndex
from agent.knowledge.vocabulary import ColumnWord, Vocabulary
from agent.parser.mentions import Item
from eval.language.inflection import lemma
from eval.language.lexicon import countries, states, word_set

_OF_LANDS = word_set("country nation nationality citizenship")
_FEMALE, _MALE = ("f", "female", "woman", "women"), ("m", "male", "man", "men")
_SEXES = {**dict.fromkeys(("female", "woman", "girl", "lady"), _FEMALE),
          **dict.fromkeys(("male", "man", "boy", "gentleman", "guy"), _MALE)}  # fmt: skip
_SAME, _ENDING = 0.95, 0.86
"""The score of a value with the same meaning, and of one that ends in it (`Miami, FL`)."""
_SHARE, _SAMPLE = 0.5, 60
"""The share of a column's first values that name places, from which on it is a column of places."""


def sex(item: Item, vocabulary: Vocabulary, values: ValueIndex) -> Item | None:
    """`female` when the column says F."""
    stored = _SEXES.get(lemma(item.lower))
    if stored is None:
        return None
    hits = tuple(
        ValueHit(column.table, column.name, value, _SAME)
        for column in vocabulary.columns.values()
        if column.words[-1] in ("sex", "gender") or "gender" in column.words
        for value in values.values(*column.key)
        if value.lower() in stored
    )
    return item.naming(values=hits) if hits else None


def place_or_language(text: str, vocabulary: Vocabulary, values: ValueIndex) -> tuple[str, tuple[ValueHit, ...]]:
    """`Germany` when the column of countries says DE, `UK` when it says United Kingdom, `French` for a language,
    `Florida` when the places end in `, FL`. With the text that the values contain."""
    lands, tongues = countries()
    hits: list[ValueHit] = []
    meanings = [(known, known[text.lower()]) for known in (lands, states(), tongues) if text.lower() in known]
    for column in vocabulary.columns.values() if meanings else ():
        for known, stored in meanings:
            if stored and _holds(column, known, values):
                found = (v for v in values.values(*column.key) if v.lower() in stored)
                hits.extend(ValueHit(column.table, column.name, value, _SAME) for value in found)
    return (text, tuple(hits)) if hits else _ending(text, vocabulary, values)


def _holds(column: ColumnWord, known: dict[str, frozenset[str]], values: ValueIndex) -> bool:
    """Whether a column is called like a column of such values, or mostly holds them."""
    lands, tongues = countries()
    if known is tongues:
        return "language" in column.words
    if known is lands and _OF_LANDS & set(column.words):
        return True
    stored = values.values(*column.key)[:_SAMPLE]
    return sum(v.lower() in known for v in stored) >= max(2.0, _SHARE * len(stored))


def _ending(text: str, vocabulary: Vocabulary, values: ValueIndex) -> tuple[str, tuple[ValueHit, ...]]:
    """Places whose last part is a state or country of that name: `Miami, FL`."""
    meant = countries()[0].get(text.lower(), frozenset()) | states().get(text.lower(), frozenset())
    hits: list[ValueHit] = []
    endings = set()
    for column in vocabulary.columns.values() if meant else ():
        for value in values.values(*column.key):
            town, comma, end = value.rpartition(", ")
            if town and end.lower() in meant:
                hits.append(ValueHit(column.table, column.name, value, _ENDING))
                endings.add(comma + end)
    return (endings.pop(), tuple(hits)) if len(endings) == 1 else (text, ())

"""Fallback linking: a second attempt for words without an exact match.

In: the items of a question, the vocabulary, the value index. Out: the items, with additional matches for parts of
stored values, misspellings, abbreviations, and words of similar meaning in the open lexicon.
"""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import replace

from agent.knowledge.values import ValueIndex
from agent.knowledge.vocabulary import ColumnWord, TableWord, Vocabulary
from agent.parser.coverage import AGENTIVE
from agent.parser.known_values import place_or_language, sex
from agent.parser.mentions import Item, Mention
from eval.language.inflection import lemma, stem
from eval.language.lexicon import FUNCTION_WORDS, open_lexicon, similar_words, word_set
from eval.language.tokens import Token

_SUPERIORS = word_set("manager boss supervisor superior")


def _superior(item: Item, vocabulary: Vocabulary) -> Item | None:
    """`boss`: the column by which a row refers to another row of its own table, if only one table has such people."""
    own = [
        vocabulary.columns[table.name, key.columns[0]]
        for table in vocabulary.tables.values()
        for key in table.table.foreign_keys
        if key.ref_table == table.name and len(key.columns) == 1
    ]
    if lemma(item.lower) not in _SUPERIORS or len(own) != 1:
        return None
    mention = Mention(item.start, item.end, columns=((own[0], 0.9),), text=item.lower)
    return replace(item, kind="mention", mention=mention)


def linked_by_fallback(
    tokens: Sequence[Token], items: list[Item], vocabulary: Vocabulary, values: ValueIndex
) -> tuple[Item, ...]:
    """Link words that have no meaning yet: parts of stored values, then misspellings."""
    linked: list[Item] = []
    named = {t.name for x in items if x.mention for t, s in x.mention.tables[:1] if s >= 0.75}
    named |= {c.table for x in items if x.mention for c, s in x.mention.columns[:1] if s >= 0.9}
    at = 0
    while at < len(items):
        item = items[at]
        coded = tokens[item.start].text.isupper() and len(item.lower) > 1
        open_word = item.kind == "word" and item.lower not in FUNCTION_WORDS and (len(item.lower) > 2 or coded)
        if item.kind == "literal":
            hits = values.find(item.mention.text, fuzzy=False) if item.mention else ()
            linked.append(
                Item(
                    item.start,
                    item.end,
                    "literal",
                    item.lower,
                    Mention(item.start, item.end, values=hits, text=item.mention.text if item.mention else ""),
                )
            )
            at += 1
            continue
        if not open_word:
            linked.append(item)
            at += 1
            continue
        stop = at + 1
        while stop < len(items) and items[stop].kind == "word" and items[stop].lower not in FUNCTION_WORDS:
            stop += 1
        replacement = sex(item, vocabulary, values) or _superior(item, vocabulary)
        if replacement is not None:
            linked.append(replacement)
            at += 1
            continue
        for end in range(stop, at, -1):
            text = " ".join(tokens[i].text for i in range(item.start, items[end - 1].end))
            written = tokens[item.start].capital
            place = written or len(text) > _CODE
            meant, lands = place_or_language(text, vocabulary, values) if place else (text, ())
            hits = lands or values.find(text, fuzzy=True)
            if not (written or lands):
                hits = tuple(
                    h
                    for h in hits
                    if h.score >= 0.6
                    and h.table in named
                    and not _verbal(text)
                    and len(values.values(h.table, h.column)) <= CATEGORIES
                )
            if hits:
                replacement = Item(
                    item.start,
                    items[end - 1].end,
                    "mention",
                    text.lower(),
                    Mention(item.start, items[end - 1].end, values=hits, text=meant),
                )
                at = end
                break
        if replacement is None and lemma(item.lower) in CALENDAR_UNITS:  # `by month` is no `monthly_fee`
            replacement = item
            at += 1
        elif replacement is None:
            replacement = _near_schema(item, vocabulary) or _near_meaning(item, vocabulary) or item
            at += 1
        linked.append(replacement)
    return tuple(linked)


CALENDAR_UNITS = word_set("year quarter month week day hour")
CATEGORIES = 60
"""A column with at most this many distinct values is a category, whose values people name by a part."""
_DENYING = ("in", "un", "non", "dis", "im", "ir", "non-", "not-")
_CODE = 3
"""A code has at most this many letters; in lower case (`us`, `it`) it is a word."""


def _verbal(text: str) -> bool:
    """Whether a lower-case word looks like a verb form rather than a name."""
    return text.endswith(("ing", "ed"))


def _near_schema(item: Item, vocabulary: Vocabulary) -> Item | None:
    """A misspelt schema word (`custmer`), found by its spelling."""
    if len(item.lower) < 5 or open_lexicon(item.lower) or open_lexicon(stem(item.lower)):
        return None  # a word of its own is not misspelt
    denied = next((p for p in _DENYING if item.lower.startswith(p) and item.lower[len(p) :] in vocabulary.holders), "")
    near = (
        [item.lower[len(denied) :]]
        if denied
        else difflib.get_close_matches(item.lower, vocabulary.holders, n=1, cutoff=0.82)
    )
    if not near:
        known = [form for form in vocabulary.forms if form[0] not in "~^" and len(form) > 5]
        meant = difflib.get_close_matches(lemma(item.lower), known, n=1, cutoff=0.85)
        return _mention(item, vocabulary, dict(vocabulary.forms[meant[0]])) if meant else None
    return _mention(item, vocabulary, {near[0]: 1.0}, bool(denied))


def _mention(item: Item, vocabulary: Vocabulary, words: dict[str, float], opposite: bool = False) -> Item | None:
    """The tables and columns whose names contain these words, scored by the word's weight and its position in
    the name."""
    tables: dict[str, tuple[TableWord, float]] = {}
    columns: dict[tuple[str, str], tuple[ColumnWord, float]] = {}
    for word, worth in words.items():
        for holder in vocabulary.holders[word]:
            own = set(holder.words) - (set(holder.owner) if isinstance(holder, ColumnWord) else set())
            score = worth * (0.8 if own in ({word}, set()) else 0.6)
            if isinstance(holder, TableWord):
                if score > tables.get(holder.name, (holder, 0.0))[1]:
                    tables[holder.name] = (holder, score)
            elif score > columns.get(holder.key, (holder, 0.0))[1]:
                columns[holder.key] = (holder, score)
    if not tables and not columns:
        return None
    mention = Mention(
        item.start,
        item.end,
        tuple(sorted(tables.values(), key=lambda p: -p[1])),
        tuple(sorted(columns.values(), key=lambda p: -p[1])),
        text=item.lower,
        opposite=opposite,
    )
    return Item(item.start, item.end, "mention", item.lower, mention)


def _near_meaning(item: Item, vocabulary: Vocabulary) -> Item | None:
    """`enrollment` for a column `enr`, `room` for `classroom`, `sector` for `industry`."""
    word = lemma(item.lower)
    if len(word) < 4 or not word.isalpha():
        return None
    scores: dict[str, float] = {}
    for known in vocabulary.holders:
        short = 3 <= len(known) <= 5 and known not in _WORDS and not open_lexicon(known)
        if short and len(word) > len(known) + 2 and word.startswith(known):
            scores[known] = 0.95
        elif len(known) > len(word) + 2 and known.endswith(word):
            scores[known] = 0.85
    if not scores:
        alike = open_lexicon(word) or open_lexicon(stem(word))
        scores = {other: worth for other, worth in alike.items() if other in vocabulary.holders}
        if scores and word != item.lower:  # a thing that only a column is called like: `projects` and `plan`
            return _guess_of_column(_mention(item, vocabulary, scores))
    return _mention(item, vocabulary, scores) if scores else _similar(item, word, vocabulary)


def _guess_of_column(item: Item | None) -> Item | None:
    if item is None or item.mention is None or item.mention.tables:
        return item
    return replace(item, mention=replace(item.mention, guessed=True))


def _similar(item: Item, word: str, vocabulary: Vocabulary) -> Item | None:
    """The schema's words of a similar meaning, where no list has the word: always a guess."""
    if item.lower in AGENTIVE or word in _GENERIC:  # `live in`, `meet at` only link a thing to its description
        return None
    if word != item.lower and not item.lower.endswith("s"):  # `lost` is a state, to be found in the data
        return None
    alike = max((similar_words(form) for form in dict.fromkeys((item.lower, word, stem(word)))), key=len)
    scores = {other: score for other, score in alike.items() if other in vocabulary.holders and other not in _GENERIC}
    best = max(scores.values(), default=0.0)
    scores = {other: _LINKED + (1 - _LINKED) * s for other, s in scores.items() if s >= best - _RIVAL}
    mention = _mention(item, vocabulary, scores)
    if mention is None or mention.mention is None:
        return None
    return replace(mention, mention=replace(mention.mention, guessed=True))


_GENERIC = word_set(
    "type kind sort form way thing part number name id code key value record group list set amount total count sum "
    "size level state status address detail information first last next"
)
"""Words that say little by themselves: anything has a type, a number and a (last) name."""
_LINKED = 0.6
"""The worth of a link to a word of no similarity; that of one to the same word is 1."""
_RIVAL = 0.12
"""Words whose similarity is lower by at most this much may be meant, too."""
_WORDS = frozenset(("pro", "con", "per", "art", "car", "day", "end", "man", "men", "the", "for", "age", "com", "cat"))
"""Short words that are prefixes of many others without being their abbreviation."""

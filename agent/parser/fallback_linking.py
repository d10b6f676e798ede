"""Fallback linking: a second attempt for words without an exact match.

In: the items of a question, the vocabulary, the value index. Out: the items, with additional matches for parts of
stored values, misspellings, abbreviations, and words of similar meaning in the open lexicon.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import takewhile

from rapidfuzz import fuzz, process

from agent.knowledge.effort import spend
from agent.knowledge.value_words import CURRENCY_WORDS, holds_currencies
from agent.knowledge.values import SPAN_WORDS, ValueHit, ValueIndex
from agent.knowledge.vocabulary import ColumnWord, Vocabulary, holds_letters
from agent.parser.coverage import AGENTIVE
from agent.parser.joins import columns_of_own_rows
from agent.parser.persons import SERVED, SERVING, called_person, person_word
from agent.parser.question import Item, Mention, Span
from agent.parser.stored_states import STATE_WORDS
from agent.parser.word_lists import word_list
from eval.language.inflection import lemma, stem
from eval.language.lexicon import FUNCTION_WORDS, adjectives, countries, open_lexicon, similar_words, states, word_set
from eval.language.tokens import Token

_CURRENCIES = word_set("euro dollar")
"""Units of an amount, but for these words alone: `countries using the euro`."""
_SUPERIORS = word_set("manager boss supervisor superior")


def _superior(item: Item, vocabulary: Vocabulary) -> Item | None:
    """`boss`: the column by which a row refers to another row of its own table, if only one table has such people."""
    own = columns_of_own_rows(vocabulary) if lemma(item.lower) in _SUPERIORS else []
    return item.naming(columns=((own[0], 0.9),)) if len(own) == 1 else None


def linked_by_fallback(
    tokens: Sequence[Token], items: Sequence[Item], vocabulary: Vocabulary, values: ValueIndex
) -> tuple[Item, ...]:
    """Link words that have no meaning yet: parts of stored values, then misspellings."""
    linked: list[Item] = []
    named = {t.name for x in items if x.mention for t, s in x.mention.tables[:1] if s >= 0.75}
    named |= {c.table for x in items if x.mention for c, s in x.mention.columns[:1] if s >= 0.9}
    only = vocabulary.only_wide_table
    for at, item in enumerate(items):
        if linked and item.start < linked[-1].end:
            continue
        if (people := _people(item, vocabulary)) is not None:
            linked.append(people)
            continue
        if only is not None and only.name not in named and item.kind in ("word", "mention"):
            # `wines`, asked of `wine_reviews` alone: a plural word of the only table's name
            plural = lemma(item.lower) != item.lower and lemma(item.lower) in only.words[:-1]
            named_so = item.mention or Mention(item.start, item.end)
            sure = any(s >= 0.95 for _, s in (*named_so.columns, *named_so.tables))
            if plural and not sure and not named_so.values:
                linked.append(item.naming(tables=((only, 0.9),)))
                continue
        if item.kind == "word" and (currency := _currency(item, values)) is not None:
            linked.append(currency)
            continue
        if item.kind == "literal" and item.mention is not None:
            hits = values.find(item.mention.text, fuzzy=False)
            linked.append(replace(item, mention=replace(item.mention, values=hits)))
        elif _open(item) and (len(item.lower) > 2 or (len(item.lower) > 1 and tokens[item.start].text.isupper())):
            linked.append(
                sex(item, vocabulary, values)
                or _superior(item, vocabulary)
                or _stored(tokens, items[at : at + SPAN_WORDS], named, vocabulary, values)
                or _related(tokens, items[at : at + 2], values)
                or _initials(item, vocabulary)
                or (near if (near := _near(item, vocabulary)) and near.mention and not near.mention.guessed else None)
                or _part(item, named, vocabulary, values)
                or _rows_called(item, items, vocabulary)
                or near
                or _short_for(item, vocabulary)
                or item
            )
        elif _open(item) and len(item.lower) == _SHORTEST:
            linked.append(_initials(item, vocabulary) or _short_for(item, vocabulary) or item)
        else:
            linked.append(item)
    return tuple(_joined(linked))


def _currency(item: Item, values: ValueIndex) -> Item | None:
    """`in eur`, `in dollars`: the rows of that currency, where a column holds currencies."""
    if item.lower not in CURRENCY_WORDS:
        return None
    hits = tuple(h for h in (*values.find(item.lower), *values.related(item.lower)) if holds_currencies(h.column))
    return item.naming(values=hits) if hits else None


def _joined(items: Sequence[Item]) -> Iterator[Item]:
    """Words side by side that each name only one and the same column are one mention of it (`life expectancy`)."""
    before: Item | None = None
    for item in items:
        if before is not None and _same_column(before, item):
            assert before.mention is not None
            mention = replace(before.mention, end=item.end, text=f"{before.mention.text} {item.lower}")
            before = replace(before, end=item.end, lower=f"{before.lower} {item.lower}", mention=mention)
            continue
        if before is not None:
            yield before
        before = item
    if before is not None:
        yield before


def _same_column(one: Item, other: Item) -> bool:
    """Whether two neighbours name nothing but the same column."""
    a, b = one.mention, other.mention
    if a is None or b is None or one.end != other.start or a.tables or b.tables or a.values or b.values:
        return False
    best = [m.columns[0][0].key for m in (a, b) if m.columns and not m.measure]
    return len(best) == 2 and best[0] == best[1] and one.lower != other.lower


def _open(item: Item) -> bool:
    """Whether the item is a word that may still name something."""
    return item.kind == "word" and (item.lower not in FUNCTION_WORDS or item.lower in _CURRENCIES)


def _stored(
    tokens: Sequence[Token], items: Sequence[Item], named: set[str], vocabulary: Vocabulary, values: ValueIndex
) -> Item | None:
    """The most words from the first item on that are a stored value, or a part of one. In lower case, only a value of a
    category is meant, in a named table."""
    start, written = items[0].start, tokens[items[0].start].capital
    for last in reversed([*takewhile(_open, items)]):
        text = " ".join(t.text for t in tokens[start : last.end])
        place = written or len(text) > _CODE
        meant, lands = place_or_language(text, vocabulary, values) if place else (text, ())
        first, _, family = text.rpartition(" ")
        turned = values.find(f"{family}, {first}") if first and "," not in text else ()  # stored as `Kim, Sue`
        hits = lands or turned or values.find(text, fuzzy=True)
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
            mention = Mention(start, last.end, values=hits, text=meant)
            return Item(start, last.end, "mention", text.lower(), mention)
    return None


def _rows_called(item: Item, items: Sequence[Item], vocabulary: Vocabulary) -> Item | None:
    """`how many houses`, asked of a file of listings: an unknown plural noun is its rows, where nothing else is; a
    guess."""
    only = vocabulary.only_wide_table
    ranked = any(x.end == item.start and x.is_keyword("sup", "sup_adj") for x in items)
    plural = lemma(item.lower) != item.lower and item.lower.endswith("s")
    if only is None or not (plural or ranked) or _verbal(item.lower):
        return None
    if any(x.mention is not None and x.mention.tables and x.mention.tables[0][1] >= _ALIKE for x in items):
        return None
    return item.naming(tables=((only, 0.9),), guessed=True)


def _people(item: Item, vocabulary: Vocabulary) -> Item | None:
    """`players`, where the only people are those of a table called so, and `people`, where one table is called like
    people: a guess."""
    one = lemma(item.lower)
    if item.kind not in ("word", "mention") or one == item.lower or not (one == "person" or person_word(one)):
        return None
    if item.mention is not None and item.mention.tables and item.mention.tables[0][1] >= _ALIKE + 0.05:
        return None
    called = [t for t in vocabulary.tables.values() if set(t.words) <= _EVERYBODY]
    if not called and one == "person":
        called = [t for t in vocabulary.tables.values() if called_person(vocabulary, t.name) and not t.bridge]
    return item.naming(tables=((called[0], 0.9),), guessed=True) if len(called) == 1 else None


_EVERYBODY = word_set("people person persons master")


def _related(tokens: Sequence[Token], items: Sequence[Item], values: ValueIndex) -> Item | None:
    """Values that words mean without naming them: `rainy` for rain, `Saturday` for Sat, `American` for USA."""
    for last in reversed([*takewhile(_open, items)]):
        text = " ".join(t.text for t in tokens[items[0].start : last.end])
        if lemma(text.lower()) in _GENERIC or lemma(text.lower()) in CALENDAR_UNITS:
            continue
        related = values.related(text)
        hits = tuple(replace(h, score=max(h.score, _SAME_THING)) if h.score >= _SURELY else h for h in related)
        word = text.lower()
        base = word.removesuffix("s").removesuffix("er")
        is_doer = base != word and word.rstrip("s").endswith("er") and len(base) >= 3  # `rowers` row, or do `rowing`
        for deed in (f"{base}ing", base, f"{base}e") if is_doer and not hits else ():
            if hits := values.find(deed):
                text = deed
                break
        if hits:
            mention = Mention(items[0].start, last.end, values=hits, text=text)
            return Item(items[0].start, last.end, "mention", text.lower(), mention)
    return None


def _part(item: Item, named: set[str], vocabulary: Vocabulary, values: ValueIndex) -> Item | None:
    """`fords`, `kershaw`: a word of the stored values of one column, of a table that is named or the only one."""
    word = lemma(item.lower)
    if _verbal(item.lower) or word in _GENERIC | NO_VALUE or word in CALENDAR_UNITS:
        return None
    word = word if values.parts(word) else item.lower.removesuffix("s")
    parts = [p for p in values.parts(word) if p.score >= _OFTEN and (p.table, p.column) in vocabulary.columns]
    parts = [p for p in parts if max(map(len, p.examples)) <= _NAME]
    near = [p for p in parts if p.table in named] or (parts if len({p.table for p in parts}) == 1 else [])
    if not near:
        return None
    best = near[0]
    hits = tuple(ValueHit(best.table, best.column, v, _PART, "part") for v in best.examples)
    return item.naming(values=hits, text=word)


_SAME_THING, _PART, _SURELY = 0.86, 0.72, 0.7
_OFTEN, _NAME = 0.8, 40
"""A part that is meant is the first or last word of most values with it, and these are names (letters)."""
_SHORTEST, _LONGEST_SHORT = 2, 5


def _initials(item: Item, vocabulary: Vocabulary) -> Item | None:
    """`mpg` for `Miles_per_Gallon`: the initials of a column's name."""
    if not _SHORTEST <= len(item.lower) <= _LONGEST_SHORT:
        return None
    columns = tuple((column, 0.85) for column in vocabulary.by_initials.get(item.lower, ()))
    return item.naming(columns=columns) if columns else None


def _short_for(item: Item, vocabulary: Vocabulary) -> Item | None:
    """`hp` for horsepower: the one word of the schema that begins alike and holds the letters in their order."""
    short = item.lower
    if not _SHORTEST <= len(short) < _LONGEST_SHORT or not short.isalpha() or open_lexicon(short):
        return None
    found = [w for w in vocabulary.holders if w[0] == short[0] and len(w) > len(short) + 2 and holds_letters(w, short)]
    spend(1 + len(vocabulary.holders) // 50)
    return _mention(item, vocabulary, {found[0]: 0.8}) if len(found) == 1 else None


def _near(item: Item, vocabulary: Vocabulary) -> Item | None:
    if lemma(item.lower) in CALENDAR_UNITS:  # `by month` is no `monthly_fee`
        return None
    return _near_schema(item, vocabulary) or _near_meaning(item, vocabulary)


MONEY = word_set("money cash")
NO_VALUE = MONEY | word_set("top bottom")
"""Words that name no stored value unless they are written as a name (`the amount of money`)."""
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
    if len(item.lower) < 5 or any(open_lexicon(f) for f in (item.lower, stem(item.lower), lemma(item.lower))):
        return None  # a word of its own is not misspelt
    denied = next((p for p in _DENYING if item.lower.startswith(p) and item.lower[len(p) :] in vocabulary.holders), "")
    near = [item.lower[len(denied) :]] if denied else closest(item.lower, vocabulary.spellings, 0.82)
    if not near:
        meant = closest(lemma(item.lower), vocabulary.known_spellings, 0.85)
        return _mention(item, vocabulary, dict(vocabulary.forms[meant[0]])) if meant else None
    return _mention(item, vocabulary, {near[0]: 1.0}, bool(denied))


def closest(word: str, spellings: Mapping[int, Sequence[str]], cutoff: float) -> list[str]:
    """`difflib.get_close_matches(…, n=1)` of spellings by their length. Its ratio is at most that of the longest common
    subsequence, which rapidfuzz finds a hundred times faster, so only what passes that is compared."""
    size = len(word)
    lengths = (n for n in range(int(size * cutoff / (2 - cutoff)), int(size * (2 - cutoff) / cutoff) + 2))
    alike = [other for n in lengths for other in spellings.get(n, ())]
    spend(1 + len(alike) // 50)
    near = process.extract(word, alike, scorer=fuzz.ratio, score_cutoff=100 * cutoff - 0.01, limit=None)
    return difflib.get_close_matches(word, [other for other, _, _ in near], n=1, cutoff=cutoff)


def _mention(item: Item, vocabulary: Vocabulary, words: dict[str, float], opposite: bool = False) -> Item | None:
    """The tables and columns whose names contain these words, scored by the word's weight and its position in
    the name."""
    span = Span()
    for word, worth in words.items():
        for holder in vocabulary.holders[word]:
            own = set(holder.words) - (set(holder.owner) if isinstance(holder, ColumnWord) else set())
            span.offer(holder, worth * (0.8 if own in ({word}, set()) else 0.6))
    if not span.tables and not span.columns:
        return None
    tables = tuple(sorted(span.tables.values(), key=lambda p: -p[1]))
    columns = tuple(sorted(span.columns.values(), key=lambda p: -p[1]))
    return item.naming(tables=tables, columns=columns, opposite=opposite)


_ENDINGS = word_set("come ship side line port able work time over form ever")
"""Words that end others without a meaning of their own: an `outcome` does not come."""


def _near_meaning(item: Item, vocabulary: Vocabulary) -> Item | None:
    """`enrollment` for a column `enr`, `room` for `classroom`, `sector` for `industry`."""
    word = lemma(item.lower)
    if len(word) < 4 or not word.isalpha() or item.lower in STATE_WORDS:
        return None
    scores: dict[str, float] = {}
    for known in vocabulary.beginning_or_ending(word):
        short = 3 <= len(known) <= 5 and known not in _WORDS and not open_lexicon(known)
        if short and len(word) > len(known) + 2 and word.startswith(known):
            scores[known] = 0.95
        elif len(known) > len(word) + (2 if len(word) < 5 else 0) and known.endswith(word) and word not in _ENDINGS:
            scores[known] = 0.85
    if not scores:
        alike = open_lexicon(word) or open_lexicon(stem(word))
        scores = {o: worth for o, worth in alike.items() if o in vocabulary.holders and o not in _GENERIC}
        far = max(scores.values(), default=1.0) < _SAME_SENSE
        if scores and (far or word != item.lower):  # a thing that only a column is called like: `projects` and `plan`
            like = _mention(item, vocabulary, scores)
            # a guess, unless a table is called like them: `refunds` are no payments
            if like is None or like.mention is None or any(s >= _ALIKE for _, s in like.mention.tables[:1]):
                return like
            return replace(like, mention=replace(like.mention, guessed=True))
    return _mention(item, vocabulary, scores) if scores else _similar(item, word, vocabulary)


_ALIKE = 0.7
_SAME_SENSE = 0.85
"""The open lexicon gives less to words one level above or below: a `purse` is an amount, not any amount."""


def _similar(item: Item, word: str, vocabulary: Vocabulary) -> Item | None:
    """The schema's words of a similar meaning, where no list has the word: always a guess."""
    if (
        item.lower in AGENTIVE or word in _GENERIC or adjectives().get(item.lower, (None, ""))[1] == "base"
    ):  # `live in`, `meet at` only link a thing to its description
        return None
    if item.lower in STATE_WORDS or (word != item.lower and not item.lower.endswith("s")):  # `lost`, to be found in
        return None  # the data
    alike = max((similar_words(form) for form in dict.fromkeys((item.lower, word, stem(word)))), key=len)
    scores = {
        other: score
        for other, score in alike.items()
        if other in vocabulary.holders and other not in _GENERIC
        # `employee` and `customer` are used alike and are not the same people
        and not ({word, other} & SERVING and {word, other} & SERVED)
    }  # fmt: skip
    best = max(scores.values(), default=0.0)
    scores = {other: _LINKED + (1 - _LINKED) * s for other, s in scores.items() if s >= best - _RIVAL}
    mention = _mention(item, vocabulary, scores)
    if mention is None or mention.mention is None:
        return None
    return replace(mention, mention=replace(mention.mention, guessed=True))


_GENERIC = word_list("generic")
"""Words that say little by themselves: anything has a type, a number and a (last) name."""
_LINKED = 0.6
"""The worth of a link to a word of no similarity; that of one to the same word is 1."""
_RIVAL = 0.12
"""Words whose similarity is lower by at most this much may be meant, too."""
_WORDS = frozenset(("pro", "con", "per", "art", "car", "day", "end", "man", "men", "the", "for", "age", "com", "cat"))
"""Short words that are prefixes of many others without being their abbreviation."""


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

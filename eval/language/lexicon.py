"""Word lists: synonyms, gradable adjectives, business measures, abbreviations, function words.

In: the `lexicon_*.txt` files in this folder: general English and business words written for this project, and words of
similar meaning derived from WordNet. Out: plain dictionaries, read once per process; of the two large lists, which are
sorted, what they say of a word.
"""

from __future__ import annotations

import mmap
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path

from eval.language.inflection import lemma

_HERE = Path(__file__).parent


def lines(path: Path) -> list[str]:
    """The lines of a word list, without comments and blank lines."""
    text = path.read_text(encoding="utf-8")
    return [line for line in text.splitlines() if line.strip() and not line.startswith("#")]


def word_set(text: str) -> frozenset[str]:
    """The words of a text, as a set; short word lists in this package are written this way."""
    return frozenset(text.split())


@cache
def synonyms() -> dict[str, frozenset[str]]:
    """For each lemma, the lemmas that may replace it, in both directions."""
    synonyms: dict[str, set[str]] = {}
    for line in lines(_HERE / "lexicon_synonyms.txt"):
        head, _, rest = line.partition(":")
        for word in rest.split(","):
            one, other = lemma(head.strip()), lemma(word.strip())
            if one != other:
                synonyms.setdefault(one, set()).add(other)
                synonyms.setdefault(other, set()).add(one)
    return {word: frozenset(others) for word, others in synonyms.items()}


@cache
def _mapped(name: str) -> mmap.mmap:
    with (_HERE / name).open("rb") as file:
        return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)


@lru_cache(maxsize=20_000)
def _entry(name: str, word: str) -> str:
    """What a sorted list says of a word, empty if it is not there: found by bisection in the file, of which only the
    pages on the way are read."""
    text, wanted = _mapped(name), word.encode()
    low, high = 0, len(text)
    while low < high:
        middle = (low + high) // 2
        start = max(low, text.rfind(b"\n", low, middle) + 1)
        end = text.find(b"\n", middle, high)
        end = high if end < 0 else end
        found, _, rest = text[start:end].partition(b":")
        if found == wanted:
            return rest.decode()
        low, high = (end + 1, high) if found < wanted else (low, start)
    return ""


def open_lexicon(word: str) -> dict[str, float]:
    """Words of similar meaning with their similarity, 0..1: the same sense of the word, or one level above or below."""
    same, _, near = _entry("lexicon_wordnet.txt", word).partition("|")
    near_words = dict.fromkeys(near.split(), 0.8)
    near_words.update({other: 0.95 - 0.02 * k for k, other in enumerate(same.split())})
    return near_words


def similar_words(word: str) -> dict[str, float]:
    """Words of similar meaning with their similarity, 0..1, the most similar first."""
    fields = _entry("lexicon_similar.txt", word).split()
    return {other: int(percent) / 100 for other, percent in zip(fields[::2], fields[1::2], strict=True)}


@cache
def abbreviations() -> dict[str, tuple[str, ...]]:
    """For each short form (`qty`), the words it abbreviates."""
    return {line.split()[0]: tuple(line.split()[1:]) for line in lines(_HERE / "lexicon_abbreviations.txt")}


@cache
def countries() -> tuple[dict[str, frozenset[str]], dict[str, frozenset[str]]]:
    """For each name, adjective or code of a country or continent, all of them; and the same for languages."""
    lands: dict[str, frozenset[str]] = {}
    tongues: dict[str, frozenset[str]] = {}
    for line in lines(_HERE / "lexicon_countries.txt"):
        codes, names, adjectives_, language = (part.strip() for part in line.split("|"))
        stored = {*codes.split(), *(n.strip() for n in names.split(",")), adjectives_} - {""}
        lands.update(dict.fromkeys(stored, frozenset(stored)))
        tags, _, name = language.partition(":")
        if name:
            tongues[name.strip()] = frozenset({*tags.split(), name.strip()})
    return lands, tongues


@cache
def states() -> dict[str, frozenset[str]]:
    """For each name or code of a state of the USA, both."""
    rows = (line.split(maxsplit=1) for line in lines(_HERE / "lexicon_states.txt"))
    return {form: frozenset((code, name)) for code, name in rows for form in (code, name)}


@dataclass(frozen=True, slots=True)
class Adjective:
    """A gradable adjective and the properties it may describe."""

    base: str
    properties: tuple[tuple[tuple[str, ...], int], ...]
    """Words of a column name, with +1 if the property grows with the adjective, else -1; best first."""


@cache
def adjectives() -> dict[str, tuple[Adjective, str]]:
    """For each form (`older`, `most expensive`), the adjective and its degree: `base`, `comparative` or
    `superlative`."""
    forms: dict[str, tuple[Adjective, str]] = {}
    for line in lines(_HERE / "lexicon_adjectives.txt"):
        base, comparative, superlative, properties = (part.strip() for part in line.split("|"))
        parsed = tuple(
            (tuple(lemma(w) for w in p[1:].split("_")), 1 if p[0] == "+" else -1) for p in properties.split()
        )
        adjective = Adjective(base, parsed)
        forms[base] = (adjective, "base")
        forms[comparative] = (adjective, "comparative")
        forms[superlative] = (adjective, "superlative")
        if superlative.startswith("most "):
            forms["least " + base] = (Adjective(base, tuple((w, -s) for w, s in parsed)), "superlative")
            forms["less " + base] = (Adjective(base, tuple((w, -s) for w, s in parsed)), "comparative")
    return forms


@dataclass(frozen=True, slots=True)
class Measure:
    """A business quantity: the columns that hold it, or a price and a quantity whose product it is."""

    names: tuple[str, ...]
    columns: tuple[tuple[str, ...], ...]
    prices: tuple[tuple[str, ...], ...]
    quantities: tuple[tuple[str, ...], ...]


@cache
def measures() -> dict[str, Measure]:
    """Measures by name in lemmas (`sale`, `order value`)."""
    measures: dict[str, Measure] = {}
    for line in lines(_HERE / "lexicon_business.txt"):
        names, columns, product = (part.strip() for part in line.split("|"))
        prices, _, quantities = product.partition(" x ")
        measure = Measure(
            tuple(" ".join(lemma(w) for w in n.split()) for n in names.split(",")),
            _column_words(columns),
            _column_words(prices),
            _column_words(quantities),
        )
        for name in measure.names:
            measures.setdefault(name, measure)
    return measures


def _column_words(text: str) -> tuple[tuple[str, ...], ...]:
    return tuple(tuple(lemma(w) for w in name.strip().split("_")) for name in text.split(",") if name.strip())


FUNCTION_WORDS = word_set((_HERE / "lexicon_function_words.txt").read_text(encoding="utf-8"))
"""Words that need no match in a schema. The phrase patterns still use some of them."""

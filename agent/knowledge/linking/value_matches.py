"""Finds phrases of a question that may be stored values.

In: a question and a `ValueIndex`. Out: `Match`es, each a phrase with the stored values it may mean, best first. Exact,
folded and inflected values are looked up for every phrase. Parts of values and misspellings are looked up only for
words that no exact value covers, so a misspelling does not affect the rest of the question.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from agent.knowledge.values import ValueHit, ValueIndex
from eval.language.lexicon import FUNCTION_WORDS
from eval.language.tokens import quotations

HITS = 5
"""Maximum distinct values kept per phrase."""
COLUMNS_OF_A_VALUE = 6
_PHRASE_WORDS = 4
"""Maximum words of a phrase that is looked up fuzzily."""
_PART = 0.6
"""Minimum score at which a phrase that is part of a stored value covers its words."""
_LOOKED_UP = 40
"""Maximum fuzzy look-ups per question."""

_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Match:
    """A phrase of the question and the stored values that it may mean."""

    text: str
    hits: tuple[ValueHit, ...]
    quoted: bool = False


def matches(question: str, values: ValueIndex) -> tuple[Match, ...]:
    """The phrases of a question that may be stored values: quoted ones first, then in the question's order."""
    if not len(values):
        return ()
    results: list[Match] = []
    quoted: list[tuple[int, int]] = []
    for quotation in quotations(question):
        hits = values.find(quotation.text, fuzzy=True)
        if hits:
            quoted.append((quotation.start, quotation.end))
            results.append(Match(quotation.text, _best(hits), quoted=True))
    words = [w for w in _WORD.finditer(question) if not any(a < w.end() and w.start() < b for a, b in quoted)]
    covered: set[int] = set()
    for span in values.spans([w.group() for w in words]):
        text = question[words[span.start].start() : words[span.end - 1].end()]
        is_ordinary = all(word.lower() in FUNCTION_WORDS for word in _WORD.findall(text))
        if is_ordinary and not any(h.value == text for h in span.hits):
            continue
        results.append(Match(text, _best(span.hits)))
        if span.hits[0].score >= 0.9:
            covered.update(range(span.start, span.end))
    for start, end in _uncovered(words, covered):
        text = question[words[start].start() : words[end - 1].end()]
        hits = values.find(text, fuzzy=True)
        if hits:
            results.append(Match(text, _best(hits)))
            if end - start > 1 and hits[0].score >= _PART:
                covered.update(range(start, end))
    return tuple(results)


def _best(hits: Iterable[ValueHit]) -> tuple[ValueHit, ...]:
    """The hits of the first `HITS` distinct values, each in at most `COLUMNS_OF_A_VALUE` columns."""
    kept: list[ValueHit] = []
    columns: dict[str, int] = {}
    for hit in hits:
        if hit.value not in columns and len(columns) == HITS:
            continue
        columns[hit.value] = columns.get(hit.value, 0) + 1
        if columns[hit.value] <= COLUMNS_OF_A_VALUE:
            kept.append(hit)
    return tuple(kept)


def _uncovered(words: Sequence[re.Match[str]], covered: set[int]) -> Iterator[tuple[int, int]]:
    """Phrases (first word, end) of words that no stored value covers, longest first. A phrase neither begins nor ends
    with a function word. `covered` may grow during the iteration."""
    left = _LOOKED_UP
    plain = [w.group().lower() in FUNCTION_WORDS for w in words]
    for length in range(_PHRASE_WORDS, 0, -1):
        for start in range(len(words) - length + 1):
            end = start + length
            if plain[start] or plain[end - 1] or any(i in covered for i in range(start, end)):
                continue
            if length == 1 and len(words[start].group()) < 3:
                continue
            if left == 0:
                return
            left -= 1
            yield start, end

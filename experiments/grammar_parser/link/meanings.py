"""Words that name nothing by themselves: acronyms, abbreviations, misspellings, words of a similar meaning.

In: tokens and the items found so far. Out: further items, each marked as a guess where it is one.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Sequence

from agent.knowledge.vocabulary import ColumnWord, TableWord, Vocabulary
from eval.language.lexicon import open_lexicon, similar_words
from eval.language.tokens import Token
from experiments.grammar_parser.link.items import Item
from experiments.grammar_parser.link.names import name_score


def meanings(tokens: Sequence[Token], vocabulary: Vocabulary, found: list[list[Item]], content: Sequence[bool]) -> None:
    """Words that name nothing by themselves: by words of the same or a similar meaning, as a guess."""
    covered = {
        k
        for items in found
        for x in items
        if x.kind not in ("verb", "star", "part", "word") and x.argument != "event"
        for k in range(x.start, x.end)
    }
    for start, token in enumerate(tokens):
        if token.kind != "word" or not content[start] or start in covered or len(token.lower) < 2:
            continue
        alike = open_lexicon(token.lemma) or open_lexicon(token.stem)
        scores = {w: 0.75 * s for w, s in alike.items() if w in vocabulary.holders}
        if not scores:
            similar = similar_words(token.lemma) or similar_words(token.stem)
            scores = {w: 0.55 * s for w, s in similar.items() if w in vocabulary.holders}
        if not scores and len(token.lower) >= 5 and not alike:
            for near in difflib.get_close_matches(token.lemma, list(vocabulary.holders), n=2, cutoff=0.8):
                scores[near] = 0.8
        if not scores and 2 <= len(token.lower) <= 4:
            scores = _short_for(token.lower, vocabulary)
        tables: list[tuple[str, float]] = []
        columns: list[tuple[ColumnWord, float]] = []
        for word, worth in sorted(scores.items(), key=lambda p: -p[1])[:4]:
            for holder in vocabulary.holders[word]:
                score = name_score(holder, {word: worth})
                if isinstance(holder, TableWord):
                    tables.append((holder.name, score))
                else:
                    columns.append((holder, score))
        if tables:
            tables.sort(key=lambda p: -p[1])
            found[start].append(
                Item(
                    "table",
                    start,
                    start + 1,
                    tables[0][1],
                    tables=tuple(tables[:4]),
                    text=token.lower,
                    argument="guess",
                )
            )
        if columns:
            columns.sort(key=lambda p: -p[1])
            found[start].append(
                Item(
                    "column",
                    start,
                    start + 1,
                    columns[0][1],
                    columns=tuple(columns[:6]),
                    text=token.lower,
                    argument="guess",
                )
            )


def _short_for(short: str, vocabulary: Vocabulary) -> dict[str, float]:
    """`hp` for horsepower: the one word of the schema that begins alike and holds the letters in their order."""
    found = []
    for word in vocabulary.holders:
        letters = iter(word)
        if word[0] == short[0] and len(word) > len(short) + 2 and all(c in letters for c in short):
            found.append(word)
    ends = [w for w in found if w[-1] == short[-1] or short in w]
    return dict.fromkeys((ends or found)[:3], 0.6) if len(found) <= 6 else {}


def acronyms(tokens: Sequence[Token], vocabulary: Vocabulary, found: list[list[Item]], content: Sequence[bool]) -> None:
    """`mpg` for `Miles_per_Gallon`: the initials of a column's or table's name."""
    wanted = {
        t.lower: k
        for k, t in enumerate(tokens)
        if t.kind == "word"
        and content[k]
        and 2 <= len(t.lower) <= 6
        and not any(x.kind in ("column", "table") for x in found[k])
    }
    if not wanted:
        return
    for word in vocabulary.columns.values():
        initials = "".join(p[0].lower() for p in re.split(r"[\W_]+|(?<=[a-z])(?=[A-Z])", word.name) if p)
        if len(initials) > 1 and initials in wanted:
            k = wanted[initials]
            found[k].append(Item("column", k, k + 1, 0.85, columns=((word, 0.85),), text=initials))

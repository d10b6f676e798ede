"""The lattice of a question: every span of words with all that it may mean, each with a score and the reason.

In: tokens, the vocabulary, the value index, today's date. Out: a `Lattice` of items by the token at which they start.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence

from agent.knowledge.values import ValueIndex
from agent.knowledge.vocabulary import Vocabulary
from agent.parser.periods import period_at
from eval.language.tokens import Token
from experiments.grammar_parser.lexicon.loader import function_words, signals_at, verbs
from experiments.grammar_parser.link.items import Item, Lattice
from experiments.grammar_parser.link.meanings import acronyms, meanings
from experiments.grammar_parser.link.names import names
from experiments.grammar_parser.link.phrases import business, events, gradable, spans_of_time, superiors
from experiments.grammar_parser.link.values import patterns, stored


def lattice(tokens: Sequence[Token], vocabulary: Vocabulary, values: ValueIndex, today: dt.date) -> Lattice:
    """All that the words may mean."""
    words = [t.lower for t in tokens]
    functions = function_words()
    content = [t.kind != "punct" and t.lower not in functions for t in tokens]
    found: list[list[Item]] = [[] for _ in tokens]
    affinities = [vocabulary.affinities(t.lower) if t.kind == "word" else {} for t in tokens]
    for start, token in enumerate(tokens):
        here = found[start]
        for end, signal in signals_at(words, start):
            here.append(Item(signal.kind, start, end, 1.0, signal.argument, text=" ".join(words[start:end])))
        if token.kind == "word":
            loose = content[start]
            named = names(tokens, start, affinities, vocabulary)
            here.extend(x for x in named if loose or x.end > start + 1 or x.score >= 0.99)
            here.extend(gradable(words, start))
            here.extend(spans_of_time(tokens, start, vocabulary))
            here.extend(superiors(token, words, start, vocabulary))
            here.extend(business(tokens, start))
            if (nouns := verbs().get(token.lower)) is not None:
                here.append(Item("verb", start, start + 1, 0.4, text=token.lower, nouns=nouns))
                here.extend(events(token, start, nouns, vocabulary))
        if token.kind == "word" and content[start] and start + 2 < len(tokens) and words[start + 1] == "in":
            here.append(Item("word", start, start + 1, 0.5, text=token.lower))
        if token.number is not None:
            here.append(Item("number", start, start + 1, 1.0, number=token.number, text=token.text))
        if (period := period_at(tokens, start, today)) is not None:
            here.append(Item("period", start, start + period.tokens, 1.0, period=period, text=period.words))
    stored(tokens, values, found, content)
    patterns(tokens, found)
    acronyms(tokens, vocabulary, found, content)
    meanings(tokens, vocabulary, found, content)
    return Lattice(tuple(tokens), found, content, words)

"""Words that rewording lost: a question's content words that neither its plain wording nor the rewording rules explain.

In: a question's text and its `Wording`. Out: the words that are in the text, but not in the plain question, its notes,
or the patterns of the rules (`growth`, `versus`, `unpaid`). Such a word is not understood, like one that is left over
when the plain question is read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from agent.parser.wording import computations, durations, period_comparison, purchases, sentences, slang
from agent.parser.wording.rules import Replacements, Rule, Wording
from eval.language.inflection import root, stem
from eval.language.lexicon import FUNCTION_WORDS, synonyms
from eval.language.tokens import tokenize

_RULES = (computations, durations, period_comparison, purchases, sentences, slang)
_NOT_LITERAL = re.compile(r"\\[A-Za-z]|\(\?P[<=]\w+[>)]|\(\?[a-zA-Z]")
_LEAST = 4
"""Letters that a truncated word in a pattern (`deliver\\w*`) has at least."""


def lost_words(text: str, reworded: Wording) -> tuple[str, ...]:
    """The content words of the text that its rewording lost, in order."""
    if reworded.text == text:
        return ()
    columns = [name for _, name in reworded.shape.span or ()] if reworded.shape is not None else []
    explained = " ".join((reworded.text, *reworded.notes, *(re.sub(r"[\W_]+", " ", name) for name in columns)))
    kept_forms = {form for t in tokenize(explained) for form in _forms(t.lower)}
    kept_forms |= {t.lower[:_LEAST] for t in tokenize(" ".join(columns).replace("_", " "))}
    lost = []
    for token in tokenize(text):
        word = token.lower
        if token.kind != "word" or word in FUNCTION_WORDS or len(word) < 3:
            continue
        if kept_forms & {*_forms(word), word[:_LEAST]}:
            continue
        forms = {word, stem(word), word.removesuffix("nt")}  # `didnt` is written out
        if not forms & _literals() and "/" not in word:
            lost.append(token.text)
    return tuple(dict.fromkeys(lost))


def _forms(word: str) -> set[str]:
    return {word, stem(word), root(word), word.replace("-", "_"), *synonyms().get(word, ())}


@cache
def _literals() -> frozenset[str]:
    """The words in the patterns of the rules, and their stems."""
    words = {
        word.lower()
        for module in _RULES
        for name, value in vars(module).items()
        if not name.startswith("__")
        for pattern in _patterns(value)
        for word in re.findall(r"[A-Za-z]{2,}", _NOT_LITERAL.sub(" ", pattern))
    }
    return frozenset(words | {stem(w) for w in words if len(w) >= _LEAST} | {"anything", "something", "nothing"})


def _patterns(value: object) -> Iterator[str]:
    """The patterns in a constant of a module: a rule, a pattern, a table of patterns, or a table by words."""
    if isinstance(value, Rule | Replacements):
        yield from value.patterns
    elif isinstance(value, re.Pattern):
        yield value.pattern
    elif isinstance(value, dict):
        yield from (word for word in value if isinstance(word, str))
    elif isinstance(value, tuple):
        for part in value:
            yield from _patterns(part)

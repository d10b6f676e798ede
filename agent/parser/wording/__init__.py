"""Wording: everyday phrasings of business questions in words that the reader knows.

In: a question's text, and what is known of the database and the day. Out: the plain question to read, the shape of the
computation on its figures (`Shape`: a share, growth, a median), and notes on the assumptions made. A rule (`rules`) is
a pattern of words and what stands in its place; the other files hold the rules by what they are about, and this one the
order in which they apply. No rule depends on a particular schema: a phrase that needs a table, such as `who never
ordered`, is changed only if the schema has one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache

from agent.parser.wording import computations, durations, phrasings
from agent.parser.wording.rules import Known, Replacements, Rule, Wording
from eval.language.inflection import root, stem
from eval.language.lexicon import FUNCTION_WORDS, synonyms
from eval.language.tokens import tokenize

__all__ = ["Known", "Wording", "worded"]

_Rule = Callable[[str, Known], Wording | None]
_REPHRASED: tuple[_Rule, ...] = (
    phrasings.largest_number, phrasings.courtesy.reworded, phrasings.not_a_single, phrasings.rows_of_file,
    phrasings.last_rows, phrasings.still_out,
    computations.every_period, phrasings.person_names, phrasings.short_name, phrasings.slang.reworded,
    phrasings.currency,
    phrasings.listed_with, phrasings.in_stock, durations.duration, phrasings.never, phrasings.how_often,
    phrasings.acquired, phrasings.spent, phrasings.best,
)  # fmt: skip
"""Each applies to what those before it made of the text, until one gives a shape or a doubt."""
_COMPUTED: tuple[_Rule, ...] = (
    computations.compared_periods, computations.share, computations.ratio, computations.growth,
    computations.change, computations.order_value, computations.average_per, computations.median,
    computations.busiest_time,
)  # fmt: skip
"""The first that applies is the last."""


def worded(text: str, known: Known) -> Wording:
    """The plain question and its shape; the text itself when no rewrite is necessary."""
    plain = text.strip().rstrip("?!. ")
    wording = Wording(plain)
    for rule in _REPHRASED:
        wording = _then(wording, rule(wording.text, known))
        if wording.shape is not None or wording.doubt:
            return _accounted(text, wording)
    for rule in _COMPUTED:
        if (computed := rule(wording.text, known)) is not None:
            wording = _then(wording, replace(computed, text=phrasings.slang(computed.text)))
            break
    if wording.shape is None:
        wording = _then(wording, computations.compare(wording.text, known))
    return Wording(text) if wording.text == plain else _accounted(text, wording)


def _then(first: Wording, second: Wording | None) -> Wording:
    """What two rules make of a question, one after the other. A rule that leaves no words (`:D`) does not apply."""
    if second is None or not second.text.strip():
        return first
    return replace(second, notes=(*first.notes, *second.notes), guessed=first.guessed or second.guessed)


def _accounted(text: str, wording: Wording) -> Wording:
    return replace(wording, lost=lost_words(text, wording), asked=text)


_RULES = (computations, durations, phrasings)
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

"""The values that a question names, where there are no rows to look them up in: a structure that came with a task.

In: the texts of a question or conversation, a schema's vocabulary. Out: a `ValueIndex` of the literals in them, each in
the columns that likeliest hold it, by the column's name and type and the kind of literal; and, for a reading that uses
one, its doubt. The likeliest of these columns is then chosen as among stored values.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import groupby

from sqlglot import exp

from agent.knowledge.values import ValueIndex
from agent.knowledge.vocabulary import Vocabulary, vocabulary
from agent.parser.doubts import MARK
from agent.parser.engine import Reading
from agent.parser.stored_states import STATE_WORDS
from agent.parser.word_lists import word_list
from eval.language.lexicon import FUNCTION_WORDS, countries, states, word_set
from eval.language.tokens import Token, tokenize
from eval.schema import Schema

SURE = 0.6
"""The most that a reading of an assumed value is sure: below `STATED_DOUBT`."""

_LANDS, _STATES, _TOWNS = ("country", "nation", "nationality"), ("state", "province", "region"), ("city", "town")
_PLACES = ("location", "place", "region", "area", "branch", "address")
_CONDITIONS = ("status", "state", "stage", "phase")
_NAMES, _PERSONS = ("name", "title"), word_set("first last given family middle")
_SORTS = ("category", "type", "kind", "genre", "brand", "class", "segment", "department", "channel", "method",
          "priority")  # fmt: skip
_CODES = ("code", "sku", "number", "no", "ref", "reference", "isbn", "serial")
_OF_PLACE = word_set("in from at near to around outside")
_ALSO_VERBS = word_list("also_verbs")
_CONDITION_WORDS = (STATE_WORDS | word_set("returned refunded blocked archived scheduled overdue")) - _ALSO_VERBS
_CALENDAR = re.compile(r"(?:jan|feb|mar|apr|may|june?|july?|aug|sep|oct|nov|dec|q[1-4]|h[12])\w*|\w+day", re.IGNORECASE)


def assumed_values(texts: Sequence[str], schema: Schema) -> ValueIndex:
    """An index of the literals of these texts, in the columns where each is assumed."""
    words = vocabulary(schema)
    found: dict[tuple[str, str], dict[str, None]] = {}
    for text in texts:
        for value, kinds in _literals(tokenize(text), words):
            for key in _columns(kinds, words):
                found.setdefault(key, {})[value] = None
    return ValueIndex([(*key, tuple(values)) for key, values in found.items()])


def doubted(reading: Reading, values: ValueIndex) -> Reading:
    """A reading with its assumed values told, and no surer than such an assumption is."""
    if reading.tree is None:
        return reading
    known = {value for column in values.columns for value in values.values(*column)}
    assumed = {
        f"{pair.this.name} is “{value.name}”": None
        for pair in reading.tree.find_all(exp.EQ, exp.NEQ)
        if isinstance(value := pair.expression, exp.Literal) and value.is_string and value.name in known
    }
    if not assumed:
        return reading
    mark = "" if MARK in reading.interpretation else MARK
    told = f"{reading.interpretation}; {mark}it is assumed, without rows to look at, that {', '.join(assumed)}"
    return replace(reading, confidence=min(reading.confidence, SURE), interpretation=told)


def _literals(tokens: Sequence[Token], words: Vocabulary) -> Iterator[tuple[str, tuple[tuple[str, ...], ...]]]:
    """Each literal with the kinds of columns that may hold it, the likeliest first."""
    for named, run in groupby(enumerate(tokens), lambda at: _is_name(at[0], tokens, words)):
        part = list(run)
        if not named:
            for _, token in part:
                if token.kind == "word" and token.lower in _CONDITION_WORDS and not _in_schema(token, words):
                    yield token.lower, (_CONDITIONS,)
            continue
        text = " ".join(token.text for _, token in part)
        first, last = part[0][0], part[-1][0]
        before = tokens[first - 1].lower if first else ""
        describes = last + 1 < len(tokens) and _in_schema(tokens[last + 1], words)
        beside = {t.lemma for t in (*tokens[max(0, first - 1) : first], *tokens[last + 1 : last + 2])}
        lands = countries()[0].get(text.lower(), frozenset()) - {text.lower()}
        if lands and describes:  # `German customers`
            text = max(lands, key=lambda land: (len(land), land)).title()
        yield text, (tuple(beside.intersection(_SORTS)), *_kinds(text, before))


def _is_name(at: int, tokens: Sequence[Token], words: Vocabulary) -> bool:
    token = tokens[at]
    if token.text == "&" and 0 < at < len(tokens) - 1:
        return tokens[at - 1].capital and tokens[at + 1].capital
    if token.kind == "quoted":
        return not re.match(r"\d{4}-\d", token.text)
    if token.kind != "word" or not token.capital or token.lower in FUNCTION_WORDS or _CALENDAR.fullmatch(token.text):
        return False
    beside = {t.lemma for t in (*tokens[max(0, at - 1) : at], *tokens[at + 1 : at + 2])}
    return bool(beside.intersection(_SORTS)) or not _in_schema(token, words)  # `the Support department`


def _in_schema(token: Token, words: Vocabulary) -> bool:
    return any(word in words.holders for word in (token.lower, token.lemma))


def _kinds(text: str, before: str) -> tuple[tuple[str, ...], ...]:
    lower = text.lower()
    if lower in countries()[0]:
        return (_LANDS, _PLACES)
    if lower in states():
        return (_STATES, _PLACES)
    if before in _OF_PLACE:
        return (_TOWNS, _PLACES, _NAMES)
    if any(map(str.isdigit, text)):
        return (_CODES, _NAMES)
    return (_SORTS + _NAMES,)


def _columns(kinds: Sequence[tuple[str, ...]], words: Vocabulary) -> list[tuple[str, str]]:
    """The text columns of the first kind that the schema has; a person's name only where nothing else is called so."""
    for kind in kinds:
        held = [
            column.key
            for column in words.columns.values()
            if not (column.numeric or column.foreign or column.role in ("date", "year", "flag"))
            and (column.words[-1] in kind or (kind is _LANDS and set(kind) & set(column.words)))
        ]
        things = [key for key in held if not _PERSONS & set(words.columns[key].words)]
        if held:
            return things or held
    return []

"""Columns: the one that the question names, and its neighbour that the query took instead.

Tables hold columns that are easily confused: a day of order and a day of shipping, a calendar and a fiscal year, a flag
that nobody looks at. Each check compares names only: what the question's words say against what the query uses.
"""

from __future__ import annotations

import re

from eval.language.words import akin, name_words
from eval.schema import Column, Table
from eval.scoring.evidence.question_reading import Observation, Observations, Reading

_MARKS = frozenset({"is", "has", "was", "flag"})
_TRUTH = re.compile(r"bool", re.IGNORECASE)
_INCLUDED = re.compile(r"^\w*\s+(?:\w+\s+){0,2}?(?:counts?|too|included|as well|or not|also|and not)\b|^\w*\s+or\b")
_WHETHER = re.compile(r"\b(?:whether|with (?:and|or) without|regardless)\b")
_DATED = re.compile(r"date|year|month|quarter|day|_(?:on|at)$", re.IGNORECASE)
_SAY_LITTLE = frozenset({"id", "key", "name", "code", "no", "num", "number", "of", "the", "in", "on", "at", "s"})


def observe(reading: Reading) -> Observations:
    used = {c.casefold() for _, c in reading.case.references.columns}
    text = reading.case.parsed.text.casefold()
    yield from _flag(reading, used, text)
    yield from _sibling(reading, used)


def _flag(r: Reading, used: set[str], text: str) -> Observations:
    """A word of the question that a yes-or-no column of the query's tables is called by, and nothing looks at it."""
    if _WHETHER.search(r.question):
        return
    for table in r.case.tables_read:
        for column in table.columns:
            words = [w for w in name_words(column.name) if w not in _MARKS]
            marked = len(words) < len(name_words(column.name)) or _TRUTH.search(column.type)
            if not marked or len(words) != 1 or len(words[0]) < 5 or column.name.casefold() in used:
                continue
            word = words[0]
            if word not in r.all_words or word[:6] in text or _counts_too(word, r.question):
                continue
            if any(word in name_words(n) for t in r.case.schema.tables for n in (t.name, *_plain(t, column))):
                continue
            said = f"The question says “{word}”, and the query does not look at {column.name}."
            yield Observation("flag_unused", 1, said)
            return


def _plain(table: Table, flag: Column) -> list[str]:
    return [c.name for c in table.columns if c.name.casefold() != flag.name.casefold() and not _TRUTH.search(c.type)]


def _counts_too(word: str, question: str) -> bool:
    at = question.find(word)
    return at >= 0 and _INCLUDED.match(question[at:]) is not None


def _sibling(r: Reading, used: set[str]) -> Observations:
    """A date that the query bounds and the question does not name, beside one of the same table that it names."""
    bounded = {(c.table, c.column) for c in r.constants if c.column is not None}
    for table in r.case.tables_read:
        for column in table.columns:
            if (table.name, column.name) not in bounded or not _DATED.search(column.name):
                continue
            own = _telling(column)
            if len(own) < 2 or any(_said(w, r) for w in own[:-1]):
                continue
            for other in table.columns:
                words = _telling(other)
                if other.name.casefold() in used or other.type.casefold() != column.type.casefold() or not words:
                    continue
                if words[-1] == own[-1] and _named_instead(words, own, r):
                    text = f"The question names {other.name}, and the query uses {column.name}."
                    yield Observation("other_column_named", 1, text)
                    return


def _named_instead(words: list[str], own: list[str], r: Reading) -> bool:
    """Whether the question says what is particular to the first name, in words of a name."""
    apart = [w for w in words if w not in own]
    if apart:
        return len(words) <= len(own) and all(_said(w, r) for w in apart)
    return len(words) < len(own) and (
        _said(words[-1], r) or (words[-1] == "year" and any(map(_is_year, r.intent.numbers)))
    )


def _is_year(number: float) -> bool:
    return 1800 <= number <= 2199


def _telling(column: Column) -> list[str]:
    return [w for w in name_words(column.name) if w not in _SAY_LITTLE]


def _said(word: str, r: Reading) -> bool:
    return any(akin(word, said) for said in r.all_words if len(said) >= 3)

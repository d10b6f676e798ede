"""Similarity of questions independent of the values that they name.

In: questions. Out: templates (words with values masked), similarity from 0 to 1. No model is called.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise

from sqlglot import exp

from agent.knowledge.memory.examples import Example, named_in, shown_to, usable
from eval.databases.base import Database
from eval.language.inflection import light_stem
from eval.language.tokens import quotes_replaced
from eval.language.words import meets, question_words
from eval.schema import Dialect, Schema
from eval.scoring.intent import read_intent
from eval.sql import parse, render

TEXT, NUMBER, NAME = "‹text›", "‹number›", "‹name›"
_NUMBER = re.compile(r"(?<![\w‹])[$€£]?\d[\d.,:/-]*\d%?(?!\w)|(?<![\w‹])[$€£]?\d%?(?!\w)")
_WORD = re.compile(r"‹\w+›|\w+")
_SHORTLIST = 60
_FORM = 0.7
"""Weight of the words relative to the tables and columns mentioned."""


@lru_cache(maxsize=16_384)
def template(question: str) -> str:
    """The question in lower case with its quoted texts, numbers and names of things masked."""
    text = quotes_replaced(question, TEXT)
    for name in sorted(read_intent(question).proper, key=len, reverse=True):
        text = re.sub(rf"(?<!\w){re.escape(name)}(?!\w)", NAME, text)
    words: list[str] = []
    for word in _WORD.findall(_NUMBER.sub(NUMBER, text).lower()):
        if not (word.startswith("‹") and words and words[-1] == word):  # `May 2004` and `2004` fill the same place
            words.append(word)
    return " ".join(words)


@lru_cache(maxsize=16_384)
def _terms(question: str) -> frozenset[str]:
    """The stems of the template's words, including stop words (`how many` matters), and all bigrams."""
    masked = template(question)
    stems = [light_stem(word.strip("‹›")) for word in masked.split()]
    content = question_words(masked.replace("‹", " ").replace("›", " "))
    return frozenset((*content, *stems, *(f"{a} {b}" for a, b in pairwise(stems))))


def nearest(
    question: str, examples: Sequence[Example], schema: Schema, k: int, *, db: str = "", reader: Database | None = None
) -> tuple[Example, ...]:
    """The `k` examples most similar to the question, the most similar last, because a model attends most to the end. Of
    several examples with one template only the first is taken. Examples that do not fit the schema, are for another
    database or not for the eyes of its `reader` are skipped.

    Words alone select a shortlist; only its examples are parsed, checked and compared by tables and columns.
    """
    here = [e for e in examples if not e.db or e.db == db] if k > 0 else []
    seen = Counter(term for e in here for term in _terms(e.question))
    weights = {term: math.log(1 + len(here) / count) for term, count in seen.items()}
    asked, spoken = _terms(question), _spoken_of(question, schema) if here else frozenset()
    unseen = max(weights.values(), default=1.0)

    def overlap(terms: frozenset[str]) -> float:
        total = sum(weights.get(term, unseen) for term in asked | terms)
        return sum(weights.get(term, unseen) for term in asked & terms) / total if total else 0.0

    words = {e: overlap(_terms(e.question)) for e in here}
    ranked = sorted(words, key=lambda e: -words[e])
    chosen: dict[str, Example] = {}
    for start in range(0, len(ranked), _SHORTLIST):
        fitting = [e for e in ranked[start : start + _SHORTLIST] if usable(e, schema) is None]
        likeness = {}
        for e in fitting:
            named = named_in(e, schema)
            shared = len(spoken & named) / len(spoken | named) if spoken | named else 0.0
            likeness[e] = _FORM * words[e] + (1 - _FORM) * shared
        for example in sorted(fitting, key=lambda e: -likeness[e]):
            if reader is not None and not shown_to(reader, example):
                continue
            chosen.setdefault(template(example.question), example)
            if len(chosen) == k:
                return tuple(reversed(chosen.values()))
    return tuple(reversed(chosen.values()))


@lru_cache(maxsize=1_024)
def _spoken_of(question: str, schema: Schema) -> frozenset[str]:
    """The tables and `table.column`s whose names match words of the question."""
    words = frozenset(question_words(question))
    tables = [t.name for t in schema.tables if meets(t.name, words)]
    columns = [f"{t.name}.{c.name}" for t in schema.tables for c in t.columns if meets(c.name, words)]
    return frozenset((*tables, *columns))


@lru_cache(maxsize=16_384)
def sql_template(sql: str, dialect: Dialect) -> str:
    """The normalised query with its constants masked; its text if it cannot be parsed."""
    tree = parse(sql, dialect).tree
    if tree is None:
        return " ".join(sql.casefold().split())
    masked = tree.copy()
    for constant in list(masked.find_all(exp.Literal)):
        constant.replace(exp.Placeholder())
    return render(masked, dialect).casefold()


def plain_question(question: str) -> str:
    return " ".join(_WORD.findall(question.lower()))

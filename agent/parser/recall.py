"""Recall: answer a question from one whose SQL a person confirmed, in the same words, with its values exchanged.

In: a question, verified examples, the schema and its value index. Out: a `Recalled`: the confirmed SQL, with stored
values, numbers and years replaced by those of the question, and a sentence that says so; None when no example asks the
same, or when a value of the example is not found in its SQL exactly once.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Sequence
from dataclasses import dataclass

from sqlglot import exp

from agent.knowledge.memory.examples import Example, shown_to, usable
from agent.knowledge.value_words import fold
from agent.knowledge.values import ValueHit, ValueIndex, ValueSpan
from agent.parser.periods import period_at
from eval.databases.base import Database
from eval.language.lexicon import FUNCTION_WORDS, word_set
from eval.language.tokens import tokenize
from eval.schema import Schema
from eval.sql import parse

_POLITE = word_set("please the a an me us all show list give tell display our my")
_CAN_HIT = 0.9
"""The lowest score of a stored value that a phrase names."""
_DATE = re.compile(r"(?P<year>\d{4})(?P<rest>-.*)?")


@dataclass(frozen=True, slots=True)
class Recalled:
    sql: str
    reasoning: str
    """Says which confirmed question was used, and what was exchanged."""


@dataclass(frozen=True, slots=True)
class _Part:
    """One unit of a question: a word, a number, or a phrase that names a stored value."""

    text: str
    lemma: str
    number: float | int | None = None
    hits: tuple[ValueHit, ...] = ()


def recalled(
    question: str, examples: Sequence[Example], schema: Schema, values: ValueIndex, reader: Database | None = None
) -> Recalled | None:
    """The first example that asks the same and that the reader of the database may see; one without any exchange comes
    first."""
    parts = _parts(question, values)
    matches = [(pairs, e) for e in examples if (pairs := _exchanged(_parts(e.question, values), parts)) is not None]
    for pairs, example in sorted(matches, key=lambda match: len(match[0])):
        if usable(example, schema) is not None or (reader is not None and not shown_to(reader, example)):
            continue
        tree = parse(example.sql, schema.dialect).tree
        # A period may depend on today (`last month`): dates in a confirmed query do not move
        tokens = tokenize(question)
        periods = (period_at(tokens, k, dt.date(2000, 1, 1)) for k in range(len(tokens)))
        moves = any(period is not None and period.relative for period in periods)
        if tree is None or (moves and any(_DATE.fullmatch(x.name) for x in tree.find_all(exp.Literal))):
            continue
        tree = tree.copy()
        if all(_replace(tree, old, new) for old, new in pairs):
            exchanged = "".join(f", with “{new.text}” for “{old.text}”" for old, new in pairs)
            sql = tree.sql(dialect=schema.dialect) if pairs else example.sql
            return Recalled(sql, f"as in the confirmed question “{example.question}”{exchanged}")
    return None


def _parts(question: str, values: ValueIndex) -> list[_Part]:
    tokens = [t for t in tokenize(question) if t.kind != "punct" and t.lower not in _POLITE]
    spans: dict[int, ValueSpan] = {}
    for span in values.spans([t.text for t in tokens]):
        hits = tuple(h for h in span.hits if h.score >= _CAN_HIT)
        if hits and any(t.lower not in FUNCTION_WORDS and t.number is None for t in tokens[span.start : span.end]):
            longest = spans.get(span.start)
            spans[span.start] = longest if longest is not None and longest.end > span.end else span
    parts: list[_Part] = []
    at = 0
    while at < len(tokens):
        named = spans.get(at)
        end = named.end if named is not None else at + 1
        text, lemma = (" ".join(words) for words in zip(*((t.text, t.lemma) for t in tokens[at:end]), strict=True))
        number = tokens[at].number if end == at + 1 else None
        parts.append(_Part(text, lemma, number, named.hits if named is not None else ()))
        at = end
    return parts


def _exchanged(example: Sequence[_Part], question: Sequence[_Part]) -> list[tuple[_Part, _Part]] | None:
    """The values that differ between two questions in the same words; None for different words."""
    if len(example) != len(question):
        return None
    pairs = []
    for old, new in zip(example, question, strict=True):
        if old.lemma == new.lemma:
            continue
        columns = {(h.table, h.column) for h in old.hits} & {(h.table, h.column) for h in new.hits}
        if not columns and (old.number is None or new.number is None):
            return None
        pairs.append((old, new))
    return pairs


def _replace(tree: exp.Expression, old: _Part, new: _Part) -> bool:
    """Exchange one value in the query. False when it does not stand there, or stands there more than once."""
    if old.number is not None and new.number is not None:
        return _replace_number(tree, old.number, new.number)
    stored = {(h.table, h.column): h.value for h in new.hits}
    options = [(h.value, stored[h.table, h.column]) for h in old.hits if (h.table, h.column) in stored]
    for before, after in options:
        literals = [x for x in tree.find_all(exp.Literal) if x.is_string and fold(x.name.strip("%")) == fold(before)]
        if len(literals) == 1:
            wild = literals[0].name
            literals[0].replace(exp.Literal.string(wild.replace(wild.strip("%"), after)))
            return True
    return False


def _replace_number(tree: exp.Expression, old: float | int, new: float | int) -> bool:
    literals = list(tree.find_all(exp.Literal))
    same = [x for x in literals if not x.is_string and float(x.name) == old]
    if len(same) == 1:
        same[0].replace(exp.Literal.number(new))
        return True
    dates = [(x, m) for x in literals if x.is_string and (m := _DATE.fullmatch(x.name))]
    if same or not all(isinstance(y, int) and 1500 <= y <= 2200 for y in (old, new)):
        return False
    moved = [(x, m) for x, m in dates if int(m["year"]) in (old, old + 1)]
    for literal, match in moved:
        literal.replace(exp.Literal.string(f"{int(match['year']) + int(new - old):04}{match['rest'] or ''}"))
    return bool(moved) and len(moved) == len(dates)

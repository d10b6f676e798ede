"""A team's memory: loaded from files, and the part of it that a model sees for one question, in each privacy mode.

In: paths; a question, a `Memory`, the schema. Out: a `Memory`, reloaded when a file has changed; a text for the prompt,
and the same terms for the offline engine. Examples are chosen by their similarity to the question, independent of the
values that either names. They hold values of the database, so they are shown only in modes that may show rows. In the
other modes, the glossary's constants are hidden. No model is called.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise
from pathlib import Path

from agent.knowledge.memory.examples import Example, named_in, read_examples, shown_to, usable
from agent.knowledge.memory.glossary import Entry, Glossary, as_query, read_glossary
from agent.knowledge.memory.lines import kept_while_unchanged
from agent.knowledge.privacy import Privacy, without_constants
from agent.knowledge.schema_context import one_line
from eval.databases.base import Database
from eval.language.inflection import light_stem
from eval.language.tokens import quotes_replaced
from eval.language.words import meets, question_words
from eval.schema import Schema
from eval.scoring.intent import read_intent

NO_GLOSSARY = Glossary()


@dataclass(frozen=True, slots=True)
class Memory:
    examples: tuple[Example, ...] = ()
    glossary: Glossary = NO_GLOSSARY
    instructions: str = ""
    """Instructions of a kit, for a model that writes or reviews queries."""
    analysis: str = ""
    """A kit's script that prints notes on the database."""

    def joined(self, other: Memory) -> Memory:
        """Both; where both answer a question or define a term, this memory's own entry counts."""
        return replace(
            self.with_examples(other.examples),
            glossary=self.glossary.joined(other.glossary),
            instructions=self.instructions or other.instructions,
            analysis=self.analysis or other.analysis,
        )

    def with_examples(self, more: Sequence[Example]) -> Memory:
        """This memory with confirmed examples added; a question that a file answers keeps the file's SQL."""
        known = {(e.question.casefold(), e.db) for e in self.examples}
        new = [e for e in more if (e.question.casefold(), e.db) not in known]
        return replace(self, examples=(*self.examples, *new))


def load_memory(examples: str | None, glossary: str | None) -> Memory:
    """The content of the files. `examples` is a file or a folder of files. Raises BadMemory."""
    files = [Path(examples)] if examples else []
    if files and files[0].is_dir():
        files = sorted(p for p in files[0].iterdir() if p.suffix.lower() in (".jsonl", ".ndjson", ".yaml", ".yml"))
    collected = tuple(example for path in files for example in _examples(path))
    return Memory(collected, _glossary(Path(glossary)) if glossary else NO_GLOSSARY)


_examples = kept_while_unchanged(read_examples)
_glossary = kept_while_unchanged(read_glossary)


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


_NOTE = 300


@dataclass(frozen=True, slots=True)
class Remembered:
    """The part of the memory that is relevant to one question."""

    examples: tuple[Example, ...] = ()
    entries: tuple[Entry, ...] = ()
    privacy: Privacy = "full"
    instructions: str = ""

    @property
    def glossary_text(self) -> str:
        return "\n".join(self._line(entry) for entry in self.entries)

    @property
    def examples_text(self) -> str:
        return "\n\n".join(f"Question: {one_line(e.question, 2_000)}\nSQL: {e.sql}" for e in self.examples)

    @property
    def statements(self) -> tuple[str, ...]:
        """Terms as the offline engine reads external knowledge: `big spender refers to customers.segment = 'A'`."""
        terms = (e for e in self.entries if e.kind == "term" and ";" not in e.expression)
        return tuple(f"{name} refers to {e.expression}" for e in terms for name in e.names)

    def _line(self, entry: Entry) -> str:
        expression = entry.expression if self.privacy == "full" else without_constants(entry.expression)
        note = f" ({one_line(entry.note, _NOTE)})" if entry.note and self.privacy == "full" else ""
        names = ", ".join(one_line(name, 80) for name in entry.names)
        if entry.kind == "filter":
            return f"- rows of {entry.name} are meant with {expression}, unless the question says otherwise{note}"
        if entry.kind in ("date", "amount"):
            return f"- where no {entry.kind} of {entry.name} is named, {expression} is meant"
        return f"- {names}: {expression}{note}"


def remembered(
    question: str,
    memory: Memory,
    schema: Schema,
    *,
    db: str,
    examples: int,
    glossary: bool,
    privacy: Privacy = "full",
    reader: Database | None = None,
) -> Remembered:
    """At most `examples` examples, and the entries of the glossary that the question names; of both only those that
    the `reader` of the database may see."""
    shown = examples if privacy == "full" else 0
    return Remembered(
        nearest(question, memory.examples, schema, shown, db=db, reader=reader),
        readable(memory.glossary.named_in(question, schema), reader) if glossary else (),
        privacy,
        instructions=memory.instructions if privacy == "full" else "",  # they may quote values
    )


def readable(entries: tuple[Entry, ...], reader: Database | None) -> tuple[Entry, ...]:
    """The entries whose constants the reader may see; notes, which may say anything, are for those who see all."""
    if reader is None or reader.sees_all:
        return entries
    seen = []
    for entry in entries:
        parsed = as_query(entry.expression, reader.dialect)
        if not isinstance(parsed, str) and reader.may_show(parsed):
            seen.append(replace(entry, note=""))
    return tuple(seen)

"""Verified questions, how they are split into those that are learned from and those that prove something, and leaks.

In: lines `{id, db, question, gold_sql, alt_gold_sql?}`, or a team's examples. Out: `Question`s and two splits of them,
made from the seed and the questions alone: at random, and such that no form of query (or database, where there are
several) is on both sides.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from agent.knowledge.memory.examples import read_examples
from agent.knowledge.memory.similarity import plain_question, sql_template
from eval.errors import InputError
from eval.jsonl import read_line
from eval.metrics.items import canonical
from eval.schema import Dialect

DATABASES_APART = 5
"""From so many databases on, the second split keeps databases apart instead of forms."""
CHOOSING = 0.35
"""The share of the questions to learn from that choose among kits."""


@dataclass(frozen=True, slots=True)
class Question:
    id: str
    db: str
    text: str
    golds: tuple[str, ...]
    """Queries that answer it; the first is the one that counts for its form."""
    evidence: str = ""


@dataclass(frozen=True, slots=True)
class Split:
    name: str
    mine: tuple[Question, ...]
    """To learn from."""
    choose: tuple[Question, ...]
    """To choose among kits; empty for an evolver that makes only one."""
    held_out: tuple[Question, ...]
    """To prove something, once."""


def read_questions(file: Path, db: str = "") -> tuple[Question, ...]:
    """The questions of a file that have a verified query: JSON lines, or a team's examples in YAML. `db`: there is one
    database, which those that name none call `db`. Raises InputError that names the line."""
    by_id: dict[str, Question] = {}
    for number, record in _records(file):
        if record.get("gold_sql", record.get("sql")) is None:
            continue  # a question that has no answer
        one = _question(record, number, file.name, "db" if db else "")
        if one.id in by_id:
            raise InputError(f"{file.name}, line {number}: the id {one.id!r} is there twice")
        by_id[one.id] = one
    if not by_id:
        raise InputError(f"{file.name} has no questions with gold_sql")
    return tuple(by_id.values())


def _records(file: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """The records with their lines."""
    if file.suffix.lower() in (".yaml", ".yml"):
        for example in read_examples(file):
            yield example.line, {"question": example.question, "sql": example.sql, "db": example.db}
        return
    try:
        lines = file.read_bytes().splitlines()
    except OSError as error:
        raise InputError(f"{file}: {error.strerror}") from None
    for line in filter(None, (read_line(number, raw) for number, raw in enumerate(lines, 1))):
        if line.record is None:
            raise InputError(f"{file.name}: {line.problem}")
        yield line.number, line.record


def _question(record: dict[str, Any], number: int, name: str, db: str) -> Question:
    golds = [record.get("gold_sql", record.get("sql")), *(record.get("alt_gold_sql") or [])]
    texts = {"question": record.get("question"), "gold_sql": golds[0], "db": record.get("db") or db}
    for key, text in texts.items():
        if not isinstance(text, str) or not text.strip():
            raise InputError(f"{name}, line {number}: {key} is missing or no text")
    return Question(
        str(record.get("id", number)),
        texts["db"],
        texts["question"],
        tuple(gold for gold in golds if isinstance(gold, str)),
        str(record.get("evidence") or ""),
    )


def digest_of(questions: Sequence[Question]) -> str:
    return hashlib.sha256(repr(sorted(questions, key=lambda q: q.id)).encode()).hexdigest()[:12]


def splits(questions: Sequence[Question], seed: int, dialect: Dialect, *, choosing: bool) -> tuple[Split, Split]:
    """`random` and `form_disjoint`, each with half of the questions held out."""
    apart = len({q.db for q in questions}) >= DATABASES_APART

    def group(question: Question) -> str:
        return question.db if apart else f"{question.db} {sql_template(question.golds[0], dialect)}"

    return (
        _split("random", questions, seed, lambda q: q.id, choosing),
        _split("form_disjoint", questions, seed, group, choosing),
    )


def _split(
    name: str, questions: Sequence[Question], seed: int, group: Callable[[Question], str], choosing: bool
) -> Split:
    """Whole groups, in an order drawn from the seed, are learned from until half of the questions are there."""
    groups: dict[str, list[Question]] = {}
    for question in questions:
        groups.setdefault(group(question), []).append(question)
    learned: list[list[Question]] = []
    held_out: list[Question] = []
    for key in sorted(groups, key=lambda key: hashlib.sha256(f"{seed}\0{name}\0{key}".encode()).digest()):
        if sum(map(len, learned)) < len(questions) // 2:
            learned.append(groups[key])
        else:
            held_out += groups[key]
    if not held_out and len(learned) > 1:
        held_out = learned.pop()
    chosen: list[Question] = []
    while choosing and len(learned) > 1 and len(chosen) < CHOOSING * len(questions) / 2:
        chosen += learned.pop()
    return Split(name, tuple(q for g in learned for q in g), tuple(chosen), tuple(held_out))


@lru_cache(maxsize=16_384)
def form(sql: str, dialect: Dialect) -> str:
    """The query in one spelling, read on its tree: constants masked, aliases and needless qualifiers dropped; its text
    where it cannot be parsed."""
    return sql_template(canonical(sql, dialect) or sql, dialect)


def leaks(training: Iterable[Question], tests: Sequence[Question], dialect: Dialect) -> dict[str, str]:
    """Why each training question must not be learned from, by id: a test has its words, or the form of its query,
    wherever they come from. A leak makes every later figure worthless."""
    asked = {plain_question(test.text) for test in tests}
    forms = {form(gold, dialect) for test in tests for gold in test.golds}
    by_id: dict[str, str] = {}
    for one in training:
        if plain_question(one.text) in asked:
            by_id[one.id] = "same question"
        elif any(form(gold, dialect) in forms for gold in one.golds):
            by_id[one.id] = "same form"
    return by_id

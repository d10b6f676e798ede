"""Train `eval.scoring.expectation` on questions with their right queries: a minute in plain Python.

In: a benchmark's folder (`questions.jsonl`, `databases/`). Out: an `Expectation` learned from all its databases, and
one for each half of them, learned from the other half, so that its own questions can be judged by one that has not seen
them. A phrase counts only if questions about `DATABASES` databases share it, so that no phrase is specific to the
content of one.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from eval.databases.factory import open_database
from eval.schema import Schema
from eval.scoring.aspects import ASPECTS, aspects_of, projected
from eval.scoring.expectation import RETURNED, Expectation
from eval.scoring.question_wording import Wording
from eval.sql import parse, resolve
from eval.sql.traversal import output_select
from experiments.json_lines import read_lines
from experiments.judge.softmax_training import train

LEARNED_FROM = """What queries for questions worded in some way usually look like; eval/scoring/expectation.py reads it.
Written by `python -m experiments.judge --expectation` from questions of Spider's training databases and their queries.
[aspect] labels, the first being the reference; the biases of the others; then a phrase a line with its weights."""
DATABASES = 12
LEAST = 12
LEAST_COLUMNS = 30
EVERY_COLUMNS = 2
"""Columns are learned from every second question, because there are many of them."""


@dataclass(frozen=True, slots=True)
class Lesson:
    """One question with the form of its query."""

    database: str
    phrases: frozenset[str]
    aspects: dict[str, str]
    columns: tuple[tuple[tuple[str, ...], bool], ...]
    """The features of each candidate column, and whether it is returned."""


def half_of(database: str) -> int:
    """0 or 1, by the database's name alone."""
    return zlib.crc32(database.encode()) % 2


def learned(folder: Path) -> tuple[Expectation, tuple[Expectation, Expectation]]:
    """The expectation learned from all lessons; and for each half of the databases, the one learned from the other
    half."""
    lessons = _lessons(folder)
    one, two = ([s for s in lessons if half_of(s.database) != half] for half in (0, 1))
    return _taught(lessons), (_taught(one), _taught(two))


def _lessons(folder: Path) -> list[Lesson]:
    schemas: dict[str, Schema] = {}
    samples = []
    for number, item in enumerate(q for q in read_lines(folder / "questions.jsonl") if q["gold_ok"]):
        name = item["db"]
        if name not in schemas:
            with open_database(folder / "databases" / f"{name}.sqlite") as database:
                schemas[name] = database.schema()
        lesson = _lesson(item, schemas[name], with_columns=number % EVERY_COLUMNS == 0)
        if lesson is not None:
            samples.append(lesson)
    return samples


def _lesson(item: dict[str, str], schema: Schema, *, with_columns: bool) -> Lesson | None:
    parsed = parse(item["gold_sql"], "sqlite")
    if parsed.tree is None:
        return None
    wording = Wording(item["question"], schema)
    columns: list[tuple[tuple[str, ...], bool]] = []
    if with_columns:
        tables = set(resolve(parsed, schema).tables)
        returned = projected(output_select(parsed.tree), schema)
        for table in schema.tables:
            for column in table.columns:
                signs = wording.signs_of(table, column)
                if table.name in tables or "none" not in signs:
                    columns.append((signs, (table.name, column.name) in returned))
    return Lesson(item["db"], wording.phrases, aspects_of(parsed.tree), tuple(columns))


def _taught(lessons: Sequence[Lesson]) -> Expectation:
    shared = _shared(lessons)
    rows = [lesson.phrases & shared for lesson in lessons]
    models = {aspect: train(rows, [s.aspects[aspect] for s in lessons], least=LEAST) for aspect in ASPECTS}
    columns = [column for lesson in lessons for column in lesson.columns]
    labels = ["yes" if returned else "no" for _, returned in columns]
    models[RETURNED] = train([signs for signs, _ in columns], labels, least=LEAST_COLUMNS)
    return Expectation(models)


def _shared(lessons: Sequence[Lesson]) -> frozenset[str]:
    databases: dict[str, set[str]] = {}
    for lesson in lessons:
        for phrase in lesson.phrases:
            databases.setdefault(phrase, set()).add(lesson.database)
    return frozenset(phrase for phrase, where in databases.items() if len(where) >= DATABASES)


def expectation_text(expectation: Expectation, comment: str) -> str:
    """The text of `expectation.txt`: `[aspect] labels`, their biases, then one phrase a line with its weights."""
    lines = [*(f"# {line}" for line in comment.splitlines())]
    for aspect, model in expectation.models.items():
        lines.append(f"[{aspect}] {' '.join(model.labels)}")
        lines.append("\t".join(["", *(f"{bias:g}" for bias in model.biases)]))
        for phrase, weights in sorted(model.weights.items()):
            lines.append("\t".join([phrase, *(f"{model.labels[k + 1]} {w:g}" for k, w in weights)]))
    return "\n".join(lines) + "\n"

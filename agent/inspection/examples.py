"""Questions that can be asked of a database, made from its own names: what it counts, measures and groups by.

In: a schema, its profile and the semantic model, where there are such. Out: a few questions that are verified, or that
the engine without a model reads with confidence, so that a model can answer them, too. Those that are made hold names
only, no value of a row. `answered` keeps those whose answer has been seen.
"""

from __future__ import annotations

import asyncio
import contextlib
import re
from collections.abc import Awaitable, Callable, Iterator, Sequence

from agent.config import JudgingSettings
from agent.knowledge.memory.examples import Example, shown_to, usable
from agent.knowledge.memory.lines import BadMemory
from agent.knowledge.privacy import Privacy
from agent.knowledge.profile import Profile, kept_profile
from agent.knowledge.profile.facts import ColumnFacts
from agent.knowledge.semantics.files import semantic_model_of
from agent.parser.engine import read
from agent.runtime.answer import Answer
from eval.databases.base import Database
from eval.language.inflection import lemma, plural
from eval.schema import NUMERIC, Column, Schema, Table

MOST = 8
ENOUGH = 3
"""Questions that are offered of an uploaded file."""
_SECONDS = 10.0
"""Time in which questions are tried."""
_TABLES = 12
"""Tables that are looked at, those with the most rows first."""
_EACH = 2
"""Questions of one kind."""
_LIKELY = 0.6
_FEW = range(2, 31)
"""Different values of a column that rows are grouped by."""
_TRUTHS = re.compile(r"bool", re.IGNORECASE)
_DATES = re.compile(r"date|time", re.IGNORECASE)
_GROUP = re.compile(r"(^|_)(status|type|category|kind|country|region|state|group|level|class)$", re.IGNORECASE)
_STATISTIC = re.compile(r"\b(?:average|avg|mean|median)\b")
_LABEL = re.compile(r"(^|_)(id|code|year|no|number|zip|phone|lat|lon|key)s?$", re.IGNORECASE)


def examples_of(database: Database, schema: Schema, privacy: Privacy, judging: JudgingSettings) -> list[str]:
    """Example questions: those that the semantic model verifies and that fit this schema, then others made with what
    the database's profile knows. Blocks while the profile is first computed."""
    made = example_questions(schema, kept_profile(database, schema, privacy=privacy))
    return list(dict.fromkeys([*_verified(database, schema, judging)[: MOST // 2], *made]))[:MOST]


async def answered(questions: Sequence[str], ask: Callable[[str], Awaitable[Answer]]) -> list[str]:
    """The first ENOUGH questions that are answered with rows and without a doubt; as many as are found in time."""
    kept: list[str] = []
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(_SECONDS):
            for question in questions:
                answer = await ask(question)
                filled = any(cell is not None for row in answer.rows[:1] for cell in row)
                if answer.status == "success" and not answer.doubts and filled:
                    kept.append(question)
                if len(kept) == ENOUGH:
                    break
    return kept


def _verified(database: Database, schema: Schema, judging: JudgingSettings) -> list[str]:
    try:
        model = semantic_model_of(judging)
    except BadMemory:  # whoever asks a question is told what is wrong with the file
        return []
    verified = [Example(v.question, v.sql) for v in model.verified] if model else []
    return [example.question for example in verified if usable(example, schema) is None and shown_to(database, example)]


def example_questions(schema: Schema, profile: Profile | None = None) -> list[str]:
    """At most MOST questions, of several kinds and about several tables."""
    facts = {(c.table, c.column): c for c in profile.columns} if profile else {}
    stored = [t for t in schema.tables if t.kind == "table"] or schema.tables
    tables = sorted((t for t in stored if t.row_count != 0), key=lambda t: -(t.row_count or 0))[:_TABLES]
    waiting = [_of_table(table, schema, facts) for table in tables]
    questions: list[str] = []
    kinds: dict[str, int] = {}
    while waiting and len(questions) < MOST:
        of_table = waiting.pop(0)
        for kind, question in of_table:
            if kinds.get(kind, 0) < _EACH and question not in questions and _is_read(question, schema):
                kinds[kind] = kinds.get(kind, 0) + 1
                questions.append(question)
                waiting.append(of_table)
                break
    return questions


def _is_read(question: str, schema: Schema) -> bool:
    reading = read(question, schema)
    return not reading.abstained and reading.confidence >= _LIKELY and not reading.not_understood


def _of_table(table: Table, schema: Schema, facts: dict[tuple[str, str], ColumnFacts]) -> Iterator[tuple[str, str]]:
    """(kind, question), the plainest first."""
    things = plural(lemma(_words(table.name)))
    keys = {name for key in table.foreign_keys for name in key.columns}
    own = [c for c in table.columns if not c.primary_key and c.name not in keys]
    measures = [c for c in own if NUMERIC.search(c.type) and not _LABEL.search(c.name)]
    groups = [c for c in own if _is_group(c, facts.get((table.name, c.name)))]
    dates = [c for c in own if _DATES.search(c.type)]
    for column in groups:
        yield "group", f"How many {things} are there per {_words(column.name)}?"
    for column in measures:
        if not _STATISTIC.search(_words(column.name)):
            yield "average", f"What is the average {_words(column.name)} of {things}?"
    others = {t.name: t for t in schema.tables if t.name != table.name}
    parents = [others[key.ref_table] for key in table.foreign_keys if key.ref_table in others]
    for parent in parents:
        yield "each", f"How many {things} does each {lemma(_words(parent.name))} have?"
    if dates:
        yield "month", f"How many {things} are there per month?"
    for column in measures:
        yield "top", f"Which 5 {things} have the highest {_words(column.name)}?"
    yield "count", f"How many {things} are there?"
    for column in own:
        if _TRUTHS.search(column.type):
            yield "truth", f"How many rows are {_words(column.name)}?"
    yield "rows", "How many rows are there?"
    labels = [c for c in own if not any(kind.search(c.type) for kind in (_DATES, NUMERIC, _TRUTHS))]
    for column in labels:
        yield "different", f"How many different {plural(_words(column.name))} are there?"
    for column in labels:
        yield "list", f"List the {_words(column.name)} of all {things}"
    for column in dates:
        yield "latest", f"What is the latest {_words(column.name)} of {things}?"
        yield "earliest", f"What is the earliest {_words(column.name)} of {things}?"
    for column in measures:
        yield "total", f"What is the total {_words(column.name)} of {things}?"
        yield "highest", f"What is the highest {_words(column.name)} of {things}?"


def _is_group(column: Column, known: ColumnFacts | None) -> bool:
    if _LABEL.search(column.name) or _DATES.search(column.type):
        return False
    if known is not None:
        repeats = known.distinct in _FEW and known.distinct * 3 <= known.rows
        return known.kind == "text" and not known.key and repeats
    return bool(_GROUP.search(column.name))


def _words(name: str) -> str:
    return re.sub(r"(?<=[a-z\d])(?=[A-Z])", " ", name).replace("_", " ").strip().lower()

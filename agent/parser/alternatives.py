"""Suggestions for a question that the engine cannot read: similar questions that it can answer.

In: a reader that has processed the question, and near names for the words not understood. Out: up to three questions in
plain words, each of which the engine has verified that it can answer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from agent.knowledge.vocabulary import ColumnWord
from agent.parser.question import LinkedQuestion

_OFFERED = 3
_TRIED = 9
"""The most candidates that are read: each costs a reading."""


def rephrasings(
    q: LinkedQuestion, entities: Sequence[str], unread: tuple[str, ...], answerable: Callable[[str], bool]
) -> tuple[str, ...]:
    """Answerable questions about the things that the question names, nearest first."""
    questions: list[str] = []
    for tried, question in enumerate(dict.fromkeys(_candidates(q, entities, unread))):
        if tried >= _TRIED or len(questions) >= _OFFERED:
            break
        if answerable(question):
            questions.append(question)
    return tuple(questions)


def _candidates(q: LinkedQuestion, entities: Sequence[str], unread: tuple[str, ...]) -> Iterator[str]:
    words = q.vocabulary
    columns = _columns_named(q, unread)
    tables = list(dict.fromkeys([*entities, *q.named, *(c.table for c in columns)]))
    tables = [t for t in tables if not words.tables[t].bridge] or tables
    if not tables:
        rows = {t.name: t.table.row_count or 0 for t in words.tables.values() if not t.bridge}
        tables = sorted(rows, key=lambda t: -rows[t])[:3]
    for column in columns:
        entity = words.tables[column.table].plural
        if column.role == "number":
            yield f"What is the average {spoken(column)} of {entity}?"
        elif column.role not in ("id", "name", "date"):
            yield f"How many {entity} are there per {spoken(column)}?"
        elif column.role == "name":
            yield f"List the {spoken(column)} of all {entity}"
    for one in tables[:3]:
        for other in tables[:3]:
            if one != other and any(e.left == one for e in q.graph.between(one, other)):
                yield f"How many {words.tables[one].plural} are there per {' '.join(words.tables[other].words)}?"
    for table in tables[:3]:
        yield f"How many {words.tables[table].plural} are there?"
        yield f"List all {words.tables[table].plural}"


def _columns_named(q: LinkedQuestion, unread: tuple[str, ...]) -> list[ColumnWord]:
    """The columns that the question may refer to, by name or by a name similar to an unknown word."""
    import difflib

    columns: dict[tuple[str, str], ColumnWord] = {}
    by_name = {" ".join(c.words): c for c in q.vocabulary.columns.values() if c.role != "id"}
    for word in unread[:3]:
        for name in difflib.get_close_matches(word.lower(), by_name, n=1, cutoff=0.6):
            columns[by_name[name].key] = by_name[name]
    for item in q.items:
        for column, score in item.mention.columns[:1] if item.mention else ():
            if score >= 0.6:
                columns[column.key] = column
        for hit in item.mention.values[:1] if item.mention else ():
            known = q.vocabulary.columns.get((hit.table, hit.column))
            if known is not None:
                columns[known.key] = known
    return list(columns.values())[:4]


def spoken(column: ColumnWord) -> str:
    own = [w for w in column.words if w not in column.owner]
    return " ".join(own or column.words)

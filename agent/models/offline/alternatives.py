"""What to offer when the engine can't tell: questions near the one asked that it can answer.

In: a reader that went through the question, the near names of words it did not understand. Out: up to three questions
in plain words, each of which the engine itself was found to answer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from agent.models.offline.reader import Reader
from agent.models.offline.vocabulary import ColumnWord, Vocabulary

_OFFERED = 3
_TRIED = 9
"""Candidates read at most: each costs a reading."""


def rephrasings(reader: Reader, unread: tuple[str, ...], answerable: Callable[[str], bool]) -> tuple[str, ...]:
    """Answerable questions about what the question names, nearest first."""
    found: list[str] = []
    for tried, question in enumerate(dict.fromkeys(_candidates(reader, unread))):
        if tried >= _TRIED or len(found) >= _OFFERED:
            break
        if answerable(question):
            found.append(question)
    return tuple(found)


def _candidates(reader: Reader, unread: tuple[str, ...]) -> Iterator[str]:
    words = reader.vocabulary
    columns = _columns_named(reader, unread)
    tables = list(dict.fromkeys([*reader.entities, *reader.named, *(c.table for c in columns)]))
    tables = [t for t in tables if not words.tables[t].bridge] or tables
    for column in columns:
        entity = plural(words, column.table)
        if column.role == "number":
            yield f"What is the average {spoken(column)} of {entity}?"
        elif column.role not in ("id", "name", "date"):
            yield f"How many {entity} are there per {spoken(column)}?"
        elif column.role == "name":
            yield f"List the {spoken(column)} of all {entity}"
    for one in tables[:3]:
        for other in tables[:3]:
            if one != other and any(e.left == one for e in reader.graph.between(one, other)):
                yield f"How many {plural(words, one)} are there per {' '.join(words.tables[other].words)}?"
    for table in tables[:3]:
        yield f"How many {plural(words, table)} are there?"
        yield f"List all {plural(words, table)}"


def _columns_named(reader: Reader, unread: tuple[str, ...]) -> list[ColumnWord]:
    """The columns that the question may speak of, by name or by a name that looks like an unknown word."""
    import difflib

    found: dict[tuple[str, str], ColumnWord] = {}
    by_name = {" ".join(c.words): c for c in reader.vocabulary.columns.values() if c.role != "id"}
    for word in unread[:3]:
        for name in difflib.get_close_matches(word.lower(), by_name, n=1, cutoff=0.6):
            found[by_name[name].key] = by_name[name]
    for item in reader.items:
        for column, score in item.mention.columns[:1] if item.mention else ():
            if score >= 0.6:
                found[column.key] = column
        for hit in item.mention.values[:1] if item.mention else ():
            known = reader.vocabulary.columns.get((hit.table, hit.column))
            if known is not None:
                found[known.key] = known
    return list(found.values())[:4]


def spoken(column: ColumnWord) -> str:
    own = [w for w in column.words if w not in column.owner]
    return " ".join(own or column.words)


def plural(words: Vocabulary, table: str) -> str:
    *first, last = words.tables[table].words
    if last.endswith("y") and last[-2:-1] not in "aeiou":
        last = last[:-1] + "ies"
    elif last.endswith(("s", "x", "ch", "sh")):
        last += "es"
    else:
        last += "s"
    return " ".join((*first, last))

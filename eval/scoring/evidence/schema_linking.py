"""Linking: the tables and columns of the query against the words of the question."""

from __future__ import annotations

from eval.language.words import akin, meets, name_words
from eval.schema import Schema, kept_with_schema
from eval.scoring.evidence.question_reading import Observation, Observations, Reading

_FEW_TABLES = 2
"""A query that reads more is not an answer from an unrelated table."""


def observe(reading: Reading) -> Observations:
    yield from _used_without_need(reading)
    yield from _named_but_unused(reading)
    yield from _coverage(reading)


def _used_without_need(r: Reading) -> Observations:
    if not r.tables:
        return
    if r.linked_tables.isdisjoint(r.tables) and not r.linked_columns:
        if len(r.tables) > _FEW_TABLES or not _names_another(r):
            return  # a question in business words names nothing of the schema: that says nothing of the query
        yield Observation("nothing_linked", 1, "No table or column of the query has a link to the question's words.")
    columns = [c for c in r.case.references.columns if not _key_column(r, *c)]
    loose_columns = [c for c in columns if c not in r.linked_columns and not _by_value(r, c)]
    if columns and loose_columns:
        yield Observation("columns_unlinked", len(loose_columns) / len(columns))


def _names_another(r: Reading) -> bool:
    """Whether the question names a table or a column that the query does not use."""
    used = set(r.tables)
    return any(
        meets(table.name, r.words) or any(_is_named(c.name, r.words) for c in table.columns)
        for table in r.case.schema.tables
        if table.name not in used
    )


def _key_column(r: Reading, table: str, column: str) -> bool:
    known = r.case.schema.table(table)
    if known is None:
        return False
    keys = (known.primary_key, *(key.columns for key in known.foreign_keys))
    return any(column.casefold() in {c.casefold() for c in key} for key in keys)


def _by_value(r: Reading, column: tuple[str, str]) -> bool:
    """A column that the question reaches through a value of it rather than its name."""
    return any((c.table, c.column) == column and c.value.casefold().strip("% ") in r.question for c in r.constants)


def _is_named(table: str, words: frozenset[str]) -> bool:
    parts = name_words(table)
    return bool(parts) and all(p in words for p in parts)


def _named_but_unused(r: Reading) -> Observations:
    used = set(r.tables)
    named = next((t.name for t in r.case.schema.tables if t.name not in used and _is_named(t.name, r.words)), None)
    if named is not None:
        if used and not r.linked_tables and not r.linked_columns:
            text = f"The question names {named}; the query reads other tables, which nothing in the question names."
            yield Observation("other_table_named", 1, text)
        else:
            yield Observation("named_table_unused", 1, f"The question names {named}, which the query does not use.")
    used_columns = {c.casefold() for _, c in r.case.references.columns}
    inside, outside = None, None
    for table, column, parts in _column_words(r.case.schema):
        if not parts <= r.words or parts <= r.used_names or column.casefold() in used_columns:
            continue
        if table in used:
            inside = inside or column
        else:
            outside = outside or column
    if inside and not r.case.facts.projects_star:
        yield Observation("named_column_unused", 1, f"The question names {inside}, which the query does not use.")
    elif outside:
        yield Observation("named_column_elsewhere", 1, f"The question names {outside}, a column of another table.")


@kept_with_schema
def _column_words(schema: Schema) -> tuple[tuple[str, str, frozenset[str]], ...]:
    """Table, column and the words of its name, for columns that have any."""
    every_column = ((t.name, c.name, frozenset(name_words(c.name))) for t in schema.tables for c in t.columns)
    return tuple(named for named in every_column if named[2])


@kept_with_schema
def words_of(schema: Schema) -> frozenset[str]:
    """All words of the schema's names."""
    names = [t.name for t in schema.tables] + [c.name for t in schema.tables for c in t.columns]
    return frozenset(w for name in names for w in name_words(name))


@kept_with_schema
def names_of(schema: Schema) -> frozenset[str]:
    """Those of at least three letters."""
    return frozenset(w for w in words_of(schema) if len(w) > 2)


def _coverage(r: Reading) -> Observations:
    """The share of the question's data words that the query says something with."""
    if not r.words:
        return
    names = r.used_names | {w for value in r.text_values for w in name_words(value)}
    left = [w for w in r.words if w not in names and not any(akin(w, n) for n in names)]
    if left:
        yield Observation("words_unused", len(left) / len(r.words))
        yield Observation("words_unused_count", min(len(left), 6) / 3)
        known = names_of(r.case.schema)
        said = r.case.question.casefold()
        ignored = sorted((w for w in left if w in known), key=lambda w: (said.find(w), w))
        if ignored:
            text = f"The database has a name for “{ignored[0]}”, which the query does not use."
            yield Observation("known_word_unused", min(len(ignored), 3), text)

"""A database as `CREATE TABLE` statements with example values: the text with which each prompt of a cascade begins.

In: a schema and, where rows may be shown, the profile of its rows. Out: one text that is the same for every question,
so that a model's server reads it once and finds it in its cache from then on. Writers of SQL have seen more DDL than
any other form, and a value in a comment tells what a condition has to be compared with.
"""

from __future__ import annotations

from collections.abc import Collection
from functools import lru_cache

from agent.knowledge.identifiers import quoted_if_needed
from agent.knowledge.profile.facts import ColumnFacts, Profile
from agent.knowledge.schema_context import one_line, qualified_name, single_column_keys
from eval.schema import Column, Dialect, ForeignKey, Schema, Table

LISTED = 12
"""All values of a text column are listed where there are at most so many."""
LISTED_CHARACTERS = 120
"""Maximum characters of one column's values."""
VALUE = 32
"""Maximum characters of one value; longer ones are prose, of which none is shown."""
COMMENT = 60


@lru_cache(maxsize=64)
def ddl(schema: Schema, profile: Profile | None = None, tables: frozenset[str] | None = None) -> str:
    """One statement a table, in the schema's order; with `tables`, only of those. Without a profile, without values."""
    facts = {(c.table, c.column): c for c in profile.columns} if profile else {}
    shown = [t for t in schema.tables if tables is None or t.name in tables]
    return "\n".join(_create(table, schema.dialect, facts, {t.name for t in shown}) for table in shown)


def _create(table: Table, dialect: Dialect, facts: dict[tuple[str, str], ColumnFacts], shown: Collection[str]) -> str:
    keys = {name: key for name, key in single_column_keys(table).items() if key.ref_table in shown}
    lines = [
        _column(column, table, keys.get(column.name.casefold()), dialect, facts.get((table.name, column.name)))
        for column in table.columns
    ]
    if len(table.primary_key) > 1:
        lines.append((f"PRIMARY KEY ({_names(table.primary_key, dialect)})", ""))
    lines += [
        (f"FOREIGN KEY ({_names(key.columns, dialect)}) {_target(key, dialect)}", "")
        for key in table.foreign_keys
        if len(key.columns) > 1 and key.ref_table in shown
    ]
    last = len(lines) - 1
    body = "\n".join(f"  {text}{',' if i < last else ''}{note}" for i, (text, note) in enumerate(lines))
    kind = "VIEW" if table.kind == "view" else "TABLE"
    comment = f" -- {one_line(table.comment.strip(), COMMENT)}" if table.comment and table.comment.strip() else ""
    return f"CREATE {kind} {qualified_name(table, dialect)} ({comment}\n{body}\n);"


def _column(
    column: Column, table: Table, key: ForeignKey | None, dialect: Dialect, facts: ColumnFacts | None
) -> tuple[str, str]:
    """The column's definition, and the comment behind it."""
    parts = [quoted_if_needed(column.name, dialect), one_line(column.type, 30)]
    if column.primary_key and len(table.primary_key) == 1:
        parts.append("PRIMARY KEY")
    if key is not None:
        parts.append(_target(key, dialect))
    notes = []
    if column.comment and column.comment.strip():
        notes.append(one_line(column.comment.strip(), COMMENT))
    if facts is not None and key is None and (facts.kind == "text" or not facts.key):
        notes.append(_values(facts))
    told = "; ".join(filter(None, notes))
    return " ".join(filter(None, parts)), f" -- {told}" if told else ""


def _values(facts: ColumnFacts) -> str:
    """What the column holds: all values where they are few, else an example, whose form is the others'."""
    if facts.kind == "empty":
        return "always NULL" if facts.rows else ""
    if facts.kind == "number":
        return ", ".join(sorted(v.value for v in facts.values)) if 0 < len(facts.values) <= 3 else ""
    values = [v for v in facts.samples if v.strip() and len(v) <= VALUE]
    if not values:
        return ""
    listed = [v.value for v in facts.values] if facts.values else values if facts.distinct == len(values) else []
    few = 0 < len(listed) <= LISTED and sum(len(v) + 4 for v in listed) <= LISTED_CHARACTERS
    dated = bool(facts.formats) and facts.formats[0].name.startswith("date")
    shown = sorted(listed) if few and not dated else values[: 1 if dated else 2]
    told = ", ".join("'" + one_line(v, VALUE).replace("'", "''") + "'" for v in shown)
    return told if few and not dated else f"e.g. {told}"


def _names(names: Collection[str], dialect: Dialect) -> str:
    return ", ".join(quoted_if_needed(name, dialect) for name in names)


def _target(key: ForeignKey, dialect: Dialect) -> str:
    return f"REFERENCES {quoted_if_needed(key.ref_table, dialect)}({_names(key.ref_columns, dialect)})"

"""The text about a database that a model at an endpoint sees for one question: structure, data notes, stored values.

In: the question, an open database, its schema, the privacy mode and the token budgets. Out: a `ModelView`: one text,
and the token cost of its parts. It shows the whole structure if that fits its budget, else the part that the question
needs. Text that is the same for every question comes first, so that a provider's prompt cache can reuse it.

For a cascade the structure is written as `CREATE TABLE` statements with example values (`ddl`): a model's server reads
that text once and finds it in its cache from then on. Writers of SQL have seen more DDL than any other form, and a
value in a comment tells what a condition has to be compared with.

A model that works in steps sees observations: linked values, results, messages of the engine. All row values that such
a model sees pass through here.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from functools import lru_cache

from agent.knowledge.linking import Linked, link
from agent.knowledge.preview import result_preview
from agent.knowledge.privacy import Privacy, SchemaText, kinds, scrubbed, visible_schema, words_known
from agent.knowledge.profile import hints, profile_soon
from agent.knowledge.profile.facts import ColumnFacts, Profile
from agent.knowledge.schema_context import (
    BREAK,
    estimate_tokens,
    one_line,
    qualified_name,
    quoted_if_needed,
    single_column_keys,
    within_budget,
)
from agent.knowledge.values import EMPTY, ValueIndex, complete_value_index
from eval.databases.base import Database
from eval.databases.types import ExecutionResult
from eval.databases.values import json_rows
from eval.schema import Column, Dialect, ForeignKey, Schema, Table

PROFILE_WAIT = 2.0
"""Seconds that a question waits for the notes; a profile that takes longer is ready for the next question."""
_FAR = 2
"""Times the budget: a structure that takes so much as text does not fit as DDL."""
DDL_WAIT = 10.0
"""The same where the values stand in the DDL: a server would have to read all of it anew with the next question."""
VALUES_TITLE = "Stored values that the question may mean:"
VALUES_TOKENS = 300
_VALUES = 12
_LIKELY_MATCH = 0.6
"""Minimum score of a stored value that is shown."""
_CERTAIN_MATCH = 0.9
"""The same for a small model, which puts whatever it is shown into its query."""


@dataclass(frozen=True, slots=True)
class ModelView:
    text: SchemaText
    """The text in the prompt."""
    structure: int
    """Tokens of the tables and columns shown."""
    notes: int
    values: int
    whole: int
    """Tokens that the whole structure would take."""
    tables: int
    columns: int
    """How many of them are shown."""


def model_view(
    question: str,
    database: Database,
    schema: Schema,
    *,
    privacy: Privacy,
    schema_tokens: int,
    note_tokens: int,
    reads: bool = True,
    as_ddl: bool = False,
) -> ModelView:
    """The view for one question. `schema_tokens`: limit of the structure; `note_tokens`: limit of the notes, 0 for
    none; `reads`: whether rows may be read; `as_ddl`: the structure as DDL with example values. Never raises: parts
    that cannot be read are left out."""
    full = privacy == "full"
    seen = schema if full else visible_schema(schema, privacy)
    stored = complete_value_index(database, schema, wait=False) if full and reads else EMPTY
    linked = link(question, seen, stored, schema_tokens)
    structure = linked.text
    if as_ddl:
        structure = _ddl(database, schema, seen, linked, schema_tokens, privacy if reads else "schema")
    notes = _notes(database, schema, linked, privacy, note_tokens) if reads else ""
    values = _values(linked, stored, _CERTAIN_MATCH if as_ddl else _LIKELY_MATCH)
    told = "\n\n".join(part for part in (notes, values) if part)
    return ModelView(
        text=SchemaText(structure + (BREAK + told if told else ""), privacy),
        structure=estimate_tokens(structure) if as_ddl else linked.tokens,
        notes=estimate_tokens(notes),
        values=estimate_tokens(values),
        whole=linked.tokens_full,
        tables=len(linked.tables),
        columns=len(linked.columns),
    )


def _ddl(database: Database, schema: Schema, seen: Schema, linked: Linked, budget: int, privacy: Privacy) -> str:
    """The first of these that fits: all tables with values, all without, the linked ones in the schema's order, and
    what `linked` shows of a schema that is larger still."""
    profile = profile_soon(database, schema, wait=DDL_WAIT) if privacy == "full" else None
    worth_writing = linked.tokens_full <= _FAR * budget
    for facts in (profile, None) if worth_writing else ():
        if estimate_tokens(whole := ddl(seen, facts)) <= budget:
            return whole
    linked_tables = ddl(seen, profile, frozenset(linked.tables))
    return linked_tables if estimate_tokens(linked_tables) <= budget else linked.text


def _notes(database: Database, schema: Schema, linked: Linked, privacy: Privacy, budget: int) -> str:
    if budget <= 0 or privacy == "schema":
        return ""
    profile = profile_soon(database, schema, wait=PROFILE_WAIT, privacy=privacy)
    if profile is None:
        return ""
    likely = {key: chance for key, chance in linked.chances.items() if key in linked.detailed or not key[1]}
    return hints(profile, likely, budget)


def _values(linked: Linked, stored: ValueIndex, least: float) -> str:
    """The stored values that phrases of the question may mean, if the index has any that are as likely."""
    if not len(stored):
        return ""
    likely = sorted((v for v in linked.values if v.score >= least), key=lambda v: -v.score)[:_VALUES]
    written = ((v, one_line(v.value, 80).replace("'", "''")) for v in likely)
    stated = (f"- {v.table}.{v.column} has '{text}'" for v, text in written)
    lines = within_budget(stated, VALUES_TOKENS - estimate_tokens(VALUES_TITLE) - 1)
    return "\n".join([VALUES_TITLE, *lines]) if lines else ""


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
        notes.append(_example_values(facts))
    told = "; ".join(filter(None, notes))
    return " ".join(filter(None, parts)), f" -- {told}" if told else ""


def _example_values(facts: ColumnFacts) -> str:
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


ROWS = 5
VALUES = 8


def linked_text(question: str, database: Database, schema: Schema, privacy: Privacy) -> str:
    """The tables that a question needs, how they are joined and which stored values it names (not where values are
    hidden)."""
    values = complete_value_index(database, schema) if privacy == "full" else EMPTY
    linked = link(question, schema, values)
    lines = ["Tables: " + ", ".join(linked.tables)]
    there = set(linked.tables)
    for table in linked.schema.tables:
        lines += [
            f"Join: {table.name}.{', '.join(key.columns)} = {key.ref_table}.{', '.join(key.ref_columns)}"
            for key in table.foreign_keys
            if key.ref_table in there
        ]
    lines += [f'Value: "{v.value}" is stored in {v.table}.{v.column}' for v in linked.values[:VALUES]]
    return "\n".join(lines)


def result_text(result: ExecutionResult, privacy: Privacy) -> str:
    """The result of a statement that ran: the number of rows, and the first few as far as the mode shows them."""
    if privacy == "schema":
        return "The query ran."
    rows = json_rows(result.rows[: ROWS if privacy == "full" else None])
    shown = rows if privacy == "full" else kinds(result.columns, rows)
    cut = ", cut off there" if result.truncated else ""
    return f"{len(result.rows)} rows{cut}\n{result_preview(result.columns, shown, max_rows=ROWS)}"


def message_text(message: str, privacy: Privacy, schema: Schema, *known: str) -> str:
    """A message of the engine, the parser or the guard; `known` texts are the model's own or the user's."""
    return message if privacy == "full" else scrubbed(message, words_known(schema, *known))

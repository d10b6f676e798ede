"""The text about a database that a model at an endpoint sees for one question: structure, data notes, stored values.

In: the question, an open database, its schema, the privacy mode and the token budgets. Out: a `ModelView`: one text,
and the token cost of its parts. It shows the whole structure if that fits its budget, else the part that the question
needs. Text that is the same for every question comes first, so that a provider's prompt cache can reuse it.
"""

from __future__ import annotations

from dataclasses import dataclass

from agent.knowledge.ddl import ddl
from agent.knowledge.linking import Linked, link
from agent.knowledge.privacy import Privacy, SchemaText, visible_schema
from agent.knowledge.profile import hints, profile_soon
from agent.knowledge.schema_context import BREAK, estimate_tokens, one_line, within_budget
from agent.knowledge.value_store import complete_value_index
from agent.knowledge.values import EMPTY, ValueIndex
from eval.databases.base import Database
from eval.schema import Schema

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

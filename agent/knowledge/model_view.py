"""What a model at an endpoint is shown of a database for one question: structure, notes on the data, stored values.

In: the question, an open database, its schema, the privacy mode and the budgets in tokens. Out: a `ModelView`: one
text, and what its parts cost. The whole structure where it fits its budget, else the part that the question needs.
What is the same for every question stands first, so that a provider's prompt cache finds it again.
"""

from __future__ import annotations

from dataclasses import dataclass

from agent.knowledge.linking import Linked, link
from agent.knowledge.privacy import Privacy, SchemaText, visible_schema
from agent.knowledge.profile import hints, profile_soon
from agent.knowledge.schema_context import estimate_tokens, one_line
from agent.knowledge.value_store import values_soon
from agent.knowledge.values import EMPTY, ValueIndex
from eval.databases.base import Database
from eval.schema import Schema

PROFILE_WAIT = 2.0
"""Seconds that a question waits for the notes; a profile that takes longer is there for the next question."""
VALUES_TITLE = "Stored values that the question may mean:"
VALUES_TOKENS = 300
_VALUES = 12
_SURE = 0.6
"""Score from which a stored value is named."""


@dataclass(frozen=True, slots=True)
class ModelView:
    text: SchemaText
    """What stands in the prompt."""
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
) -> ModelView:
    """The view for one question. `schema_tokens`: of the structure at most; `note_tokens`: of the notes, 0 for none;
    `reads`: whether rows may be read for it. Never raises: what cannot be read is left out."""
    full = privacy == "full"
    seen = schema if full else visible_schema(schema, privacy)
    stored = values_soon(database, schema) if full and reads else EMPTY
    linked = link(question, seen, stored, schema_tokens)
    notes = _notes(database, schema, linked, privacy, note_tokens) if reads else ""
    values = _values(linked, stored)
    parts = [part for part in (linked.text, notes, values) if part]
    return ModelView(
        text=SchemaText("\n\n".join(parts), privacy),
        structure=linked.tokens,
        notes=estimate_tokens(notes),
        values=estimate_tokens(values),
        whole=linked.tokens_full,
        tables=len(linked.tables),
        columns=len(linked.columns),
    )


def _notes(database: Database, schema: Schema, linked: Linked, privacy: Privacy, budget: int) -> str:
    if budget <= 0 or privacy == "schema":
        return ""
    profile = profile_soon(database, schema, wait=PROFILE_WAIT, privacy=privacy)
    return hints(profile, linked.detailed, budget) if profile is not None else ""


def _values(linked: Linked, stored: ValueIndex) -> str:
    """The stored values that phrases of the question may mean, where the index knows of any."""
    if not len(stored):
        return ""
    left = VALUES_TOKENS - estimate_tokens(VALUES_TITLE) - 1
    lines: list[str] = []
    for value in sorted(linked.values, key=lambda v: -v.score):
        written = one_line(value.value, 80).replace("'", "''")
        line = f"- {value.table}.{value.column} has '{written}'"
        left -= estimate_tokens(line) + 1
        if left < 0 or len(lines) >= _VALUES or value.score < _SURE:
            break
        lines.append(line)
    return "\n".join([VALUES_TITLE, *lines]) if lines else ""

"""Observations for a model that works in steps: linked values, results, messages of the engine.

In: a tool's output and the privacy mode. Out: text. All row values that such a model sees pass through here.
"""

from __future__ import annotations

from agent.knowledge.linking import link
from agent.knowledge.preview import result_preview
from agent.knowledge.privacy import Privacy, kinds, scrubbed, words_known
from agent.knowledge.values import EMPTY, complete_value_index
from eval.databases.base import Database
from eval.databases.types import ExecutionResult
from eval.databases.values import json_rows
from eval.schema import Schema

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

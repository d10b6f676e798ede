"""schema_analyzer: database → the text in which a model sees it: structure, notes on the data, stored values. No model.

Of a structure that exceeds its budget, the part that the question needs is shown. The offline engine reads the schema
itself, so for it the structure alone is written, once for each fingerprint.
"""

from __future__ import annotations

import asyncio
from functools import lru_cache
from typing import Any

from agent.context import RunContext
from agent.events import ErrorEvent, ErrorInfo, SchemaEvent, SchemaInfo, SchemaTokens
from agent.knowledge.privacy import privacy_of
from agent.knowledge.schema_context import schema_context
from agent.state import AgentState, Failure
from eval.databases.base import DatabaseError
from eval.schema import Schema

EARLIER_QUESTIONS = 2
"""Earlier questions of a conversation that the part of a large structure is chosen for, too."""


async def schema_analyzer(state: AgentState, context: RunContext) -> dict[str, Any]:
    try:
        schema = await context.schema()
    except DatabaseError as error:
        context.emit(ErrorEvent(data=ErrorInfo(kind="database", message=str(error))))
        return {"schema_context": "", "failure": Failure(kind="database", message=str(error))}
    info = SchemaInfo(
        dialect=schema.dialect,
        database=context.database.name,
        tables=len(schema.tables),
        columns=schema.column_count,
        fingerprint=schema.fingerprint,
    )
    if not schema.tables:
        context.emit(SchemaEvent(data=info))
        message = f"The database {context.database.name} has no tables, so there is nothing to ask."
        return {"schema_context": "", "failure": Failure(kind="database", message=message)}
    if context.model.offline:
        context.emit(SchemaEvent(data=info))
        return {"schema_context": _rendered(schema)}
    text, tokens = await asyncio.to_thread(_viewed, state, context, schema)
    context.emit(SchemaEvent(data=info.model_copy(update={"tokens": tokens})))
    return {"schema_context": text}


def _viewed(state: AgentState, context: RunContext, schema: Schema) -> tuple[str, SchemaTokens]:
    from agent.knowledge.model_view import model_view

    earlier = [turn.question for turn in state.get("history", [])[-EARLIER_QUESTIONS:]]
    view = model_view(
        "\n".join([*earlier, state["question"]]),
        context.database,
        schema,
        privacy=privacy_of(context.model),
        schema_tokens=context.settings.schema_tokens,
        note_tokens=context.settings.note_tokens,
        reads=context.execute and context.strategy.notes,
    )
    tokens = SchemaTokens(
        structure=view.structure,
        notes=view.notes,
        values=view.values,
        whole_structure=view.whole,
        tables_shown=view.tables,
        columns_shown=view.columns,
    )
    return view.text, tokens


_rendered = lru_cache(maxsize=64)(schema_context)
"""Rendering 200 columns takes longer than looking the text up by the schema's fingerprint."""

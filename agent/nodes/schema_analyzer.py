"""schema_analyzer: database → the text in which a model sees its structure. No model; cached by fingerprint."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from agent.context import RunContext
from agent.events import ErrorEvent, ErrorInfo, SchemaEvent, SchemaInfo
from agent.knowledge.schema_context import schema_context
from agent.state import AgentState, Failure
from eval.databases.base import DatabaseError


async def schema_analyzer(_: AgentState, context: RunContext) -> dict[str, Any]:
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
    context.emit(SchemaEvent(data=info))
    if not schema.tables:
        message = f"The database {context.database.name} has no tables, so there is nothing to ask."
        return {"schema_context": "", "failure": Failure(kind="database", message=message)}
    return {"schema_context": _rendered(schema)}


_rendered = lru_cache(maxsize=64)(schema_context)
"""Rendering 200 columns takes longer than looking the text up by the schema's fingerprint."""

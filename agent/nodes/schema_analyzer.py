"""schema_analyzer: database → its text for the model: structure, data notes, stored values. Calls no model.

It is the first step of a turn, so it also resets the channels that belong to one turn. If the structure exceeds its
budget, the text shows the part that the question needs. The built-in parser reads the schema itself, so for it only the
structure is written, once per fingerprint.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from agent.events import ErrorEvent, ErrorInfo, SchemaEvent, SchemaInfo, SchemaTokens
from agent.knowledge.schema_context import schema_context
from agent.runtime.context import RunContext
from agent.runtime.fitting import view_of
from agent.state import AgentState, Emptied, Failure
from eval.databases.types import DatabaseError
from eval.threads import in_turn


async def schema_analyzer(state: AgentState, context: RunContext) -> dict[str, Any]:
    return {
        "read_as": "",
        "clarification": None,
        "plan": None,
        "current_task": None,
        "draft": None,
        "failure": None,
        "query_results": Emptied(),
        "retries": Emptied(),
        "retry_count": 0,
        "retry_feedback": "",
        "final_answer": "",
        "answer_relevance_score": 0.0,
        **await _analyzed(state, context),
    }


async def _analyzed(state: AgentState, context: RunContext) -> dict[str, Any]:
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
    if not context.model.capabilities.remote:
        context.emit(SchemaEvent(data=info))
        return {"schema_context": _rendered(schema)}
    view = await in_turn(view_of, state, context, schema)
    tokens = SchemaTokens(
        structure=view.structure,
        notes=view.notes,
        values=view.values,
        whole_structure=view.whole,
        tables_shown=view.tables,
        columns_shown=view.columns,
    )
    context.emit(SchemaEvent(data=info.model_copy(update={"tokens": tokens})))
    return {"schema_context": view.text}


_rendered = lru_cache(maxsize=64)(schema_context)
"""The texts are cached: rendering 200 columns takes longer than a look-up by the schema's fingerprint."""

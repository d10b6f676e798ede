"""Adds to the OpenAPI description what FastAPI cannot derive: the events inside a stream."""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI
from pydantic import TypeAdapter

from agent.events import Event
from agent.server.errors import ErrorReply
from agent.server.submission import RunEvent

_REF = "#/components/schemas/{model}"


def describe(app: FastAPI) -> None:
    """Add `StreamEvent`, the type of each `data:` line of a stream, and the common error form to the app's
    description."""
    plain = app.openapi

    def openapi() -> dict[str, Any]:
        if app.openapi_schema is None:
            described = plain()
            schemas = described.setdefault("components", {}).setdefault("schemas", {})
            error = ErrorReply.model_json_schema(ref_template=_REF, mode="serialization")
            schemas |= {**error.pop("$defs", {}), "ErrorReply": error}
            event: Any = TypeAdapter(RunEvent | Event).json_schema(ref_template=_REF, mode="serialization")
            for name, schema in event.pop("$defs", {}).items():
                schemas.setdefault(name, schema)
            schemas["StreamEvent"] = event | {"description": "One event of a stream; `event` names its kind."}
            app.openapi_schema = described
        return app.openapi_schema

    app.openapi = openapi  # type: ignore[method-assign]

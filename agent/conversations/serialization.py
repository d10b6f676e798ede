"""Serialisation of a thread's state: bounded in size, and restricted to known types.

In: channel values. Out: msgpack, never pickle. Reading creates only the types of `agent.state`, so an attacker with
write access to the state database cannot make this program import or call anything. Result rows are cut to a preview.
"""

from __future__ import annotations

from typing import Any

from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from pydantic import BaseModel

from agent import state
from agent.state import QueryResult
from agent.store.tables import storable

PREVIEW_ROWS = 20
PREVIEW_CELL = 500
"""Characters of one cell."""
_WORD = 2**63

STATE_TYPES = tuple(
    (state.__name__, name)
    for name, value in vars(state).items()
    if isinstance(value, type) and issubclass(value, BaseModel) and value.__module__ == state.__name__
)


class StateSerializer(JsonPlusSerializer):
    """LangGraph's serializer, restricted to the state's own types, with bounded values."""

    def __init__(self) -> None:
        super().__init__(pickle_fallback=False, allowed_msgpack_modules=STATE_TYPES)

    def dumps_typed(self, obj: Any) -> tuple[str, bytes]:
        return super().dumps_typed(_bounded(obj))


def _bounded(value: Any) -> Any:
    """The value in writable form: rows cut, text without lone surrogates, integers of at most 64 bits."""
    if isinstance(value, str):
        return storable(value)
    if isinstance(value, bool | float) or value is None:
        return value
    if isinstance(value, int):
        return value if -_WORD <= value < _WORD else str(value)
    if isinstance(value, QueryResult):
        rows = [[_cell(cell) for cell in row] for row in value.data[:PREVIEW_ROWS]]
        value = value.model_copy(update={"data": rows})
    if isinstance(value, BaseModel):
        return value.model_copy(update={name: _bounded(part) for name, part in value})
    if isinstance(value, dict):
        return {_bounded(key): _bounded(part) for key, part in value.items()}
    if type(value) in (list, tuple):
        return type(value)(_bounded(part) for part in value)
    return value


def _cell(value: Any) -> Any:
    if isinstance(value, str | list | dict) and len(text := str(value)) > PREVIEW_CELL:
        return text[: PREVIEW_CELL - 1] + "…"
    return value

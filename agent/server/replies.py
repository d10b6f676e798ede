"""What is sent and stored as JSON: replies, events and rows.

In: records of the store, whose replies are without owners, locations or credentials; an event of `agent.events`, its
results with up to 10,000 rows. Out: strict JSON in one line, in which a result has at most 200 rows and 256 KiB of
them; `rows_returned` still gives the full number of rows. NaN and infinities become null.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from typing import Any, Self

from pydantic import BaseModel
from pydantic_core import PydanticSerializationError, to_json

from agent.results import SqlOutcome

STREAM_ROWS = 200
STREAM_BYTES = 256 * 1024
"""Maximum bytes of JSON for one result's rows in a stream."""
_CELL = 2_000
"""Characters that a long text is cut to where the first row alone is too large."""


def as_json(value: object) -> str:
    """Any value as strict JSON in one line: a model, a dict, rows."""
    try:
        return to_json(value, inf_nan_mode="null").decode()
    except (PydanticSerializationError, UnicodeEncodeError):  # a lone surrogate
        return json.dumps(_plain(value), allow_nan=False, default=str, separators=(",", ":"))


def _plain(value: object) -> object:
    if isinstance(value, BaseModel):
        value = value.model_dump(mode="python")
    if isinstance(value, dict):
        return {str(k): _plain(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(v) for v in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def few_rows(rows: Sequence[Sequence[Any]]) -> list[Sequence[Any]]:
    """The first rows, up to the limits of a stream. A first row that is too large is sent with its long texts cut."""
    kept: list[Sequence[Any]] = []
    size = 0
    for row in rows[:STREAM_ROWS]:
        for cell in row:  # its approximate length as JSON
            if isinstance(cell, str):
                size += len(cell) + 3
            else:
                size += 12 if cell is None or isinstance(cell, bool | int | float) else len(as_json(cell))
        if size > STREAM_BYTES:
            break
        kept.append(row)
    if rows and not kept:
        texts = [(cell, cell if isinstance(cell, str) else as_json(cell)) for cell in rows[0]]
        kept.append([cell if len(text) <= _CELL else text[:_CELL] + "…" for cell, text in texts])
    return kept


class Reply(BaseModel, frozen=True):
    @classmethod
    def of(cls, record: Any) -> Self:
        """The fields of a record that the reply has."""
        return cls.model_validate(record, from_attributes=True)


def first_rows(outcome: SqlOutcome) -> dict[str, Any]:
    """The outcome with as many rows as a reply holds. A statement that was cancelled has failed."""
    status = "error" if outcome.status == "cancelled" else outcome.status
    rows = [list(row) for row in few_rows(outcome.rows)]
    return {**dict(outcome), "status": status, "rows": rows, "rows_returned": len(outcome.rows)}

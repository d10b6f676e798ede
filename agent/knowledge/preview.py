"""Previews of row values for prompts: few rows, short cells, one JSON line per row.

In: columns and rows of a result (JSON values). Out: text. Only `agent.knowledge` puts row values into prompts, so that
privacy modes are enforced in one place.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence

from agent.knowledge.schema_context import PREVIEW_ROWS, one_line

PREVIEW_CELL = 200
"""Maximum characters of one cell."""
PREVIEW_COLUMNS = 60
PREVIEW_CHARS = 16_000
"""Maximum characters of one preview; rows beyond it are left out, except the first row."""


def result_preview(
    columns: Sequence[str], rows: Sequence[Sequence[object]], max_rows: int = PREVIEW_ROWS, max_cell: int = PREVIEW_CELL
) -> str:
    """A header line with the column names and one JSON array per row, with notes on what was left out.

    Cells longer than `max_cell` characters end in `…`; infinities and NaN become null. JSON escapes control characters,
    so a value can never start a new line.
    """
    width = min(len(columns), PREVIEW_COLUMNS)
    lines = [json.dumps([one_line(c, max_cell) for c in columns[:width]], ensure_ascii=False)]
    left = PREVIEW_CHARS
    shown = 0
    for row in rows[:max_rows]:
        line = json.dumps([_cell(value, max_cell) for value in row[:width]], ensure_ascii=False)
        left -= len(line)
        if left < 0 and shown:
            break
        lines.append(line)
        shown += 1
    if len(columns) > width:
        lines.append(f"({len(columns) - width:,} more columns not shown)")
    if len(rows) > shown:
        lines.append(f"({len(rows) - shown:,} more rows not shown)")
    elif not rows:
        lines.append("(no rows)")
    return "\n".join(lines)


def _cell(value: object, longest: int) -> object:
    if value is None or isinstance(value, bool | int):
        return value if not isinstance(value, int) or abs(value) < 10**60 else f"{str(value)[:60]}…"
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    return one_line(text, longest)

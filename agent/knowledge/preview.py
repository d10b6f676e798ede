"""Results and turns of a conversation as text for prompts: few rows, short cells, one JSON line per row.

In: columns and rows of a result (JSON values), or turns; the final state of a run. Out: text; a `Turn`, reduced to what
a later question can refer to. Only `agent.knowledge` puts row values into prompts, so that privacy modes are enforced
in one place.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence

from agent.knowledge.schema_context import PREVIEW_ROWS, one_line
from agent.state import AgentState, QueryResult, Turn, standalone

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


ROWS = 5
COLUMNS = 30
CELL = 100
"""Maximum characters of one remembered cell."""
ANSWER = 500
QUESTION = 2_000
SQL = 8_000

SHOWN_TURNS = 8
"""Number of latest turns that a prompt shows."""
SHOWN_ROWS = 3
SHOWN_CHARS = 12_000
"""Maximum characters of all turns in a prompt; beyond it, the oldest turns are left out."""


def turn_of(state: AgentState, results: Sequence[QueryResult], answer: str) -> Turn:
    """The turn that ends with `answer`. Its query and rows come from the last task that ran."""
    clarified = state.get("clarified")
    asked = f"{state['question']} / {clarified.reply}" if clarified else state["question"]
    shown = next((result for result in reversed(results) if result.status == "success"), None)
    earlier = state.get("history") or []
    return Turn(
        number=state.get("turn") or (earlier[-1].number + 1 if earlier else 1),
        asked=asked[:QUESTION],
        question=standalone(state)[:QUESTION],
        clarified=clarified is not None,
        sql=shown.sql if shown and len(shown.sql) <= SQL else "",
        answer=answer[:ANSWER],
        columns=[one_line(column, CELL) for column in shown.columns[:COLUMNS]] if shown else [],
        rows=[[_kept_cell(value) for value in row[:COLUMNS]] for row in shown.data[:ROWS]] if shown else [],
    )


def _kept_cell(value: object) -> object:
    if value is None or isinstance(value, bool | float):
        return value
    if isinstance(value, int):
        return value if abs(value) < 2**63 else str(value)
    return one_line(value if isinstance(value, str) else str(value), CELL)


def history_text(turns: Sequence[Turn]) -> str:
    """The latest turns for a prompt, oldest first: the meaning of each, its query, columns and first rows."""
    blocks: list[str] = []
    left = SHOWN_CHARS
    for turn in reversed(turns[-SHOWN_TURNS:]):
        lines = [f"Question {turn.number}: {one_line(turn.question, QUESTION)}"]
        if turn.asked.strip() != turn.question.strip():
            lines.append(f"In the user's words: {one_line(turn.asked, QUESTION)}")
        if turn.sql:
            lines.append(f"SQL: {one_line(turn.sql, SHOWN_CHARS // 4)}")
            if turn.columns:
                lines.append(result_preview(turn.columns, turn.rows, SHOWN_ROWS, CELL))
        else:
            lines.append("(no query answered it)")
        block = "\n".join(lines)
        left -= len(block)
        if left < 0 and blocks:
            break
        blocks.append(block)
    return "\n\n".join(reversed(blocks))

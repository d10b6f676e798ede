"""What a conversation remembers of a turn, and how a model gets to read it.

In: the state of a run that ends; or remembered turns. Out: a `Turn`, cut to what a later question may refer to; or the
text for a prompt, whose row values pass through `result_preview` like all others.
"""

from __future__ import annotations

from collections.abc import Sequence

from agent.knowledge.preview import result_preview
from agent.knowledge.schema_context import one_line
from agent.state import AgentState, QueryResult, Turn, standalone

ROWS = 5
COLUMNS = 30
CELL = 100
"""Characters of one remembered cell."""
ANSWER = 500
QUESTION = 2_000
SQL = 8_000

SHOWN_TURNS = 8
"""Turns that a prompt shows, the latest."""
SHOWN_ROWS = 3
SHOWN_CHARS = 12_000
"""Characters of all turns in a prompt; the oldest are left out beyond it."""


def turn_of(state: AgentState, results: Sequence[QueryResult], answer: str) -> Turn:
    """The turn that ends with `answer`. Its query and rows are those of the last task that ran."""
    clarified = state.get("clarified")
    asked = f"{state['question']} / {clarified.reply}" if clarified else state["question"]
    shown = next((result for result in reversed(results) if result.status == "success"), None)
    return Turn(
        number=state.get("turn") or 1,
        asked=asked[:QUESTION],
        question=standalone(state)[:QUESTION],
        clarified=clarified is not None,
        sql=shown.sql if shown and len(shown.sql) <= SQL else "",
        answer=answer[:ANSWER],
        columns=[one_line(column, CELL) for column in shown.columns[:COLUMNS]] if shown else [],
        rows=[[_cell(value) for value in row[:COLUMNS]] for row in shown.data[:ROWS]] if shown else [],
    )


def _cell(value: object) -> object:
    if value is None or isinstance(value, bool | float):
        return value
    if isinstance(value, int):
        return value if abs(value) < 2**63 else str(value)
    return one_line(value if isinstance(value, str) else str(value), CELL)


def history_text(turns: Sequence[Turn]) -> str:
    """The latest turns for a prompt, oldest first: what each meant, its query, its columns and first rows."""
    blocks: list[str] = []
    left = SHOWN_CHARS
    for turn in reversed(turns[-SHOWN_TURNS:]):
        block = _turn_text(turn)
        left -= len(block)
        if left < 0 and blocks:
            break
        blocks.append(block)
    return "\n\n".join(reversed(blocks))


def _turn_text(turn: Turn) -> str:
    lines = [f"Question {turn.number}: {one_line(turn.question, QUESTION)}"]
    if turn.asked.strip() != turn.question.strip():
        lines.append(f"In the user's words: {one_line(turn.asked, QUESTION)}")
    if turn.sql:
        lines.append(f"SQL: {one_line(turn.sql, SHOWN_CHARS // 4)}")
        if turn.columns:
            lines.append(result_preview(turn.columns, turn.rows, SHOWN_ROWS, CELL))
    else:
        lines.append("(no query answered it)")
    return "\n".join(lines)

"""The history of a conversation: what is kept of each turn, and its text for a prompt.

In: the final state of a run, or remembered turns. Out: a `Turn`, reduced to what a later question can refer to, or the
text for a prompt. Its row values pass through `result_preview`, like all row values.
"""

from __future__ import annotations

from collections.abc import Sequence

from agent.knowledge.preview import result_preview
from agent.knowledge.schema_context import one_line
from agent.state import AgentState, QueryResult, Turn, standalone

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
        rows=[[_cell(value) for value in row[:COLUMNS]] for row in shown.data[:ROWS]] if shown else [],
    )


def _cell(value: object) -> object:
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

"""The offline answer: one sentence a result, from the question and the rows alone. Whoever shows it shows the rows too.

In: a `SummaryRequest`. Out: Markdown. Numbers stand exactly as the rows have them; doubts are stated, never softened.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from agent.models.protocol import SummaryRequest
from agent.state import QueryResult

SHOWN_VALUES = 10
_MARKS = re.compile(r"([\\`*_{}\[\]<>|#~])")


def summary_text(request: SummaryRequest) -> str:
    """The answer as Markdown."""
    parts = [_one(result) for result in request.results]
    if not parts:
        parts = ["I have no answer to this question."]
    text = "\n\n".join(parts)
    if request.doubts:
        text += "\n\n" + "\n".join(f"> Doubt: {_plain(doubt)}" for doubt in request.doubts)
    return text


def _one(result: QueryResult) -> str:
    if result.status != "success":
        why = _plain(result.error or result.reasoning or "the query did not run")
        return f"I can't answer this: {why}"
    read = f" (read as: {_plain(result.reasoning)})" if result.reasoning else ""
    rows, columns = result.data, result.columns
    if not rows:
        return f"Nothing matches: the query returned no rows{read}."
    if len(rows) == 1 and len(columns) == 1:
        value = rows[0][0]
        if value is None:
            return f"There is no value to report: the result is empty (NULL){read}."
        return f"The answer is **{_cell(value)}**{read}."
    if len(rows) == 1:
        return f"{_told(columns, rows[0])}{read}."
    many = f"more than {result.rows_returned}" if result.truncated else str(result.rows_returned or len(rows))
    if len(columns) == 1:
        listed = ", ".join(f"**{_cell(row[0])}**" for row in rows[:SHOWN_VALUES])
        rest = " and others" if len(rows) > SHOWN_VALUES or result.truncated else ""
        return f"There are {many} rows: {listed}{rest}{read}."
    return f"There are {many} rows{read}. The first is {_told(columns, rows[0])}."


def _told(columns: Sequence[str], row: Sequence[object]) -> str:
    return ", ".join(f"{_plain(c)}: **{_cell(v)}**" for c, v in zip(columns, row, strict=False))


def _cell(value: object) -> str:
    if value is None:
        return "NULL"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value == int(value) and abs(value) < 1e15:
        return str(value)
    return _plain(str(value))


def _plain(text: str) -> str:
    """Row values and names are data: their Markdown signs are escaped, line breaks and length bounded."""
    flat = " ".join(text.split())
    return _MARKS.sub(r"\\\1", flat if len(flat) <= 400 else flat[:399] + "…")

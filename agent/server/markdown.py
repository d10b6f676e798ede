"""A conversation as a Markdown document.

In: a thread and its runs. Out: text in which no value, name or answer can become markup: all external text is escaped,
and SQL is enclosed in a fence longer than any fence inside it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from typing import Any

from agent.store.records import RunRecord, ThreadRecord

ROWS = 50
"""Rows of a result that are shown."""
CELL = 200
"""Characters of a cell."""


def as_markdown(thread: ThreadRecord, runs: Iterable[RunRecord]) -> str:
    parts = [f"# {escaped(thread.title)}", f"Database: {escaped(thread.preset)}"]
    for run in runs:
        parts += _turn(run)
    return "\n\n".join(parts) + "\n"


def _turn(run: RunRecord) -> list[str]:
    parts = [f"## {escaped(run.question or 'SQL')}"]
    answer = run.answer or {}
    text = str(answer.get("answer") or "")
    if text:
        parts.append("\n".join(f"> {escaped(line)}" for line in text.splitlines()))
    if run.sql:
        parts.append(_fenced(run.sql))
    columns, rows = answer.get("columns") or [], answer.get("rows") or []
    if columns:
        parts.append(_table(columns, rows))
        if len(rows) > ROWS or answer.get("truncated"):
            parts.append(f"*The first {min(len(rows), ROWS)} rows.*")
    score = f", score {run.score:.2f}" if run.score is not None else ""
    parts.append(f"*{run.status}{score}, {run.started:%Y-%m-%d %H:%M} UTC, {escaped(run.model)}*")
    return parts


def _table(columns: Sequence[Any], rows: Sequence[Sequence[Any]]) -> str:
    lines = [_line(columns), "|" + " --- |" * len(columns)]
    lines += [_line([*row, *[None] * len(columns)][: len(columns)]) for row in rows[:ROWS]]
    return "\n".join(lines)


def _line(cells: Iterable[Any]) -> str:
    return "| " + " | ".join(_cell(c) for c in cells) + " |"


def _cell(value: Any) -> str:
    if value is None:
        return ""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return escaped(text if len(text) <= CELL else text[: CELL - 1] + "…")


def escaped(text: str) -> str:
    """One line in which nothing is markup, neither Markdown's nor HTML's."""
    line = re.sub(r"\s+", " ", "".join(c if c.isprintable() else " " for c in text)).strip()
    line = line.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    line = re.sub(r"([\\`*_{}\[\]()#+!|~^$-])", r"\\\1", line)
    return (
        re.sub(r"^(\d+)([.)])", r"\1\\\2", line)
        .replace("://", "&#58;//")
        .replace("www.", "www&#46;")
        .replace("@", "&#64;")
    )


def _fenced(sql: str) -> str:
    longest = max((len(m) for m in re.findall(r"`+", sql)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}sql\n{sql.strip()}\n{fence}"

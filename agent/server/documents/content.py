"""What a document says, before it becomes Markdown or HTML: a title and one section for each answer.

In: a thread with its runs, or a board with its kept answers. Out: a `Document` of plain text and values.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from agent.store.records import BoardRecord, KeptRecord, RunRecord, ThreadRecord

ROWS = 50
"""Rows of a result that are shown."""
CELL = 200
"""Characters of a cell."""


@dataclass(frozen=True, slots=True)
class Section:
    heading: str
    text: str = ""
    """Lines of plain text."""
    sql: str = ""
    columns: Sequence[Any] = ()
    rows: Sequence[Sequence[Any]] = ()
    """At most ROWS, each as long as `columns`."""
    note: str = ""
    """How many rows are left out."""
    facts: str = ""
    """Status, score, time and model in one line."""


@dataclass(frozen=True, slots=True)
class Document:
    title: str
    about: str
    sections: list[Section] = field(default_factory=list)
    link: str = ""
    """An address of this server's own, where it is shown."""


def of_thread(thread: ThreadRecord, runs: Iterable[RunRecord]) -> Document:
    return Document(thread.title, f"Database: {thread.preset}", [_of_run(run) for run in runs])


def of_board(board: BoardRecord, answers: Iterable[KeptRecord]) -> Document:
    """The tiles in their order: a text, or an answer with the rows that it returned last."""
    by_id = {answer.kept_id: answer for answer in answers}
    shown = [tile for tile in board.tiles if tile.text or tile.kept_id in by_id]
    sections = []
    for tile in shown:
        first, _, rest = plain_text(tile.text).partition("\n")
        text = Section(first.lstrip("# "), rest.strip())
        sections.append(of_kept(by_id[tile.kept_id]) if tile.kept_id in by_id else text)
    count = sum(1 for tile in shown if tile.kept_id)
    return Document(board.title, f"A board of {count} kept answer{'' if count == 1 else 's'}", sections)


def _of_run(run: RunRecord) -> Section:
    answer = run.answer or {}
    score = f", score {run.score:.2f}" if run.score is not None else ""
    facts = f"{run.status}{score}, {run.started:%Y-%m-%d %H:%M} UTC{', ' if run.model else ''}{run.model}"
    columns, rows, note = _shown(answer.get("columns") or [], answer.get("rows") or [], bool(answer.get("truncated")))
    text = plain_text(str(answer.get("answer") or ""))
    return Section(run.question or "SQL", text, run.sql, columns, rows, note, facts)


def of_kept(answer: KeptRecord) -> Section:
    """An answer with the rows that it returned last."""
    result = answer.result
    text = answer.question if answer.question != answer.title else ""
    if result is None or result.status != "success":
        return Section(answer.title, text, answer.sql, facts=(result and result.error) or "not run yet")
    columns, rows, note = _shown(result.columns, result.rows, result.truncated or result.rows_returned > ROWS)
    return Section(answer.title, text, result.sql, columns, rows, note, f"as of {result.refreshed:%Y-%m-%d %H:%M} UTC")


def _shown(
    columns: Sequence[Any], rows: Sequence[Sequence[Any]], cut: bool
) -> tuple[Sequence[Any], list[list[Any]], str]:
    width = len(columns)
    shown = [[*row, *[None] * width][:width] for row in rows[:ROWS]]
    note = f"The first {len(shown)} rows." if columns and (cut or len(rows) > ROWS) else ""
    return columns, shown, note


def plain_text(markdown: str) -> str:
    """The words of an answer, which is written in Markdown: no stars, backslashes, backticks or quote marks."""
    text = re.sub(r"^ {0,3}(> ?)+", "", markdown, flags=re.MULTILINE)
    text = re.sub(r"!?\[([^\]\n]*)\]\([^)\n]*\)", r"\1", text)
    text = re.sub(r"(?<![\\\w*])(\*{1,3})(?=\S)([^*\n]+?)(?<=[^\s\\])\1(?![\w*])", r"\2", text)
    text = re.sub(r"(?<!\\)`+([^`\n]*)`+", r"\1", text)
    return re.sub(r"\\([!-/:-@\[-`{-~])", r"\1", text).strip()

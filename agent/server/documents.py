"""A thread or a board as a document to take away: Markdown, or one HTML file that needs nothing else.

In: a thread with its runs, or a board with its kept answers. Out: a `Document`, a title and one section for each
answer; then text in which no value, name or answer can become markup, neither Markdown's nor HTML's. Only what would
become some is escaped. SQL is enclosed in a fence longer than any fence inside it. The HTML has no script, no font and
no address elsewhere, and its policy forbids every script and request: it stays harmless wherever it is opened.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import Any

from markdown_it import MarkdownIt

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


_HEAD = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
:root {{ color-scheme: light dark; }}
body {{ max-width: 60rem; margin: 0 auto; padding: 2rem 1.25rem 4rem; font: 15px/1.55 system-ui, sans-serif;
  color: light-dark(#1d2430, #e8e6e1); background: light-dark(#fcfbf9, #15181d); font-variant-numeric: tabular-nums; }}
h1 {{ font: 500 1.75rem/1.25 Georgia, serif; margin: 0; }}
h2 {{ font-size: 1.0625rem; margin: 2rem 0 .5rem; padding-top: 1.5rem;
  border-top: 1px solid light-dark(#e2e0db, #343a42); }}
p {{ margin: .25rem 0; }}
blockquote {{ margin: 0; }}
em, h1 + p {{ color: light-dark(#565d69, #b0b3b8); font-size: .8125rem; font-style: normal; }}
table {{ display: block; overflow-x: auto; margin: .75rem 0; border-collapse: collapse; font-size: .875rem; }}
th, td {{ text-align: left; padding: .3rem .75rem; border-bottom: 1px solid light-dark(#e9e7e2, #2b3037); }}
pre {{ overflow-x: auto; padding: .75rem 1rem; border-radius: 6px; background: light-dark(#f3f1ed, #0f1216);
  font: .8125rem/1.6 ui-monospace, monospace; white-space: pre-wrap; }}
@media print {{ h2 {{ break-after: avoid; }} }}
</style>
</head>
<body>
"""
_RENDERER = MarkdownIt("commonmark", {"html": False, "breaks": True}).enable("table")


def as_markdown(document: Document) -> str:
    parts = [f"# {escaped(document.title)}", escaped(document.about)]
    parts += [f"[Open it on the page](<{document.link}>)"] if document.link else []
    for section in document.sections:
        parts += _section(section)
    return "\n\n".join(parts) + "\n"


def _section(section: Section) -> list[str]:
    parts = [f"## {escaped(section.heading)}"]
    if section.text:
        parts.append("\n".join(f"> {escaped(line)}".rstrip() for line in section.text.splitlines()))
    if section.sql:
        longest = max((len(m) for m in re.findall(r"`+", section.sql)), default=0)
        fence = "`" * max(3, longest + 1)
        parts.append(f"{fence}sql\n{section.sql.strip()}\n{fence}")
    if section.columns:
        columns = [[row[place] for row in section.rows] for place in range(len(section.columns))]
        sides = " | ".join("---:" if _is_numeric(column) else "---" for column in columns)
        lines = [_line(section.columns), f"| {sides} |", *map(_line, section.rows)]
        parts.append("\n".join(lines))
    parts += [f"*{escaped(line)}*" for line in (section.note, section.facts) if line]
    return parts


def _line(cells: Iterable[Any]) -> str:
    return "| " + " | ".join(escaped(cell_text(c)).replace("|", "\\|") for c in cells) + " |"


def _is_numeric(values: Iterable[Any]) -> bool:
    known = [value for value in values if value is not None]
    return bool(known) and all(isinstance(value, int | float) and not isinstance(value, bool) for value in known)


def cell_text(value: Any) -> str:
    """A value as text of at most CELL characters; NULL is empty."""
    if value is None:
        return ""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= CELL else text[: CELL - 1] + "…"


def escaped(text: str) -> str:
    """One line in which nothing is markup. A sign is escaped only where it could be some: `order_date` and `COUNT(*)`
    stay as they are."""
    line = re.sub(r"\s+", " ", "".join(c if c.isprintable() else " " for c in text)).strip()
    line = line.replace("\\", "\\\\")
    line = re.sub(r"&(?=#?\w{1,40};)", "&amp;", line)
    line = re.sub(r"<(?=[A-Za-z/!?])", "&lt;", line)
    for sign in "*~$`":  # these work in pairs
        if line.count(sign) > 1:
            line = line.replace(sign, f"\\{sign}")
    if line.count("_") > 1:  # inside a word an underscore is a letter
        line = re.sub(r"(?<![^\W_])_+|_+(?![^\W_])", lambda match: "\\_" * len(match[0]), line)
    line = line.replace("[", "\\[")  # a link may end in the next line
    line = re.sub(r"^(>|#{1,6}(?= |$)|[+*-](?= |$)|[-=_*]+$|[~`]{3})", r"\\\1", line)
    line = re.sub(r"^(\d+)([.)])(?= |$)", r"\1\\\2", line)
    return line.replace("://", "&#58;//").replace("www.", "www&#46;")


def as_html(document: Document) -> str:
    return f"{_HEAD.format(title=escape(document.title))}{_RENDERER.render(as_markdown(document))}</body>\n</html>\n"

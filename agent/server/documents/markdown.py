"""A document as Markdown that reads well as it is: only what would become markup is escaped.

In: a `Document`. Out: text in which no value, name or answer can become markup, neither Markdown's nor HTML's. SQL is
enclosed in a fence longer than any fence inside it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import Any

from agent.server.documents.content import CELL, Document, Section


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

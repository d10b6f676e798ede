"""A document as one HTML file that needs nothing else: no script, no font, no address elsewhere.

In: a `Document`. Out: HTML in which all text is escaped. The policy in its head forbids every script and request, so
the file stays harmless wherever it is opened.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

from agent.server.documents.content import Document, Section
from agent.server.documents.markdown import cell_text

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
h2 {{ font-size: 1.0625rem; margin: 0 0 .5rem; }}
section {{ margin-top: 2rem; padding-top: 1.5rem; border-top: 1px solid light-dark(#e2e0db, #343a42); }}
p {{ margin: .25rem 0; }}
.quiet {{ color: light-dark(#565d69, #b0b3b8); font-size: .8125rem; }}
.table {{ overflow-x: auto; margin: .75rem 0; }}
table {{ border-collapse: collapse; font-size: .875rem; }}
th, td {{ text-align: left; padding: .3rem .75rem; border-bottom: 1px solid light-dark(#e9e7e2, #2b3037); }}
.number {{ text-align: right; }}
pre {{ overflow-x: auto; padding: .75rem 1rem; border-radius: 6px; background: light-dark(#f3f1ed, #0f1216);
  font: .8125rem/1.6 ui-monospace, monospace; white-space: pre-wrap; }}
@media print {{ section {{ break-inside: avoid; }} }}
</style>
</head>
<body>
"""


def as_html(document: Document) -> str:
    parts = [
        _HEAD.format(title=escape(document.title)),
        f'<h1>{escape(document.title)}</h1>\n<p class="quiet">{escape(document.about)}</p>\n',
        *map(_section, document.sections),
        "</body>\n</html>\n",
    ]
    return "".join(parts)


def _section(section: Section) -> str:
    parts = [f"<section>\n<h2>{escape(section.heading)}</h2>\n"]
    parts += [f"<p>{escape(line)}</p>\n" for line in section.text.splitlines() if line.strip()]
    if section.columns:
        parts.append(_table(section.columns, section.rows))
    parts += [f'<p class="quiet">{escape(line)}</p>\n' for line in (section.note, section.facts) if line]
    if section.sql:
        parts.append(f"<pre><code>{escape(section.sql.strip())}</code></pre>\n")
    return "".join([*parts, "</section>\n"])


def _table(columns: Sequence[Any], rows: Sequence[Sequence[Any]]) -> str:
    numeric = [_is_numeric(row[place] for row in rows) for place in range(len(columns))]
    head = "".join(_cell("th", name, right) for name, right in zip(columns, numeric, strict=True))
    body = "".join(
        f"<tr>{''.join(_cell('td', value, right) for value, right in zip(row, numeric, strict=True))}</tr>\n"
        for row in rows
    )
    return f'<div class="table"><table>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{body}</tbody>\n</table></div>\n'


def _cell(tag: str, value: Any, right: bool) -> str:
    look = ' class="number"' if right else ""
    return f"<{tag}{look}>{escape(cell_text(value))}</{tag}>"


def _is_numeric(values: Iterable[Any]) -> bool:
    known = [value for value in values if value is not None]
    return bool(known) and all(isinstance(value, int | float) and not isinstance(value, bool) for value in known)

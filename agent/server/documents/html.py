"""A document as one HTML file that needs nothing else: no script, no font, no address elsewhere.

In: a `Document`. Out: its Markdown as HTML, in which all text is escaped. The policy in its head forbids every script
and request, so the file stays harmless wherever it is opened.
"""

from __future__ import annotations

from html import escape

from markdown_it import MarkdownIt

from agent.server.documents.content import Document
from agent.server.documents.markdown import as_markdown

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


def as_html(document: Document) -> str:
    return f"{_HEAD.format(title=escape(document.title))}{_RENDERER.render(as_markdown(document))}</body>\n</html>\n"

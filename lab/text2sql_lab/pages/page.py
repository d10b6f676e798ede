"""The page around a report: one HTML document with an inline style sheet, no script and no external resources.

In: a title and the body. Out: HTML. It is light or dark according to the reader's setting, and light on paper.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from text2sql_lab.pages.svg import esc

_STYLE = """
:root{color-scheme:light dark;--ink:#1c2430;--dim:#5b6675;--paper:#fff;--card:#f6f7f9;--edge:#d9dee5;--good:#1a7f4b;
--bad:#b3261e;--s1:#2f6fb7;--s2:#d9822b;--s3:#2a9d8f;--s4:#b5488f;--s5:#7a8b1f;--s6:#6c5fc7;--s7:#b0413e;--s8:#5f7383}
@media (prefers-color-scheme:dark){:root{--ink:#e7ebf0;--dim:#9aa6b5;--paper:#14181e;--card:#1c222b;--edge:#343d4a;
--good:#5fd39a;--bad:#ff8a80;--s1:#6aa9ee;--s2:#f0a860;--s3:#5fcabb;--s4:#e08cc2;--s5:#b8c95a;--s6:#a79cf5;--s7:#ec8f8b;
--s8:#9fb3c3}}
@media print{:root{color-scheme:light;--ink:#000;--dim:#444;--paper:#fff;--card:#fff;--edge:#bbb;--good:#1a7f4b;
--bad:#b3261e;--s1:#2f6fb7;--s2:#d9822b;--s3:#2a9d8f;--s4:#b5488f;--s5:#7a8b1f;--s6:#6c5fc7;--s7:#b0413e;--s8:#5f7383}
details::details-content{content-visibility:visible;block-size:auto}details,figure,tr{break-inside:avoid}
body{max-width:none!important;padding:0!important;font-size:10pt}}
*{box-sizing:border-box}
body{font:15px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif;color:var(--ink);
background:var(--paper);max-width:1080px;margin:0 auto;padding:28px 22px 60px;overflow-wrap:anywhere}
h1{font-size:1.7em;margin:0 0 .2em;line-height:1.2}h2{font-size:1.2em;margin:2.2em 0 .6em;padding-top:.5em;
border-top:1px solid var(--edge)}h3{font-size:1em;margin:1.5em 0 .5em}p{margin:.4em 0 .8em;max-width:75ch}
.dim{color:var(--dim)}.good{color:var(--good)}.bad{color:var(--bad)}
.scroll{overflow-x:auto}table{border-collapse:collapse;font-size:.92em;overflow-wrap:normal}
th,td{padding:5px 12px 5px 0;text-align:left;vertical-align:top;border-bottom:1px solid var(--edge)}
th{font-weight:600;color:var(--dim);white-space:nowrap}td.n,th.n{text-align:right;font-variant-numeric:tabular-nums;
white-space:nowrap}figure{margin:0 0 1em}figcaption{color:var(--dim);font-size:.92em;margin-bottom:.5em}
.facts th{white-space:normal}@media screen and (max-width:700px){svg{min-width:540px}}
svg{width:100%;height:auto;display:block;font:12px system-ui,-apple-system,"Segoe UI",Roboto,Arial,sans-serif}
svg text{fill:var(--ink)}svg .tick{fill:var(--dim);font-size:11px}svg .head{font-weight:600}
svg .grid{stroke:var(--edge);stroke-width:1}svg .whisker{stroke:var(--ink);stroke-width:1.2;opacity:.75}
svg .diagonal{stroke:var(--dim);stroke-dasharray:4 4}svg .stem{stroke-width:1.6;opacity:.7}svg .path{stroke-width:1.4}
.key{display:inline-block;width:.8em;height:.8em;border-radius:2px;margin-right:.45em}
.legend{display:flex;flex-wrap:wrap;gap:.2em 1.4em;margin:0 0 .8em;font-size:.92em}
details{border:1px solid var(--edge);border-radius:6px;margin:.45em 0;background:var(--card)}
summary{cursor:pointer;padding:.5em .8em}details>div{padding:0 .8em .7em}
pre{font:12.5px/1.45 ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;background:var(--paper);border:1px solid
var(--edge);border-radius:5px;padding:.6em .7em;margin:.2em 0 .7em;white-space:pre-wrap;overflow-wrap:anywhere}
.pair{display:grid;grid-template-columns:1fr 1fr;gap:0 1em}.pair>*{min-width:0}
@media (max-width:700px){.pair{grid-template-columns:1fr}}
.tag{display:inline-block;border:1px solid var(--edge);border-radius:9px;padding:0 .6em;font-size:.85em;
color:var(--dim)}
"""
_SERIES = "".join(
    f".s{n}{{fill:var(--s{n})}}svg .s{n}.stem,svg .s{n}.path{{stroke:var(--s{n})}}.key.s{n}{{background:var(--s{n})}}"
    for n in range(1, 9)
)


def document(title: str, body: Iterable[str]) -> str:
    """A whole page. `body`: HTML that is already safe."""
    policy = "default-src 'none'; style-src 'unsafe-inline'"
    return (
        f'<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        f'<meta name="viewport" content="width=device-width,initial-scale=1">\n<title>{esc(title)}</title>\n'
        f"<style>{_STYLE}{_SERIES}</style>\n</head>\n<body>\n{chr(10).join(part for part in body if part)}\n</body>\n"
        "</html>\n"
    )


def table(head: Sequence[str], rows: Iterable[Sequence[str]], numbers: frozenset[int] | set[int] = frozenset()) -> str:
    """A table. Cells are HTML that is already safe; `numbers` lists the right-aligned columns."""

    def cells(tag: str, values: Sequence[str]) -> str:
        styled = ((' class="n"' if place in numbers else "", value) for place, value in enumerate(values))
        return "".join(f"<{tag}{style}>{value}</{tag}>" for style, value in styled)

    lines = "".join(f"<tr>{cells('td', row)}</tr>" for row in rows)
    return f'<div class="scroll"><table><thead><tr>{cells("th", head)}</tr></thead><tbody>{lines}</tbody></table></div>'


def figure(caption: str, drawing: str) -> str:
    """A chart with its caption; on a narrow screen it scrolls instead of shrinking."""
    text = f"<figcaption>{esc(caption)}</figcaption>" if caption else ""
    return f'<figure>{text}<div class="scroll">{drawing}</div></figure>' if drawing else ""

"""Rows as a table that fits: numbers to the right, NULL told apart from an empty text, long cells and many columns
handled.

In: column names and rows of JSON values, untrusted. Out: something rich can print. Where the columns do not fit side
by side, each row becomes a block of `name  value` lines.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from rich import box
from rich.cells import cell_len
from rich.console import Console, JustifyMethod, RenderableType
from rich.table import Table
from rich.text import Text

from agent.cli.console import printable

CELL_WIDTH = 60
"""Characters of a cell shown on a terminal."""
_NARROWEST = 8
"""A column of text is never squeezed below this, or below its content where that is shorter."""


def rows_table(console: Console, columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> RenderableType:
    """The rows, laid out for this console."""
    longest = CELL_WIDTH if console.is_terminal else None
    names = [_cut(_flat(name), longest) for name in columns]
    cells = [[_cell(value, longest) for value in row] for row in rows]
    numeric = [_is_numeric([row[index] for row in rows]) for index in range(len(names))]
    widths = _widths(names, cells, numeric, console.width - 3 * len(names) - 1)
    if widths is None:
        return _blocks(names, cells)
    table = Table(box=box.SIMPLE_HEAD if console.is_terminal else box.ASCII2)
    for name, is_numeric, width in zip(names, numeric, widths, strict=True):
        justify: JustifyMethod = "right" if is_numeric else "left"
        table.add_column(Text(name), justify=justify, width=width, overflow="ellipsis", no_wrap=True)
    for row in cells:
        table.add_row(*row)
    return table


def _widths(
    names: Sequence[str], cells: Sequence[Sequence[Text]], numeric: Sequence[bool], room: int
) -> list[int] | None:
    """A width for each column so that all fit into `room`: the widest columns of text give way first, and digits are
    never cut, because a shortened number reads as another. None when they cannot fit."""
    widest = [max((row[index].cell_len for row in cells), default=0) for index in range(len(names))]
    widths = [max(content, cell_len(name)) for content, name in zip(widest, names, strict=True)]
    kinds = zip(widest, widths, numeric, strict=True)
    floors = [content if is_numeric else min(width, _NARROWEST) for content, width, is_numeric in kinds]
    if sum(floors) > room:
        return None
    while sum(widths) > room:
        spare = [width - floor for width, floor in zip(widths, floors, strict=True)]
        index = max(range(len(widths)), key=lambda i: (spare[i] > 0, widths[i]))
        widths[index] -= 1
    return widths


def rows_shown(shown: int, returned: int, truncated: bool) -> str:
    """`12 rows`, `20 of 3,401 rows shown`, or `20 of more than 10,000 rows shown`."""
    noun = "row" if returned == 1 and not truncated else "rows"
    total = f"more than {returned:,}" if truncated else f"{returned:,}"
    return f"{total} {noun}" if shown == returned and not truncated else f"{shown:,} of {total} {noun} shown"


def _cell(value: Any, longest: int | None) -> Text:
    if value is None:
        return Text("NULL", style="dim italic")
    if isinstance(value, bool):
        return Text("true" if value else "false")
    if isinstance(value, float):
        exact = repr(value)
        return Text(exact if len(exact) <= 15 else f"{value:.12g}")
    if isinstance(value, int):
        return Text(str(value))
    if isinstance(value, dict) and "$blob" in value:
        return Text(f"<{value.get('size', '?')} bytes>", style="dim")
    if isinstance(value, (dict, list)):
        value = json.dumps(value, ensure_ascii=False)
    text = _cut(_flat(str(value)), longest)
    return Text(f"'{text}'" if text == "NULL" else text)


def _flat(text: str) -> str:
    return printable(text.replace("\r\n", "⏎").replace("\n", "⏎").replace("\t", "  "))


def _cut(text: str, longest: int | None) -> str:
    return text if longest is None or len(text) <= longest else text[: longest - 1] + "…"


def _is_numeric(values: Sequence[Any]) -> bool:
    present = [v for v in values if v is not None]
    return bool(present) and all(isinstance(v, (int, float)) and not isinstance(v, bool) for v in present)


def _blocks(names: Sequence[str], cells: Sequence[Sequence[Text]]) -> RenderableType:
    width = max(cell_len(name) for name in names)
    text = Text()
    for number, row in enumerate(cells, 1):
        text.append(f"─ row {number} ─\n", style="dim")
        for name, cell in zip(names, row, strict=True):
            text.append(name + " " * (width - cell_len(name)), style="bold").append("  ").append_text(cell).append("\n")
    text.rstrip()
    return text

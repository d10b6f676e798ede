"""The sheets of an Excel workbook as CSV files, which are then imported like any other.

In: an uploaded .xlsx file. Out: a CSV file for each sheet that holds rows. Formulas count by the value that
Excel stored; one without is `NEVER_COMPUTED`. Runs in the process for uploads, whose memory, time and file sizes
are bounded.
"""

from __future__ import annotations

import csv
import datetime as dt
import re
import zipfile
from contextlib import closing
from pathlib import Path
from typing import Any

from agent.sources import SourceRefused, SourceTooLarge
from agent.sources.tabular.columns import NEVER_COMPUTED
from agent.sources.tabular.notation import CURRENCY_OF, KNOWN
from agent.sources.tabular.stage import Bounds

MAX_SHEETS = 200
MAX_CELL = 32_767
"""Characters, as in Excel itself; a longer cell is a packed bomb."""
_CURRENCY = re.compile(r"\[\$([^\]\s0-9-]{1,4})|([$£€¥₹])")
"""What a number format says of a currency: `[$€-407]`, `"£"#,##0.00`."""
_SPANS = {"[h": ("h", 3600), "[m": ("min", 60), "[s": ("s", 1)}
"""In what a duration is counted, by its format: `[h]:mm`."""
_BARE = re.compile(
    rb'<(?:\w+:)?c r="([A-Z]{1,3})([0-9]{1,7})"[^>]{0,200}>\s*<(?:\w+:)?f(?:[^>]{0,300}/>|[^>]{0,300}>[^<]{0,9000}'
    rb"</(?:\w+:)?f>)\s*(?:<(?:\w+:)?v\s*/>|<(?:\w+:)?v></(?:\w+:)?v>)?\s*</(?:\w+:)?c>"
)
"""A cell with a formula and no value."""


def sheets_as_csv(path: Path, name: str, folder: Path, bounds: Bounds) -> list[tuple[Path, str]]:
    """(file, name of its table) for each sheet. Raises SourceRefused, SourceTooLarge."""
    from openpyxl import load_workbook

    try:
        with path.open("rb") as file, closing(load_workbook(file, read_only=True, data_only=True)) as book:
            if len(book.worksheets) > MAX_SHEETS:
                raise SourceTooLarge(f"the workbook has more than {MAX_SHEETS} sheets")
            written: list[tuple[Path, str]] = []
            for number, sheet in enumerate(book.worksheets):
                target = folder / f"{path.name}-sheet{number}.csv"
                if _written(book, sheet, target, bounds):
                    written.append((target, sheet.title))
    except (zipfile.BadZipFile, KeyError, ValueError, TypeError, AttributeError) as error:
        raise SourceRefused(
            f"the file is a ZIP, but no Excel workbook that can be read ({type(error).__name__}): unpack it first"
        ) from None
    if not written:
        raise SourceRefused("the workbook contains no rows")
    return [(written[0][0], Path(name).stem)] if len(written) == 1 else written


def _written(book: Any, sheet: Any, target: Path, bounds: Bounds) -> int:
    """Write a sheet with its blank rows, so that rows keep their numbers; returns how many hold anything. The range
    that a sheet declares is not believed."""
    sheet.reset_dimensions()
    bare = _never_computed(book, sheet)
    count, blank = 0, 0
    with target.open("w", encoding="utf-8", newline="") as file:
        out = csv.writer(file)
        for number, row in enumerate(sheet.iter_rows(max_col=bounds.columns + 1), 1):
            cells = [NEVER_COMPUTED if (number, at) in bare else _text(cell) for at, cell in enumerate(row, 1)]
            while cells and cells[-1] == "":
                cells.pop()
            if not cells:
                blank += 1
                continue
            if count and blank:
                file.write("\r\n" * blank)
            blank = 0
            out.writerow(cells)
            count += 1
            bounds.check(count - 1, len(cells))
    return count


def _never_computed(book: Any, sheet: Any) -> set[tuple[int, int]]:
    """(row, column) of formulas without a stored value, as programs write them that compute nothing."""
    from openpyxl.utils import column_index_from_string

    cells: list[tuple[bytes, bytes]] = []
    rest = b""
    with book._archive.open(sheet._worksheet_path) as xml:
        while len(cells) < 1_000_000 and (piece := xml.read(1 << 20)):
            text = rest + piece
            end = max(text.rfind(b"<c "), text.rfind(b":c "), 0)
            text, rest = (text[:end], text[end:]) if end and len(text) - end < MAX_CELL else (text, b"")
            cells += _BARE.findall(text)
    cells += _BARE.findall(rest)
    return {(int(row), column_index_from_string(column.decode())) for column, row in cells}


def _text(cell: Any) -> str:
    """A cell as a person sees it, in full: ISO dates, durations with their unit, numbers with what their format puts
    beside them. Errors such as #N/A are empty."""
    value = cell.value
    if value is None or cell.data_type == "e":
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    look = cell.number_format or ""
    if isinstance(value, dt.datetime):
        has_clock = "h" in look.lower() or value.time() != dt.time.min
        return value.isoformat(" ", "seconds") if has_clock else value.date().isoformat()
    if isinstance(value, dt.timedelta):
        unit, seconds = next((u for mark, u in _SPANS.items() if mark in look.lower()), ("h", 3600))
        return f"{_plain(round(value.total_seconds() / seconds, 9))} {unit}"
    if not isinstance(value, (int, float)):
        text = str(value)
        if len(text) > MAX_CELL:
            raise SourceTooLarge(f"a cell holds {len(text):,} characters; Excel takes {MAX_CELL:,}")
        return text
    if "%" in look:
        return f"{_plain(round(value * 100, 10))}%"
    currency = _CURRENCY.search(look)
    return f"{currency[1] or currency[2]}{_plain(value)}" if currency else _with_literals(value, look)


def _with_literals(value: float, look: str) -> str:
    """A number as its format shows it, where that makes a code of it (`00000`, `"INV-"0000`, `000-00-0000`) or names
    its unit (`0.0" kg"`)."""
    section = re.sub(r"\[[^\]]*\]|[_*].", "", look.partition(";")[0])
    parts = re.findall(r'"[^"]*"|\\.|[0#?.,]+|.', section)
    holds = ["".join(part) if re.fullmatch(r"[0#?.,]+", part) else "" for part in parts]
    places = [at for at, digits in enumerate(holds) if digits]
    shown = "".join(holds)
    if not places or re.search("[0#?]E[+-]", section) or "General" in section or len(section) > 100:
        return _plain(value)
    literal = [part.strip('"') if part[0] == '"' else part[-1] for part in parts]
    before, behind = "".join(literal[: places[0]]).strip(), "".join(literal[places[-1] + 1 :]).strip()
    if behind and (behind.lower() in KNOWN or behind.lower() in CURRENCY_OF) and not shown.endswith(","):
        return f"{_plain(value)} {behind}"
    if before.lower() in CURRENCY_OF:
        return f"{before} {_plain(value)}"
    whole = float(value).is_integer() and value >= 0 and not set(shown) & {".", ",", "?"}
    if not whole or not (len(places) > 1 or shown.startswith("00") or any(c.isalpha() for c in before)):
        return _plain(value)
    left, text = str(int(value)).zfill(shown.count("0") if len(places) == 1 else len(shown)), ""
    for at in reversed(range(len(parts))):  # the first place has all figures that the others leave
        size = len(left) if at == places[0] else len(holds[at])
        text = (left[len(left) - size :] if holds[at] else literal[at]) + text
        left = left[: len(left) - size]
    return text.strip()


def _plain(value: float) -> str:
    return str(int(value)) if float(value).is_integer() and abs(value) < 1e15 else repr(value)

"""The sheets of an Excel workbook as CSV files, which are then imported like any other.

In: an uploaded .xlsx file. Out: a CSV file for each sheet that holds rows. Formulas count by the value that
Excel stored. Runs in the process for uploads, whose memory, time and file sizes are bounded.
"""

from __future__ import annotations

import csv
import datetime as dt
import re
import zipfile
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path
from typing import Any

from agent.sources.errors import SourceRefused, SourceTooLarge
from agent.sources.tabular.stage import Bounds

MAX_SHEETS = 200
MAX_CELL = 32_767
"""Characters, as in Excel itself; a longer cell is a packed bomb."""
_CURRENCY = re.compile(r"\[\$([^\]\s0-9-]{1,4})|([$£€¥₹])")
"""What a number format says of a currency: `[$€-407]`, `"£"#,##0.00`."""


def sheets_as_csv(path: Path, name: str, folder: Path, bounds: Bounds) -> list[tuple[Path, str]]:
    """(file, name of its table) for each sheet. Raises SourceRefused, SourceTooLarge."""
    try:
        from openpyxl import load_workbook
    except ImportError:
        raise SourceRefused("Excel files need openpyxl: pip install openpyxl") from None
    try:
        with path.open("rb") as file, closing(load_workbook(file, read_only=True, data_only=True)) as book:
            if len(book.worksheets) > MAX_SHEETS:
                raise SourceTooLarge(f"the workbook has more than {MAX_SHEETS} sheets")
            written: list[tuple[Path, str]] = []
            for number, sheet in enumerate(book.worksheets):
                target = folder / f"{path.name}-sheet{number}.csv"
                if _written(sheet.iter_rows(max_col=bounds.columns + 1), target, bounds):
                    written.append((target, sheet.title))
    except (zipfile.BadZipFile, KeyError, ValueError, TypeError, AttributeError) as error:
        raise SourceRefused(
            f"the file is a ZIP, but no Excel workbook that can be read ({type(error).__name__}): unpack it first"
        ) from None
    if not written:
        raise SourceRefused("the workbook contains no rows")
    if len(written) == 1:
        return [(written[0][0], Path(name).stem)]
    return written


def _written(rows: Iterable[Iterable[Any]], target: Path, bounds: Bounds) -> int:
    """Write a sheet with its blank rows, so that rows keep their numbers; returns how many hold anything."""
    count, blank = 0, 0
    with target.open("w", encoding="utf-8", newline="") as file:
        out = csv.writer(file)
        for row in rows:
            cells = _cells(row)
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


def _cells(row: Iterable[Any]) -> list[str]:
    """The cells of a row, without the empty ones behind its last value."""
    cells = [_text(cell) for cell in row]
    while cells and cells[-1] == "":
        cells.pop()
    return cells


def _text(cell: Any) -> str:
    """A cell as a person sees it, in full: ISO dates, numbers with their percent sign or currency. Errors such as #N/A
    are empty."""
    value = cell.value
    if value is None or cell.data_type == "e":
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, dt.datetime):
        has_clock = "h" in (cell.number_format or "").lower() or value.time() != dt.time.min
        return value.isoformat(" ", "seconds") if has_clock else value.date().isoformat()
    if not isinstance(value, (int, float)):
        text = str(value)
        if len(text) > MAX_CELL:
            raise SourceTooLarge(f"a cell holds {len(text):,} characters; Excel takes {MAX_CELL:,}")
        return text
    look = cell.number_format or ""
    if "%" in look:
        return f"{_plain(round(value * 100, 10))}%"
    currency = _CURRENCY.search(look)
    return f"{(currency[1] or currency[2]) if currency else ''}{_plain(value)}"


def _plain(value: float) -> str:
    return str(int(value)) if float(value).is_integer() and abs(value) < 1e15 else repr(value)

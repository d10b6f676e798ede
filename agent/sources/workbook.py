"""The sheets of an Excel workbook as CSV files, which are then imported like any other.

In: an uploaded .xlsx file. Out: a CSV file for each sheet that holds rows, and notes. Formulas count by the value that
Excel stored. Runs in the process for uploads, whose memory, time and file sizes are bounded.
"""

from __future__ import annotations

import csv
import datetime as dt
import zipfile
from collections.abc import Iterable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

from agent.sources.errors import SourceRefused, SourceTooLarge
from eval.language.inflection import counted

MAX_SHEETS = 200


def sheets_as_csv(
    path: Path, name: str, folder: Path, *, max_rows: int, max_columns: int
) -> tuple[list[tuple[Path, str]], list[str]]:
    """(file, name of its table) for each sheet, and notes. Raises SourceRefused, SourceTooLarge."""
    try:
        from openpyxl import load_workbook
    except ImportError:
        raise SourceRefused("Excel files need openpyxl: pip install 'text2sql[excel]'") from None
    try:
        with path.open("rb") as file, closing(load_workbook(file, read_only=True, data_only=True)) as book:
            if len(book.worksheets) > MAX_SHEETS:
                raise SourceTooLarge(f"the workbook has more than {MAX_SHEETS} sheets")
            written: list[tuple[Path, str]] = []
            notes: list[str] = []
            for number, sheet in enumerate(book.worksheets):
                target = folder / f"{path.name}-sheet{number}.csv"
                rows, skipped = _written(sheet.iter_rows(max_col=max_columns + 1), target, max_rows, max_columns)
                if rows:
                    written.append((target, sheet.title))
                if rows and skipped:
                    notes.append(f"{sheet.title}: {counted(skipped, 'row')} above the table left out")
    except (zipfile.BadZipFile, KeyError, ValueError, TypeError, AttributeError) as error:
        raise SourceRefused(
            f"the file is a ZIP, but no Excel workbook that can be read ({type(error).__name__}): unpack it first"
        ) from None
    if not written:
        raise SourceRefused("the workbook contains no rows")
    if len(written) == 1:
        return [(written[0][0], name)], notes
    return [(file, f"{title}.csv") for file, title in written], notes


def _written(rows: Iterable[Iterable[Any]], target: Path, max_rows: int, max_columns: int) -> tuple[int, int]:
    """Write a sheet; returns its rows, and how many rows above its table were left out (titles of one cell)."""
    count, skipped, first = 0, 0, [""]
    with target.open("w", encoding="utf-8", newline="") as file:
        out = csv.writer(file)
        for cells in _filled(rows):
            if count == 1 and _cells(first) == 1 < _cells(cells):
                file.seek(0)
                file.truncate()
                count, skipped = 0, skipped + 1
            if len(cells) > max_columns:
                raise SourceTooLarge(f"the sheet has more than {max_columns:,} columns")
            out.writerow(cells)
            first = cells if count == 0 else first
            count += 1
            if count > max_rows + 1:
                raise SourceTooLarge(f"the sheet has more than {max_rows:,} rows")
    return count, skipped


def _cells(row: list[str]) -> int:
    return sum(cell != "" for cell in row)


def _filled(rows: Iterable[Iterable[Any]]) -> Iterator[list[str]]:
    """The rows that hold anything, without the empty cells behind their last value."""
    for row in rows:
        cells = [_text(cell) for cell in row]
        while cells and cells[-1] == "":
            cells.pop()
        if cells:
            yield cells


def _text(cell: Any) -> str:
    """A cell as the import reads it: ISO dates, plain numbers. Errors such as #N/A are empty."""
    value = cell.value
    if value is None or cell.data_type == "e":
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, dt.datetime):
        has_clock = "h" in (cell.number_format or "").lower() or value.time() != dt.time.min
        return value.isoformat(" ", "seconds") if has_clock else value.date().isoformat()
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    return str(value)

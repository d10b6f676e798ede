"""Results as XLSX: one sheet, written row by row to a temporary file that is sent when it is complete.

Texts are written as texts, never as formulas or links. What a spreadsheet cannot hold exactly is written as text: int
and Decimal beyond 15 digits, NaN and infinities, dates before 1900, times with a zone. A text of more than 32,767
characters is cut; a sheet named `notes` then says so, as it does for a truncated result.
"""

from __future__ import annotations

import math
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

from agent.results.delimited import Batches, text_of
from agent.results.result_errors import BadRequest, ExtraMissing
from eval.databases.types import Value
from eval.databases.values import json_value

MAX_ROWS = 1_048_576
MAX_COLUMNS = 16_384
_MAX_TEXT = 32_767
_CHUNK = 256 * 1024


def check_size(rows: int, columns: int) -> None:
    """Raises BadRequest when the result is too large for a sheet, ExtraMissing without the package."""
    if rows + 1 > MAX_ROWS or columns > MAX_COLUMNS:
        raise BadRequest(
            f"an XLSX sheet holds {MAX_ROWS:,} rows with its header and {MAX_COLUMNS:,} columns, and this result has "
            f"{rows:,} rows and {columns:,} columns: filter it, or export CSV or Parquet"
        )
    try:
        import xlsxwriter  # noqa: F401
    except ImportError:
        raise ExtraMissing("XLSX needs an optional package: pip install 'askwell[export]'") from None


def xlsx_chunks(names: Sequence[str], batches: Batches, *, truncated: bool, folder: Path) -> Iterator[bytes]:
    """The workbook's chunks. While it is written, each batch yields an empty chunk, at which the caller can stop."""
    import xlsxwriter

    with (
        tempfile.TemporaryDirectory(prefix=".xlsx-", dir=folder) as aside,
        tempfile.TemporaryFile(dir=aside) as file,
        ExitStack() as end,
    ):
        book = xlsxwriter.Workbook(
            file,
            {
                "constant_memory": True,
                "tmpdir": aside,
                "strings_to_formulas": False,
                "strings_to_urls": False,
                "strings_to_numbers": False,
                "nan_inf_to_errors": False,
            },
        )
        end.callback(lambda: [one.row_data_fh.close() for one in book.worksheets()])  # for readers that leave early
        sheet = book.add_worksheet("result")
        sheet.freeze_panes(1, 0)
        write = _Writer(book, sheet)
        bold = book.add_format({"bold": True})
        for i, name in enumerate(names):
            sheet.write_string(0, i, str(json_value(name))[:_MAX_TEXT], bold)
        row = 1
        for columns in batches:
            for cells in zip(*columns, strict=True):
                for i, cell in enumerate(cells):
                    if cell is not None:
                        write(row, i, cell)
                row += 1
            yield b""
        notes = [f"{write.cut:,} texts were cut at {_MAX_TEXT:,} characters."] if write.cut else []
        notes += ["The result was truncated at a limit: the query has more rows or longer values."] if truncated else []
        if notes:
            about = book.add_worksheet("notes")
            for i, note in enumerate(notes):
                about.write_string(i, 0, note)
        yield b""
        book.close()
        file.seek(0)
        while chunk := file.read(_CHUNK):
            yield chunk


class _Writer:
    """Writes one cell by its type."""

    def __init__(self, book: Any, sheet: Any) -> None:
        self.cut = 0
        self._sheet = sheet
        self._day = book.add_format({"num_format": "yyyy-mm-dd"})
        self._moment = book.add_format({"num_format": "yyyy-mm-dd hh:mm:ss"})

    def __call__(self, row: int, column: int, cell: Value) -> None:
        kind = type(cell)
        if kind is str:
            self._string(row, column, str(json_value(cell)))
        elif kind is bool:
            self._sheet.write_boolean(row, column, cell)
        elif isinstance(cell, (int, float, Decimal)) and _is_exact(cell):
            self._sheet.write_number(row, column, cell)
        elif isinstance(cell, datetime) and cell.tzinfo is None and cell.year >= 1900:
            self._sheet.write_datetime(row, column, cell, self._moment)
        elif isinstance(cell, date) and not isinstance(cell, datetime) and cell.year >= 1900:
            self._sheet.write_datetime(row, column, cell, self._day)
        else:
            self._string(row, column, text_of(cell))

    def _string(self, row: int, column: int, text: str) -> None:
        if len(text) > _MAX_TEXT:
            text = text[:_MAX_TEXT]
            self.cut += 1
        self._sheet.write_string(row, column, text)


def _is_exact(number: int | float | Decimal) -> bool:
    if isinstance(number, float):
        return math.isfinite(number)
    if isinstance(number, int):
        return -(10**15) < number < 10**15
    return number.is_finite() and len(number.as_tuple().digits) <= 15

"""A whole kept result as a file to download: CSV, JSON lines, XLSX or Parquet, chunk by chunk.

In: a `KeptResult`, a format, an order and filters as for a page. Out: bytes as they are produced, with memory bounded
by one batch. Formats that need seeking are first written to a temporary file in the result's private folder. A result
that cannot be exported is refused before the first byte. Columns that share a name are numbered (`name`, `name_2`) in
JSON lines and Parquet, whose readers look columns up by name.
"""

from __future__ import annotations

import json
import math
import re
import tempfile
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import ExitStack, closing
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any, Literal

from agent.results.cells import ColumnFacts
from agent.results.pages import Filter, Sort, count_rows, selection
from agent.results.result_errors import BadRequest, ExtraMissing
from agent.results.store import KeptResult
from eval.databases.types import Value
from eval.databases.values import interval_text, json_value

Format = Literal["csv", "jsonl", "xlsx", "parquet"]

MEDIA_TYPES: dict[Format, str] = {
    "csv": "text/csv; charset=utf-8",
    "jsonl": "application/x-ndjson",
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    "parquet": "application/vnd.apache.parquet",
}
MAX_ROWS = 1_048_576
MAX_COLUMNS = 16_384
"""Of an XLSX sheet."""
_MAX_TEXT = 32_767
"""Characters of its cells."""
_CHUNK = 256 * 1024
Batches = Iterator[list[Sequence[Value]]]


def export(
    result: KeptResult,
    file_format: Format,
    *,
    sort: Sequence[Sort] = (),
    filters: Sequence[Filter] = (),
    bom: bool = False,
    guard_formulas: bool = False,
) -> Generator[bytes]:
    """Start an export; `bom` and `guard_formulas` are for CSV. Blocks, and so do its chunks: iterate them in a thread.
    Empty ones mean that the work is still in progress. Closing them stops it and removes the temporary file.

    Raises BadRequest (too many rows for XLSX, a column that does not exist), ExtraMissing, ResultGone.
    """
    names = [facts.name for facts in result.columns]
    if file_format == "xlsx":
        chosen = selection(result.columns, result.exact, sort, filters)
        with result.opened() as file:
            _check_sheet(count_rows(file, chosen, result.row_count, counted=result.row_count)[0], len(names))
    elif file_format == "parquet":
        try:
            import pyarrow.parquet  # noqa: F401
        except ImportError:
            raise ExtraMissing("Parquet needs an optional package: pip install 'askwell[export]'") from None
    rows = result.batches(sort, filters, 20_000 if file_format == "parquet" else 2000)

    def chunks() -> Generator[bytes]:
        with closing(rows):  # type: ignore[type-var]
            if file_format == "csv":
                yield from csv_chunks(names, rows, bom=bom, guard_formulas=guard_formulas)
            elif file_format == "jsonl":
                yield from json_chunks(names, rows)
            elif file_format == "xlsx":
                yield from xlsx_chunks(names, rows, truncated=result.truncated, folder=result.folder)
            else:
                yield from parquet_chunks(result.columns, rows, folder=result.folder)

    return chunks()


# CSV follows RFC 4180: UTF-8, CRLF, a header row. NULL is an empty field and an empty text is `""`, as in
# PostgreSQL's COPY; in a file with one column, NULL is an empty line. Numbers, dates and booleans are written as in
# JSON, bytes as `\x` and hex, lists and dicts as JSON. For spreadsheets, `guard_formulas` puts an apostrophe before a
# text that would be read as a formula: one that starts with = + - @ or their full-width forms, also behind blanks and
# marks that a spreadsheet skips, and one that starts with a tab or the end of a line. This changes the data, so it is
# off by default.

_QUOTED = re.compile(r'[",\r\n]|^$|^[ \t]|[ \t]$').search
_FORMULA = re.compile(r"[\t\r\n]|[\s\x00-\x1f\u200b-\u200f\u2060\ufeff]*[=+\-@\uff1d\uff0b\uff0d\uff20]").match


def csv_chunks(names: Sequence[str], batches: Batches, *, bom: bool, guard_formulas: bool) -> Iterator[bytes]:
    """CSV of these columns, one chunk per batch; `bom` marks UTF-8 for programs that would guess otherwise (Excel)."""

    def field(text: str) -> str:
        if guard_formulas and _FORMULA(text):
            text = "'" + text
        return _quoted(text)

    yield (b"\xef\xbb\xbf" if bom else b"") + (",".join(map(field, map(_text, names))) + "\r\n").encode()
    for columns in batches:
        written = [_written(column, field) for column in columns]
        yield ("\r\n".join(map(",".join, zip(*written, strict=True))) + "\r\n").encode()


def _written(column: Sequence[Value], field: Callable[[str], str]) -> list[str]:
    types = set(map(type, column))
    if types == {int}:
        return list(map(str, column))
    if types <= {str, type(None)} and all(cell is None or cell.isascii() for cell in column):  # type: ignore[attr-defined]
        return ["" if cell is None else field(cell) for cell in column]  # type: ignore[arg-type]
    return [
        "" if cell is None else field(_text(cell)) if isinstance(cell, str) else _quoted(text_of(cell))
        for cell in column
    ]


def _quoted(text: str) -> str:
    return '"' + text.replace('"', '""') + '"' if _QUOTED(text) else text


def text_of(cell: Value) -> str:
    """A cell as text, for formats that lack its type."""
    if isinstance(cell, bool):
        return "true" if cell else "false"
    if isinstance(cell, bytes):
        return "\\x" + cell.hex()
    if isinstance(cell, Decimal):
        return format(cell, "f") if cell.is_finite() and abs(cell.adjusted()) < 1000 else str(cell)
    if isinstance(cell, (date, time)):
        return cell.isoformat()
    if isinstance(cell, timedelta):
        return interval_text(cell)
    shown = json_value(cell)
    return json.dumps(shown, ensure_ascii=False) if isinstance(shown, (list, dict)) else str(shown)


def _text(text: str) -> str:
    return str(json_value(text))


def json_chunks(names: Sequence[str], batches: Batches) -> Iterator[bytes]:
    """JSON lines, one chunk per batch; strict JSON, in the forms of `eval.databases.values`."""
    keys = [json.dumps(name, ensure_ascii=False) + ": " for name in unique_names(names)]
    encode = json.JSONEncoder(ensure_ascii=False, allow_nan=False).encode
    for columns in batches:
        written = (
            [key + encode(json_value(cell)) for cell in column] for key, column in zip(keys, columns, strict=True)
        )
        yield "".join("{" + ", ".join(row) + "}\n" for row in zip(*written, strict=True)).encode()


def unique_names(names: Sequence[str]) -> list[str]:
    """The names with repeated ones numbered: a, a_2, a_3."""
    used = set(map(_text, names))
    given: list[str] = []
    for name in map(_text, names):
        unique, number = name, 1
        while unique in given or (number > 1 and unique in used):
            number += 1
            unique = f"{name}_{number}"
        given.append(unique)
    return given


# XLSX: one sheet, written row by row to a temporary file that is sent when it is complete. Texts are written as
# texts, never as formulas or links. What a spreadsheet cannot hold exactly is written as text: int and Decimal beyond
# 15 digits, NaN and infinities, dates before 1900, times with a zone. A text of more than 32,767 characters is cut; a
# sheet named `notes` then says so, as it does for a truncated result.


def _check_sheet(rows: int, columns: int) -> None:
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


# Parquet: with types, written in row groups to a temporary file that is sent when it is complete. A column's type
# follows from all its values: int64, double, decimal, boolean, string, binary, date, timestamp in microseconds (UTC
# where all have a zone), time, duration; lists and dicts as JSON text; mixed types as text.


def parquet_chunks(facts: Sequence[ColumnFacts], batches: Batches, *, folder: Path) -> Iterator[bytes]:
    """The file's chunks. While it is written, each batch yields an empty chunk, at which the caller can stop."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    columns = [_stored_as(f) for f in facts]
    names = unique_names([f.name for f in facts])
    schema = pa.schema([(name, kind) for name, (kind, _) in zip(names, columns, strict=True)])
    with tempfile.TemporaryFile(prefix=".parquet-", dir=folder) as file:
        with pq.ParquetWriter(file, schema, compression="snappy") as writer:
            for batch in batches:
                arrays = []
                for (kind, convert), cells in zip(columns, batch, strict=True):
                    converted = [None if c is None else convert(c) for c in cells] if convert else cells
                    arrays.append(pa.array(converted, type=kind))
                writer.write_batch(pa.record_batch(arrays, schema=schema))
                yield b""
        file.seek(0)
        while chunk := file.read(_CHUNK):
            yield chunk


def _stored_as(facts: ColumnFacts) -> tuple[Any, Callable[[Value], Any] | None]:
    """A column's type, and what converts its values to it."""
    import pyarrow as pa

    types = set(facts.types)
    simple = {
        "bool": pa.bool_(),
        "float": pa.float64(),
        "bytes": pa.binary(),
        "date": pa.date32(),
        "time": pa.time64("us"),
        "timedelta": pa.duration("us"),
    }
    if len(types) == 1 and facts.types[0] in simple:
        return simple[facts.types[0]], None
    if types == {"datetime"} and facts.zoned is not None:  # else some have a zone, and some have none
        return pa.timestamp("us", tz="UTC" if facts.zoned else None), _in_utc if facts.zoned else None
    if types == {"int"} and facts.digits <= 18:
        return pa.int64(), None
    if types and types <= {"int", "Decimal"} and facts.digits + facts.scale <= 76:
        kind = pa.decimal128 if facts.digits + facts.scale <= 38 else pa.decimal256
        return kind(max(1, facts.digits + facts.scale), facts.scale), _decimal
    if types and types <= {"int", "float"} and facts.digits <= 15:
        return pa.float64(), float  # type: ignore[return-value]
    return pa.string(), text_of


def _decimal(cell: Value) -> Decimal | None:
    number = Decimal(cell) if isinstance(cell, (int, Decimal)) else None
    return number if number is not None and number.is_finite() else None


def _in_utc(cell: Value) -> Any:
    return cell.astimezone(UTC) if isinstance(cell, datetime) else cell

"""Results as CSV and JSON lines, batch by batch.

CSV follows RFC 4180: UTF-8, CRLF, a header row. NULL is an empty field and an empty text is `""`, as in PostgreSQL's
COPY; in a file with one column, NULL is an empty line. Numbers, dates and booleans are written as in JSON, bytes as
`\\x` and hex, lists and dicts as JSON. For spreadsheets, `guard_formulas` puts an apostrophe before a text that would
be read as a formula: one that starts with = + - @ or their full-width forms, also behind blanks and marks that a
spreadsheet skips, and one that starts with a tab or the end of a line. This changes the data, so it is off by default.

A JSON line is an object; columns that share a name are numbered (`name`, `name_2`).
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from datetime import date, time, timedelta
from decimal import Decimal

from eval.databases.types import Value
from eval.databases.values import interval_text, json_value

_QUOTED = re.compile(r'[",\r\n]|^$|^[ \t]|[ \t]$').search
_FORMULA = re.compile(r"[\t\r\n]|[\s\x00-\x1f\u200b-\u200f\u2060\ufeff]*[=+\-@\uff1d\uff0b\uff0d\uff20]").match
Batches = Iterator[list[Sequence[Value]]]


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

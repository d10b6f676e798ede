"""One checksum for the same content on every engine.

In: tables and their rows, generated or read back from an engine. Out: SHA-256 over a canonical text: rows sorted, money
with two decimals, flags as 0 and 1, dates and moments as ISO text, NULL apart from the empty text.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from datetime import datetime
from decimal import Decimal

from eval.tasks.definition import TableDef


def checksum(filled: Iterable[tuple[TableDef, Iterable[Sequence[object]]]]) -> str:
    """SHA-256 (hex) of definitions and rows; the order of rows within a table does not matter."""
    digest = hashlib.sha256()
    for definition, rows in filled:
        digest.update(repr(asdict(definition)).encode())
        kinds = [column.type for column in definition.table.columns]
        for line in sorted("\t".join(map(_cell, row, kinds)) for row in rows):
            digest.update(line.encode() + b"\n")
    return digest.hexdigest()


def _cell(value: object, kind: str) -> str:
    if value is None:
        return "\\N"
    if kind.startswith("DECIMAL"):
        return f"{value:.2f}" if isinstance(value, int | float | Decimal) else str(value)
    if isinstance(value, datetime):
        return value.isoformat(sep=" ")
    if isinstance(value, bool):
        return str(int(value))
    return str(value).replace("\\", "\\\\").replace("\n", "\\n").replace("\t", "\\t")

"""A checksum that is the same for the same content on every engine.

In: tables and their rows, generated or read back from an engine. Out: SHA-256 over a canonical text: rows sorted, money
with two decimals, flags as 0 and 1, dates and timestamps as ISO text, NULL distinct from the empty text.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from datetime import datetime
from decimal import Decimal

from eval.tasks.archive import TableDef


def checksum(filled: Iterable[tuple[TableDef, Iterable[Sequence[object]]]]) -> str:
    """SHA-256 (hex) of definitions and rows; the order of rows within a table does not matter."""
    digest = hashlib.sha256()
    for definition, rows in filled:
        digest.update(repr(_shape(definition)).encode())
        kinds = [column.type for column in definition.table.columns]
        for line in sorted("\t".join(map(_cell, row, kinds)) for row in rows):
            digest.update(line.encode() + b"\n")
    return digest.hexdigest()


def _shape(definition: TableDef) -> tuple[object, ...]:
    """The parts of a definition that reach the database, field by field. A new field elsewhere must not change
    checksums."""
    table = definition.table
    return (
        table.name,
        table.comment,
        [(column.name, column.type, column.nullable, column.comment) for column in table.columns],
        table.primary_key,
        [(key.columns, key.ref_table, key.ref_columns) for key in table.foreign_keys],
        [(index.name, index.columns, index.unique) for index in table.indexes],
        definition.checks,
    )


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

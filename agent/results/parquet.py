"""Results as Parquet with their types, written in row groups to a temporary file that is sent when it is complete.

A column's type follows from all its values: int64, double, decimal, boolean, string, binary, date, timestamp in
microseconds (UTC where all have a zone), time, duration; lists and dicts as JSON text; mixed types as text. Columns
that share a name are numbered, because most readers look columns up by name.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

from agent.results.delimited import Batches, text_of, unique_names
from agent.results.facts import ColumnFacts
from agent.results.result_errors import ExtraMissing
from eval.databases.types import Value

BATCH_ROWS = 20_000
_CHUNK = 256 * 1024


def check_installed() -> None:
    """Raises ExtraMissing without the package."""
    try:
        import pyarrow.parquet  # noqa: F401
    except ImportError:
        raise ExtraMissing("Parquet needs an optional package: pip install 'askwell[export]'") from None


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

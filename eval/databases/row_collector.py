"""Collect rows from an engine for the caller, within the caps on rows, bytes and cells.

In: rows one by one, as the driver yields them. Out: batches of the rows kept, with every cell one of the plain Python
types that `types.Value` lists, and whether anything was cut.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import date, datetime, time, timedelta
from decimal import Decimal

from eval.databases.types import Limits, Value

_FIXED_SIZE: dict[type, int] = {  # rough sizes as JSON; no engine here has an int of more than 128 bits
    type(None): 4,
    bool: 5,
    int: 8,
    float: 12,
    date: 12,
    datetime: 28,
    time: 10,
    timedelta: 12,
}
_PER_ROW = 2


class RowCollector:
    """Takes rows until they end or a cap is reached."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._batch: list[tuple[Value, ...]] = []
        self.clear()

    def clear(self) -> None:
        """Start again, for a statement that is run a second time."""
        self._batch.clear()
        self.bytes = 0
        """Bytes of all rows so far, roughly as JSON."""
        self.rows = 0
        self.truncated = False
        self.ended = False
        """True when there are no more rows, or a cap was reached."""

    def next_batch(self, rows: Iterator[Sequence[object]], most_rows: int, most_bytes: int) -> list[tuple[Value, ...]]:
        """The next rows: at most `most_rows`, and not many more than `most_bytes`."""
        limits, fixed_sizes, batch = self._limits, _FIXED_SIZE, self._batch
        before = self.bytes
        for row in rows:
            if self.rows >= limits.rows:
                self.truncated = self.ended = True
                break
            size = _PER_ROW
            for cell in row:
                fixed = fixed_sizes.get(type(cell))
                if fixed is not None:
                    size += fixed
                elif type(cell) is str and len(cell) <= limits.cell_bytes:
                    size += len(cell) + 3
                else:  # the row holds a value that must be cut or converted
                    size, row = self._converted(row)
                    break
            if self.bytes + size > limits.bytes:
                self.truncated = self.ended = True
                break
            self.bytes += size
            self.rows += 1
            batch.append(row if type(row) is tuple else tuple(row))
            if len(batch) >= most_rows or self.bytes - before >= most_bytes:
                break
        else:
            self.ended = True
        self._batch = []
        return batch

    def _converted(self, row: Sequence[object]) -> tuple[int, tuple[Value, ...]]:
        """The row's size and the row with each cell a plain value within the limit."""
        size, cells = _PER_ROW, []
        for cell in row:
            if type(cell) not in _FIXED_SIZE:
                cell = plain_value(cell)
                if isinstance(cell, (str, bytes)) and len(cell) > self._limits.cell_bytes:
                    cell = cell[: self._limits.cell_bytes]
                    self.truncated = True
            fixed = _FIXED_SIZE.get(type(cell))
            size += len(cell) + 3 if isinstance(cell, (str, bytes)) else (fixed or len(str(cell)))
            cells.append(cell)
        return size, tuple(cells)


def plain_value(value: object) -> Value:
    """Convert a driver's own type (UUID, network address, memoryview, range) to one that `types.Value` lists."""
    if isinstance(value, (memoryview, bytearray)):
        return bytes(value)
    if isinstance(value, (bool, int, float, str, bytes, Decimal, date, time, timedelta)):
        return value
    if isinstance(value, dict):
        return {str(plain_value(k)): plain_value(v) for k, v in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [plain_value(v) for v in value]
    return None if value is None else str(value)

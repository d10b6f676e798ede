"""Rows on their way from an engine into an `ExecutionResult`, under the caps on rows, bytes and cells.

In: batches of rows as the driver yields them. Out: the rows kept, every cell one of the plain Python types that
`base.Value` lists, and whether anything was cut.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import date, datetime, time, timedelta
from decimal import Decimal

from eval.databases.base import Limits, Value

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
_BATCH = 500


class RowCollector:
    """Keeps rows until a cap is reached; `full` then tells the engine's loop to stop fetching."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._taken = 0
        self.bytes = 0
        """Bytes of all rows so far, roughly as JSON."""
        self.rows: list[tuple[Value, ...]] = []
        self.truncated = False
        self.full = False

    def fill(self, fetch: Callable[[int], Sequence[Sequence[object]]]) -> None:
        """Fetch in steps until there are no more rows or a cap is reached: one row more than may be kept."""
        while not self.full:
            batch = fetch(max(1, min(_BATCH, self._limits.rows + 1 - len(self.rows))))
            if not batch:
                return
            self.add(batch)

    def take(self) -> list[tuple[Value, ...]]:
        """The rows so far, which are then no longer kept here but still count."""
        taken, self.rows = self.rows, []
        self._taken += len(taken)
        return taken

    def clear(self) -> None:
        """Start again, for a statement that is run a second time."""
        self._taken = self.bytes = 0
        self.rows = []
        self.truncated = False
        self.full = False

    def add(self, batch: Iterable[Sequence[object]]) -> None:
        limits, fixed_sizes, rows = self._limits, _FIXED_SIZE, self.rows
        most = limits.rows - self._taken
        for row in batch:
            if len(rows) >= most:
                self.truncated = self.full = True
                return
            size = _PER_ROW
            for cell in row:
                fixed = fixed_sizes.get(type(cell))
                if fixed is not None:
                    size += fixed
                elif type(cell) is str and len(cell) <= limits.cell_bytes:
                    size += len(cell) + 3
                else:  # the row holds something to be cut or converted
                    size, row = self._converted(row)
                    break
            if self.bytes + size > limits.bytes:
                self.truncated = self.full = True
                return
            self.bytes += size
            rows.append(row if type(row) is tuple else tuple(row))

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
    """Bring a driver's own type (UUID, network address, memoryview, range) to one that `base.Value` lists."""
    if isinstance(value, (memoryview, bytearray)):
        return bytes(value)
    if isinstance(value, (bool, int, float, str, bytes, Decimal, date, time, timedelta)):
        return value
    if isinstance(value, dict):
        return {str(plain_value(k)): plain_value(v) for k, v in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [plain_value(v) for v in value]
    return None if value is None else str(value)

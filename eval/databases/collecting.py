"""Rows on their way from an engine into an `ExecutionResult`, under the caps on rows, bytes and cells.

In: batches of rows as the driver yields them. Out: the rows kept, every cell one of the plain Python types that
`base.Value` lists, and whether anything was cut.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import date, datetime, time, timedelta
from decimal import Decimal

from eval.databases.base import Limits, Value

_FIXED_SIZE: dict[type, int] = {
    type(None): 4,
    bool: 5,
    int: 8,
    float: 12,
    Decimal: 16,
    date: 12,
    datetime: 28,
    time: 10,
    timedelta: 12,
}
_PER_ROW = 2
_BATCH = 500


class RowCollector:
    """Keeps rows until a cap is reached; `full` then tells the engine's loop to stop fetching."""

    def __init__(self, limits: Limits, plain: Callable[[object], Value] | None = None) -> None:
        self._limits = limits
        self._plain = plain or plain_value
        self._bytes = 0
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

    def clear(self) -> None:
        """Start again, for a statement that is run a second time."""
        self._bytes = 0
        self.rows = []
        self.truncated = False
        self.full = False

    def add(self, batch: Iterable[Sequence[object]]) -> None:
        limits = self._limits
        for row in batch:
            if len(self.rows) >= limits.rows:
                self.truncated = self.full = True
                return
            size = _PER_ROW
            cells = []
            for cell in row:
                kind = type(cell)
                fixed = _FIXED_SIZE.get(kind)
                if fixed is None:
                    if kind is not str and kind is not bytes:
                        cell = self._plain(cell)
                    if isinstance(cell, (str, bytes)):
                        if len(cell) > limits.cell_bytes:
                            cell = cell[: limits.cell_bytes]
                            self.truncated = True
                        fixed = len(cell) + 3
                    else:
                        fixed = _FIXED_SIZE.get(type(cell)) or len(str(cell))
                elif isinstance(cell, int):
                    fixed = 1 + cell.bit_length() // 3
                size += fixed
                cells.append(cell)
            if self._bytes + size > limits.bytes:
                self.truncated = self.full = True
                return
            self._bytes += size
            self.rows.append(tuple(cells))


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

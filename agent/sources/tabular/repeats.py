"""Rows that repeat an earlier one, and values of a key that occur more than once.

In: a table as it was written, with the decisions on its columns. Out: how many rows repeat, whether a key shows that
they are no rows of their own, and the keys that have a value twice.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from agent.sources.tabular.columns import Decision
from agent.sources.tabular.sql import literal, name

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

_KEYS = 0.9
"""Part of the values of a key that must differ."""
_KEY = re.compile(r"(?i)(^|[\W_])(id|key|code|number|no|nr)$|[a-z]Id$|^id")
_CODE = r"[^ ]*[0-9][^ ]*"
"""The values of a first column that is a key whatever it is called: `T-17`, `1042`."""
_SURELY = 5
"""Different rows from which on a key is believed."""
_FEW = 0.2
"""Part of the rows up to which those that repeat are left out."""


class Repeats:
    """Of one table."""

    def __init__(
        self, engine: DuckDBPyConnection, table: str, decisions: Sequence[Decision], names: Sequence[str]
    ) -> None:
        """`names`: of the columns, empty for those that were left out."""
        self._engine, self._table, self._names = engine, name(table), names
        self._decisions = decisions
        [(rows, different)] = engine.execute(
            f"SELECT count(*), count(DISTINCT hash(t)) FROM {self._table} AS t"
        ).fetchall()
        self.rows, self.count = int(rows), int(rows) - int(different)
        self._left = self.count
        """Of those that repeat, how many the table still has."""

    def drop(self) -> None:
        if self._left:
            self._engine.execute(
                f"DELETE FROM {self._table} "
                f"WHERE rowid NOT IN (SELECT min(rowid) FROM {self._table} AS t GROUP BY hash(t))"
            )
        self.rows -= self._left
        self._left = 0

    def of_key(self) -> bool:
        """Whether a key has each of its values once when the rows that repeat are gone."""
        different = self.rows - self.count
        if different < _SURELY or self.count > _FEW * self.rows:
            return False
        return any((values, filled) == (different, self.rows) for _, filled, values in self._values(any_first=True))

    def keys(self) -> tuple[str, ...]:
        """Columns whose name and nearly all values say that they are a key, with how many of its values repeat."""
        repeated = []
        for column, filled, different in self._values(any_first=False):
            more = filled - different - self._left
            if more > 0 and different >= _KEYS * (filled - self._left):
                repeated.append(f"{column}: {more:,}")
        return tuple(repeated)

    def _values(self, *, any_first: bool) -> Iterator[tuple[str, int, int]]:
        """(column, filled cells, different values) of those that may be keys; the first one also by its values."""
        for i, (decision, column) in enumerate(zip(self._decisions, self._names, strict=True)):
            if not column or decision.type in ("DOUBLE", "BOOLEAN") or decision.date is not None:
                continue
            cell = name(column)
            filled = f"count({cell})"
            if not _KEY.search(decision.plan.header):
                if i or not any_first:
                    continue
                filled += f" FILTER (regexp_full_match({cell}::VARCHAR, {literal(_CODE)}))"
            [(cells, different)] = self._engine.execute(
                f"SELECT {filled}, count(DISTINCT {cell}) FROM {self._table}"
            ).fetchall()
            yield column, int(cells), int(different)

"""Rows that repeat an earlier one, and values of a key that occur more than once.

In: a table as it was written, with the decisions on its columns. Out: how many rows repeat, whether a key shows that
they are no rows of their own, and the keys that have a value twice.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from duckdb import DuckDBPyConnection

from agent.sources.tabular.columns import Decision
from agent.sources.tabular.sql import literal, name

_KEY = re.compile(r"(?i)(^|[\W_])(id|key|code|number|no|nr)$|(?-i:[a-z]Id)$|^id")
_CODE = r"[^ ]*[0-9][^ ]*"
"""The values of a first column that is a key whatever it is called: `T-17`, `1042`."""


class Repeats:
    def __init__(
        self, engine: DuckDBPyConnection, table: str, decisions: Sequence[Decision], names: Sequence[str]
    ) -> None:
        """`names`: of the columns, empty for those that were left out."""
        self._engine, self._table = engine, name(table)
        self._decisions, self._names = decisions, names
        [self.rows] = self._row("count(*)")
        self.count = 0
        self._keys = self._counted_keys()
        if (self.rows, self.rows) not in self._keys.values():
            [(different,)] = engine.execute(f"SELECT count(DISTINCT hash(t)) FROM {self._table} AS t").fetchall()
            self.count = self.rows - int(different)
        self._left = self.count
        """Of those that repeat, how many the table still has."""

    def drop(self) -> None:
        if not self._left:
            return
        self._engine.execute(
            f"DELETE FROM {self._table} WHERE rowid NOT IN (SELECT min(rowid) FROM {self._table} AS t GROUP BY hash(t))"
        )
        self.rows -= self._left
        self._left = 0
        self._keys = self._counted_keys()

    def of_key(self) -> bool:
        """Whether a key has each of its values once when the rows that repeat are gone: by its name, or the first
        column by its values."""
        once = self.rows, self.rows - self.count
        if once[1] < 5 or self.count > 0.2 * self.rows:  # a key of few rows is not believed, nor one that often repeats
            return False
        first = self._names[0]
        if once in self._keys.values() or not first or not _may_be_key(self._decisions[0]):
            return once in self._keys.values()
        codes = f"count() FILTER (regexp_full_match({name(first)}::VARCHAR, {literal(_CODE)}))"
        return self._row(f"{codes}, count(DISTINCT {name(first)})") == once

    def keys(self) -> tuple[str, ...]:
        """Columns whose name and nearly all values say that they are a key, with how many of its values repeat."""
        repeated = []
        for column, (filled, different) in self._keys.items():
            more = filled - different - self._left
            if more > 0 and different >= 0.9 * (filled - self._left):
                repeated.append(f"{column}: {more:,}")
        return tuple(repeated)

    def _counted_keys(self) -> dict[str, tuple[int, ...]]:
        """(filled cells, different values) of the columns that are keys by their names."""
        counts = {}
        for decision, column in zip(self._decisions, self._names, strict=True):
            if not column or not _may_be_key(decision) or not _KEY.search(decision.plan.header):
                continue
            cell = name(column)
            different = f"count(DISTINCT {cell})"
            if decision.type == "BIGINT":  # a bit for each value is by far faster where numbers lie close
                least, most = self._row(f"min({cell}), max({cell})")
                if least is not None and most - least < 8 * self.rows:
                    different = f"bit_count(bitstring_agg({cell}, {least}, {most}))"
            counts[column] = self._row(f"count({cell}), {different}")
        return counts

    def _row(self, shown: str) -> tuple[int, ...]:
        return self._engine.execute(f"SELECT {shown} FROM {self._table}").fetchall()[0]


def _may_be_key(decision: Decision) -> bool:
    return decision.type not in ("DOUBLE", "BOOLEAN") and decision.date is None

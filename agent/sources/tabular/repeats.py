"""Rows that repeat an earlier one, and values of a key that occur more than once.

In: a table as it was written, with the decisions on its columns. Out: how many rows repeat, whether a key shows that
they are no rows of their own, and the keys that have a value twice.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from duckdb import DuckDBPyConnection

from agent.sources.tabular.columns import Decision
from agent.sources.tabular.sql import literal, name

_KEY = re.compile(r"(?i)(^|[\W_])(id|key|code|number|no|nr)$|(?-i:[a-z]Id)$|^id")
_CODE = r"[^ ]*[0-9][^ ]*"
"""The values of a first column that is a key whatever it is called: `T-17`, `1042`."""


class Repeats:
    """Of one table."""

    def __init__(
        self, engine: DuckDBPyConnection, table: str, decisions: Sequence[Decision], names: Sequence[str]
    ) -> None:
        """`names`: of the columns, empty for those that were left out."""
        self._engine, self._table, self._names = engine, name(table), names
        self._decisions = decisions
        self._counted: dict[str, tuple[int, int]] = {}
        [(rows,)] = engine.execute(f"SELECT count(*) FROM {self._table}").fetchall()
        self.rows, self.count = int(rows), 0
        if not any(counts == [self.rows, self.rows] for _, *counts in self._values()):
            [(different,)] = engine.execute(f"SELECT count(DISTINCT hash(t)) FROM {self._table} AS t").fetchall()
            self.count = self.rows - int(different)
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
        self._counted.clear()

    def of_key(self) -> bool:
        """Whether a key has each of its values once when the rows that repeat are gone: by its name, or the first
        column by its values."""
        once = self.rows, self.rows - self.count
        if once[1] < 5 or self.count > 0.2 * self.rows:  # a key of few rows is not believed, nor one that often repeats
            return False
        if any(tuple(counts) == once for _, *counts in self._values()):
            return True
        first = self._names[0]
        if not first or not _may_be_key(self._decisions[0]):
            return False
        codes = f"count() FILTER (regexp_full_match({name(first)}::VARCHAR, {literal(_CODE)}))"
        return self._count(f"SELECT {codes}, count(DISTINCT {name(first)}) FROM {self._table}") == once

    def keys(self) -> tuple[str, ...]:
        """Columns whose name and nearly all values say that they are a key, with how many of its values repeat."""
        repeated = []
        for column, filled, different in self._values():
            more = filled - different - self._left
            if more > 0 and different >= 0.9 * (filled - self._left):
                repeated.append(f"{column}: {more:,}")
        return tuple(repeated)

    def _values(self) -> Iterator[tuple[str, int, int]]:
        """(column, filled cells, different values) of the columns that are keys by their names."""
        for decision, column in zip(self._decisions, self._names, strict=True):
            if column and _may_be_key(decision) and _KEY.search(decision.plan.header):
                if column not in self._counted:
                    cell = name(column)
                    self._counted[column] = self._count(
                        f"SELECT count({cell}), {self._different(cell, decision)} FROM {self._table}"
                    )
                yield column, *self._counted[column]

    def _different(self, cell: str, decision: Decision) -> str:
        """The expression that counts the different values; a bit for each is by far faster where numbers lie close."""
        if decision.type == "BIGINT":
            sql = f"SELECT min({cell}), max({cell}), count(*) FROM {self._table}"
            [(least, most, rows)] = self._engine.execute(sql).fetchall()
            if least is not None and most - least < 8 * rows:
                return f"bit_count(bitstring_agg({cell}, {least}, {most}))"
        return f"count(DISTINCT {cell})"

    def _count(self, sql: str) -> tuple[int, int]:
        [(filled, different)] = self._engine.execute(sql).fetchall()
        return int(filled), int(different)


def _may_be_key(decision: Decision) -> bool:
    return decision.type not in ("DOUBLE", "BOOLEAN") and decision.date is None

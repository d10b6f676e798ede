"""Whether two queries mean the same: rows on which they differ, from the database or made up.

In: two queries and a database. Out: `Apart`, with both results on the fewest rows that were found to tell them apart.
That none were found proves nothing, but each set of rows that was tried is one more sign.
"""

from __future__ import annotations

import tempfile
import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from eval.databases import open_database
from eval.databases.base import Database
from eval.databases.types import DatabaseError, ExecutionResult, Limits
from eval.errors import InputError
from eval.metrics.comparison import same_result
from eval.metrics.items import executed
from eval.replicas.files import Original, Row, read_original, write_replica
from eval.replicas.rows import invented
from eval.schema import Schema
from eval.sql import ParsedQuery, check, facts, orders_rows, resolve

MOST_TRIES = 60
_SECONDS = 20.0
_LIMITS = Limits(seconds=5.0, rows=100_000)


@dataclass(frozen=True, slots=True)
class Apart:
    differ: bool
    first: ExecutionResult
    second: ExecutionResult
    tried: int = 0
    """Sets of made-up rows that were tried."""
    rows: dict[str, tuple[tuple[str, ...], list[Row]]] = field(default_factory=dict)
    """Made-up tables on which they differ: columns and rows; empty where they differ on the database itself."""
    note: str = ""
    """Why no rows were made up."""


def told_apart(first: ParsedQuery, second: ParsedQuery, database: Database, path: Path | None = None) -> Apart:
    """Blocking. `path`: the SQLite file behind the database, without which no rows are made up. Raises InputError for a
    query that may not run or fails, DatabaseError."""
    schema = database.schema()
    for query in (first, second):
        if reason := check(query, schema).reason:
            raise InputError(f"{query.text[:80]}: {reason}")
    ordered = orders_rows(first) or orders_rows(second)
    results = _results(first, second, database)
    for query, result in zip((first, second), results, strict=True):
        if not result.ok:
            raise InputError(f"{query.text[:80]}: {result.error or result.status}")
    if not same_result(*results, ordered=ordered, columns_count=True):
        return Apart(True, *results)
    if path is None:
        return Apart(False, *results, note="Rows are made up for SQLite databases only.")
    same = Apart(False, *results)
    return _on_made_up_rows(first, second, schema, path, same, ordered=ordered)


def _results(first: ParsedQuery, second: ParsedQuery, database: Database) -> tuple[ExecutionResult, ExecutionResult]:
    return executed(first, database, _LIMITS), executed(second, database, _LIMITS)


def _on_made_up_rows(
    first: ParsedQuery, second: ParsedQuery, schema: Schema, path: Path, same: Apart, *, ordered: bool
) -> Apart:
    """Rows on which they differ; else `same`, with the number of sets for which there was time."""
    original, until = read_original(path), time.monotonic() + _SECONDS
    constants: defaultdict[tuple[str, str], list[str]] = defaultdict(list)
    for query in (first, second):
        for one in facts(query, schema).literals:
            if one.table and one.column:
                constants[one.table.casefold(), one.column.casefold()].append(one.value.strip("%"))
    used = {t.casefold() for q in (first, second) for t in resolve(q, schema).tables}
    with tempfile.TemporaryDirectory() as folder:
        trial = _Trial(first, second, original, ordered, Path(folder))
        for number in range(MOST_TRIES):
            if time.monotonic() > until:
                return replace(same, tried=number)
            rows = invented(original, schema, constants, number)
            if (found := trial.differ(rows)) is not None:
                rows, found = _fewest(trial, rows, found, used, until)
                shown = {
                    table.name: (tuple(c.name for c in table.columns), list(rows[table.name]))
                    for table in schema.tables
                    if rows.get(table.name)
                }
                return Apart(True, *found, number + 1, shown)
    return replace(same, tried=MOST_TRIES)


@dataclass(slots=True)
class _Trial:
    _first: ParsedQuery
    _second: ParsedQuery
    _original: Original
    _ordered: bool
    _folder: Path
    _number: int = 0

    def differ(self, rows: Mapping[str, Sequence[Row]]) -> tuple[ExecutionResult, ExecutionResult] | None:
        """Both results on these rows where they differ."""
        self._number += 1
        file = self._folder / f"{self._number}.sqlite"
        try:
            write_replica(self._original, rows, file)
            with open_database(file, infer_keys=False) as database:
                first, second = _results(self._first, self._second, database)
        except DatabaseError:
            return None
        finally:
            file.unlink(missing_ok=True)
        same = not first.ok or not second.ok or same_result(first, second, ordered=self._ordered, columns_count=True)
        return None if same else (first, second)


def _fewest(
    trial: _Trial,
    rows: Mapping[str, Sequence[Row]],
    found: tuple[ExecutionResult, ExecutionResult],
    used: set[str],
    until: float,
) -> tuple[dict[str, list[Row]], tuple[ExecutionResult, ExecutionResult]]:
    """Leave rows out, in halves and then in ever smaller parts, as long as the two still differ."""
    kept = {name: list(some) for name, some in rows.items()}
    others = {name: some if name.casefold() in used else [] for name, some in kept.items()}
    if (still := trial.differ(others)) is not None:
        kept, found = others, still
    for name in sorted(kept, key=lambda one: -len(kept[one])):
        size = max(1, len(kept[name]) // 2)
        while size and kept[name] and time.monotonic() < until:
            place = 0
            while place < len(kept[name]) and time.monotonic() < until:
                fewer = {**kept, name: kept[name][:place] + kept[name][place + size :]}
                if (still := trial.differ(fewer)) is not None:
                    kept, found = fewer, still
                else:
                    place += size
            size //= 2
    return kept, found

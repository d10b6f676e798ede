"""The values that an index in memory has no room for: read to the end, into a file, for later questions too.

In: an open `Database` and its `Schema`. Out: a `ValueIndex` that has all values. The file is built once for a state of
the data.
"""

from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

from agent.knowledge.value_file import STORED_VALUES, StoredValues, build
from agent.knowledge.value_reading import SCANNED_ROWS, VALUE_LENGTH, distinct_texts, may_hold_names
from agent.knowledge.values import ValueIndex, value_index, values_key
from eval.databases.base import Database
from eval.databases.types import Limits
from eval.schema import Column, Schema, Table
from eval.sql import check, parsed_from_tree
from eval.sql.sources import table_source
from eval.tasks.cache_folder import cache_folder, kept_file

BUILD_SECONDS = 120.0
"""Time limit for reading one database's values."""
_FORMAT = 5
_lock = threading.Lock()
_building: set[Path] = set()
"""Files that this process has started to build for later questions."""


def complete_value_index(database: Database, schema: Schema, *, wait: bool = True) -> ValueIndex:
    """The index of all values: the one in memory, with a file of what that has no room for, built if it does not exist
    (one second for some 200,000 values). Without `wait` it is built for later questions, and the end of the process
    does not wait for that. Never raises: where there is no file, the index in memory is returned."""
    small = value_index(database, schema)
    if not database.holds_rows or _holds_all(small, schema):
        return small
    try:
        path = cache_folder() / "values" / f"{values_key(database, schema)}-{_FORMAT}.sqlite"
        if wait or path.exists():
            path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            index = _opened(kept_file(path, lambda unfinished: _fill(unfinished, database, schema, small)), small)
            index.attach(database, schema)
            return index
    except (OSError, sqlite3.Error):
        return small
    with _lock:
        if path not in _building:
            _building.add(path)
            threading.Thread(target=complete_value_index, args=(database, schema), name="values", daemon=True).start()
    return small


@lru_cache(maxsize=16)
def _opened(path: Path, small: ValueIndex) -> ValueIndex:
    """Open the file once per process, because counting its values is costly."""
    return small.with_file(StoredValues(path))


def _holds_all(index: ValueIndex, schema: Schema) -> bool:
    """Whether every column that may hold names is complete in the index; one without any value is not in it."""
    for table in schema.tables:
        large = table.row_count is None or table.row_count > SCANNED_ROWS
        for column in table.columns:
            empty = not large and not index.values(table.name, column.name)
            if may_hold_names(table, column) and not empty and not index.complete(table.name, column.name):
                return False
    return True


def _fill(path: Path, database: Database, schema: Schema, small: ValueIndex) -> None:
    """The columns that the index in memory does not hold whole, by how many rows their table has."""
    deadline = time.monotonic() + BUILD_SECONDS
    wanted = ((t, c) for t in schema.tables for c in t.columns if may_hold_names(t, c))
    rest = [(t, c) for t, c in wanted if not small.complete(t.name, c.name)]
    rest.sort(key=lambda pair: pair[0].row_count or 1 << 62)
    cut: set[tuple[str, str]] = set()
    build(path, [(t.name, c.name, _distinct(database, schema, t, c, deadline, cut)) for t, c in rest], cut=cut)


def _distinct(
    database: Database, schema: Schema, table: Table, column: Column, deadline: float, cut: set[tuple[str, str]]
) -> Iterator[str]:
    """A column's distinct texts, streamed from the engine; none after the deadline. A column that was not read to the
    end is noted in `cut`."""
    query = distinct_texts(column, table_source(table), schema.dialect)
    verdict = check(parsed_from_tree(query, schema.dialect))
    left = deadline - time.monotonic()
    cut.add((table.name, column.name))
    if verdict.statement is None or left <= 0:
        return
    limits = Limits(seconds=left, rows=STORED_VALUES, bytes=1 << 30, cell_bytes=4 * VALUE_LENGTH)
    with database.stream(verdict.statement, limits=limits) as rows:
        for batch in rows:
            for (value,) in batch:
                if isinstance(value, str) and 0 < len(value) <= VALUE_LENGTH:
                    yield value
    if rows.ok and rows.rows_read < STORED_VALUES:
        cut.discard((table.name, column.name))

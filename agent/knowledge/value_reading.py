"""Reads the distinct values of a database's columns; the only place where row values are read for the index.

In: an open `Database` and its `Schema`. Out: `StoredColumn`s of the columns that may hold names, dates or bits by their
names and declared types: values up to a fair share for each column, and whether they are all. Small tables are read
first and whole, many columns in one statement. Of a large table the first rows are read, then the columns with few
kinds of values to the end, for as long as there is time.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain

from sqlglot import exp

from agent.knowledge.grouping import grouped
from agent.knowledge.own_queries import run
from agent.knowledge.stored_dates import ISO, SAMPLE, date_form
from eval.databases.base import Database
from eval.databases.types import Limits
from eval.schema import Column, Dialect, Schema, Table
from eval.sql import check, parsed_from_tree
from eval.sql.sources import quoted_column, table_source

VALUES_PER_COLUMN = 10_000
"""Maximum distinct values kept per column."""
VALUES_IN_ALL = 100_000
VALUE_LENGTH = 80
"""Maximum characters of a value; longer ones are prose, which questions do not name."""
SCANNED_ROWS = 50_000
"""A table with more rows is large: its first rows are read, then its columns with few kinds of values."""
BUILD_SECONDS = 10.0
"""Time limit for reading values; tables not reached in time are left out of the index."""
SCAN_SECONDS = 2.0
"""Time limit for reading columns of large tables to the end."""
BITS = frozenset({"0", "1"})
"""The values of an integer column that says yes or no."""
_PARTS = 60
"""Columns, or tiny tables, that are read by one statement."""
_TINY_ROWS = 500
_GROUP_ROWS = 4_000
"""Maximum rows of the tiny tables that are read by one statement."""
_KINDS = 0.2
"""A column of a large table is read to the end if the first rows repeat its values: at most this share is distinct."""
_CELL = 4 * VALUE_LENGTH
"""Maximum bytes of a value."""
_TEXT = re.compile(r"char|text|clob|string|enum|set\b|citext|name\b", re.I)
_NOT_TEXT = re.compile(r"int|real|num|dec|float|doub|money|serial|date|time|blob|bytea|bool|json|uuid|binary", re.I)
_DATED = re.compile(r"date|time|stamp|epoch|(?:^|_)(?:dt|ts|at|on)(?:_|$)|(?-i:[a-z](?:At|On|Dt|Ts)$)", re.I)


@dataclass(frozen=True, slots=True)
class StoredColumn:
    """The distinct values of a column, as texts."""

    table: str
    column: str
    values: tuple[str, ...]
    complete: bool = True
    """Whether they are all, but for texts that are too long."""


@dataclass(frozen=True, slots=True)
class _Wanted:
    """A column to read, and what its values may be besides names."""

    table: Table
    column: Column
    dated: bool
    bits: bool
    tiny: bool
    """Its table has so few rows that they are read as they are, those of many tables by one statement."""

    @property
    def key(self) -> tuple[str, str]:
        return self.table.name, self.column.name

    @property
    def large(self) -> bool:
        return is_large(self.table)

    @property
    def most(self) -> int:
        """Of a column that may hold bits, three values are enough to tell."""
        return len(BITS) + 1 if self.bits else VALUES_PER_COLUMN + 1


def read_columns(database: Database, schema: Schema) -> list[StoredColumn]:
    """The columns that the index holds, in the schema's order; none that are empty or could not be read."""
    wanted = list(_wanted(schema))
    deadline = time.monotonic() + BUILD_SECONDS
    found: dict[tuple[str, str], StoredColumn] = {}
    left = [w for w in wanted if not w.tiny]
    for group in _groups(wanted):
        if time.monotonic() > deadline:
            break
        whole = _read_whole(database, schema, group)
        found |= {(c.table, c.column): c for c in whole or ()}
        left += group if whole is None else ()
    for batch in _batches(left):
        if time.monotonic() > deadline:
            break
        for stored in _read(database, schema, batch):
            found[stored.table, stored.column] = stored
        if sum(len(c.values) for c in found.values()) > 2 * VALUES_IN_ALL:
            found = _shared(found)
    scanned = time.monotonic() + SCAN_SECONDS
    few = min(VALUES_PER_COLUMN - 1, _KINDS * SCANNED_ROWS)
    partly = [w for w in wanted if w.large and w.key in found and not found[w.key].complete]
    kinds = [w for w in partly if len(found[w.key].values) <= few and not dated_name(w.column.name)]
    for one in sorted(kinds, key=lambda w: len(found[w.key].values)):
        if (seconds := min(scanned, deadline) - time.monotonic()) <= 0:
            break
        found[one.key] = _scanned(database, schema, one, found[one.key], seconds)
    kept = _shared(found)
    return [kept[w.key] for w in wanted if w.key in kept]


def is_large(table: Table) -> bool:
    """Whether its rows are too many to be read whole, or not counted."""
    return table.row_count is None or table.row_count > SCANNED_ROWS


def may_hold_names(table: Table, column: Column) -> bool:
    """Whether the declared type is text-like or missing. Foreign keys are included, because their codes are useful,
    too."""
    if table.kind == "view":
        return False
    if _TEXT.search(column.type):
        return re.search(r"uuid|binary", column.type, re.I) is None
    return _NOT_TEXT.search(column.type) is None


def dated_name(name: str) -> bool:
    """Whether a column's name says that it holds dates."""
    return _DATED.search(name) is not None


def _may_hold_dates(table: Table, column: Column, schema: Schema) -> bool:
    """Whether a column that is no text may hold dates in a form that its type does not tell: a number, or in SQLite
    anything."""
    if table.kind == "view" or column.primary_key or may_hold_names(table, column):
        return False
    if re.search("int|num|dec", column.type, re.I):
        return dated_name(column.name)
    return schema.dialect == "sqlite" and re.search("date|time", column.type, re.I) is not None


def _may_hold_bits(table: Table, column: Column) -> bool:
    """Whether an integer column may only say yes or no."""
    keys = {*table.primary_key, *(name for key in table.foreign_keys for name in key.columns)}
    counted = column.primary_key or column.name in keys
    return table.kind != "view" and not counted and re.search("int|bit", column.type, re.I) is not None


def distinct_texts(column: Column, source: exp.Expression, dialect: Dialect) -> exp.Select:
    """A query for a column's distinct values, as texts where the engine has types; of lists, for what is in them."""
    if column.is_list and dialect in ("postgres", "duckdb"):
        parts = exp.Anonymous(this="UNNEST", expressions=[quoted_column(column.name)])
        each = exp.select(exp.alias_(parts, "part")).from_(source).subquery("parts")
        return exp.select(exp.alias_(exp.cast(exp.column("part"), "TEXT"), "value")).distinct().from_(each)
    return exp.select(exp.alias_(as_text(column, dialect), "value")).distinct().from_(source)


def as_text(column: Column, dialect: Dialect) -> exp.Expression:
    """A column's value as text. MySQL casts to CHAR, which gives texts of different collations one."""
    value: exp.Expression = quoted_column(column.name)
    if dialect == "sqlite":
        return value
    return exp.cast(value, exp.DataType.Type.CHAR if dialect == "mysql" else exp.DataType.Type.TEXT)


def _wanted(schema: Schema) -> Iterator[_Wanted]:
    for table in schema.tables:
        if table.row_count == 0 and not table.row_count_estimated:
            continue
        tiny = not table.row_count_estimated and 0 < (table.row_count or 0) <= _TINY_ROWS
        for column in table.columns:
            dated = _may_hold_dates(table, column, schema)
            bits = not dated and _may_hold_bits(table, column)
            if dated or bits or may_hold_names(table, column):
                yield _Wanted(table, column, dated, bits, tiny and not column.is_list)


def _groups(wanted: Sequence[_Wanted]) -> Iterator[list[_Wanted]]:
    """The columns of tiny tables, many tables at a time, those with as many columns together."""
    tables = grouped((one.table.name, one) for one in wanted if one.tiny)
    group: list[_Wanted] = []
    rows = parts = 0
    for columns in sorted(tables.values(), key=len):
        rows, parts = rows + (columns[0].table.row_count or 0), parts + 1
        group += columns
        if rows >= _GROUP_ROWS or parts >= _PARTS:
            yield group
            group, rows, parts = [], 0, 0
    if group:
        yield group


def _read_whole(database: Database, schema: Schema, group: Sequence[_Wanted]) -> list[StoredColumn] | None:
    """The columns of tiny tables, from all their rows; None if the statement failed or gave more rows than expected."""
    tables = grouped((one.table.name, one) for one in group)
    most = 2 * sum(columns[0].table.row_count or 0 for columns in tables.values())
    tree = _all_rows(list(tables.values()), schema.dialect)
    result = run(database, tree, Limits(seconds=5.0, rows=most, cell_bytes=_CELL))
    if not result.ok or len(result.rows) >= most:
        return None
    values: list[list[dict[object, None]]] = [[{} for _ in columns] for columns in tables.values()]
    for place, *row in result.rows:
        for kept, value in zip(values[int(str(place))], row, strict=False):
            kept[value] = None
    each = zip(chain.from_iterable(tables.values()), chain.from_iterable(values), strict=True)
    return [stored for one, known in each if (stored := _as_stored(one, known, True))]


def _all_rows(tables: Sequence[Sequence[_Wanted]], dialect: Dialect) -> exp.Expression:
    """The rows of tables with their place among these; a table with fewer columns than another is filled with NULL."""
    width = max(map(len, tables))
    tree: exp.Expression | None = None
    for place, columns in enumerate(tables):
        cells: list[exp.Expr] = [exp.Literal.number(place)]
        cells += [as_text(one.column, dialect) for one in columns]
        cells += [exp.null() for _ in range(width - len(columns))]
        if tree is None:
            cells = [exp.alias_(cell, f"v{k}") for k, cell in enumerate(cells)]
        part = exp.Select(expressions=cells).from_(table_source(columns[0].table), copy=False)
        tree = part if tree is None else exp.union(tree, part, distinct=False, copy=False)
    assert tree is not None
    return tree


def _batches(wanted: Sequence[_Wanted]) -> Iterator[list[_Wanted]]:
    """The columns of small tables, many at a time; then those of the large ones, table by table."""
    small = sorted((w for w in wanted if not w.large), key=lambda w: w.table.row_count or 0)
    yield from (small[i : i + _PARTS] for i in range(0, len(small), _PARTS))
    tables = {w.table.name: w.table for w in wanted if w.large}
    for name in sorted(tables, key=lambda name: tables[name].row_count or 1 << 62):
        columns = [w for w in wanted if w.table.name == name]
        yield from (columns[i : i + _PARTS] for i in range(0, len(columns), _PARTS))


def _read(database: Database, schema: Schema, batch: Sequence[_Wanted]) -> Iterator[StoredColumn]:
    """The columns of one statement; where it fails (one table of it may be locked or broken), table by table."""
    parts: list[exp.Select] = []
    for number, one in enumerate(batch):
        source: exp.Expression = table_source(one.table)
        if one.large:
            column = exp.select(quoted_column(one.column.name))
            source = column.from_(source).limit(SCANNED_ROWS).subquery("scanned")
        distinct = distinct_texts(one.column, source, schema.dialect).limit(one.most)
        shown = (exp.alias_(exp.Literal.number(number), "number"), exp.column("value"))
        parts.append(exp.select(*shown).from_(distinct.subquery("found")))
    tree: exp.Expression = parts[0]
    for part in parts[1:]:
        tree = exp.union(tree, part, distinct=False, copy=False)
    result = run(database, tree, Limits(seconds=5.0, rows=sum(one.most for one in batch), cell_bytes=_CELL))
    if not result.ok:
        names = dict.fromkeys(w.table.name for w in batch)
        if len(names) > 1:
            for name in names:
                yield from _read(database, schema, [w for w in batch if w.table.name == name])
        return
    values: list[list[object]] = [[] for _ in batch]
    for place, value in result.rows:
        values[int(str(place))].append(value)
    for one, known in zip(batch, values, strict=True):
        if stored := _as_stored(one, known, len(known) < one.most and not one.large):
            yield stored


def _as_stored(one: _Wanted, known: Iterable[object], complete: bool) -> StoredColumn | None:
    """The values that a question may name: texts that are not too long, and numbers that say dates or yes and no."""
    shown = (str(int(v)) if isinstance(v, int) and (one.dated or one.bits) else v for v in known)
    values = [value for value in shown if isinstance(value, str) and 0 < len(value) <= VALUE_LENGTH]
    if one.dated:
        values = values[:SAMPLE] if date_form(values, dated=True) not in ("", ISO) else []
    if one.bits and set(values) != BITS:
        values = []
    if not values:
        return None
    kept = tuple(values[:VALUES_PER_COLUMN])
    return StoredColumn(one.table.name, one.column.name, kept, complete or one.bits or one.dated)


def _scanned(database: Database, schema: Schema, one: _Wanted, known: StoredColumn, seconds: float) -> StoredColumn:
    """The column read to the end, or as far as the time allows."""
    query = distinct_texts(one.column, table_source(one.table), schema.dialect).limit(one.most)
    statement = check(parsed_from_tree(query, schema.dialect)).statement
    if statement is None:
        return known
    values, count = dict.fromkeys(known.values), 0
    limits = Limits(seconds=seconds, rows=one.most, cell_bytes=_CELL)
    with database.stream(statement, limits=limits) as rows:
        for batch in rows:
            count += len(batch)
            kept = (value for (value,) in batch if isinstance(value, str) and 0 < len(value) <= VALUE_LENGTH)
            values.update(dict.fromkeys(kept))
    complete = rows.ok and count < one.most and len(values) <= VALUES_PER_COLUMN
    return replace(known, values=tuple(values)[:VALUES_PER_COLUMN], complete=complete)


def _shared(found: dict[tuple[str, str], StoredColumn]) -> dict[tuple[str, str], StoredColumn]:
    """The columns cut so that all fit: small ones whole, the larger ones each as many values as any other."""
    share = fair_share([len(c.values) for c in found.values()], VALUES_IN_ALL)
    return {
        key: replace(c, values=c.values[:share], complete=False) if len(c.values) > share else c
        for key, c in found.items()
        if share
    }


def fair_share(sizes: Iterable[int], room: int) -> int:
    """The largest number of values that each column may keep, so that all fit into the room."""
    ordered = sorted(sizes)
    for place, size in enumerate(ordered):
        share = room // (len(ordered) - place)
        if size > share:
            return share
        room -= size
    return max(ordered, default=0)

"""Reads the rows for a profile: a few bounded statements per table, all checked by the guard.

In: an open `Database`, a table. Out: `Rows`. A table of up to `SAMPLE_ROWS` rows is read whole. A larger table is
sampled by the engine's own means (ranges of row ids in SQLite, of the key in MySQL, TABLESAMPLE in PostgreSQL and
DuckDB). One pass over the whole table then counts NULLs and finds the lowest and highest values, if it ends in time.
"""

from __future__ import annotations

import re
import time
from dataclasses import dataclass

from sqlglot import exp

from agent.knowledge.own_queries import run
from eval.databases.base import Database
from eval.databases.types import ExecutionResult, Limits
from eval.schema import Column, Dialect, ForeignKey, Table
from eval.sql.sources import quoted_column, quoted_name, table_source

SAMPLE_ROWS = 5_000
SAMPLE_CELLS = 300_000
"""Maximum cells read from one table; wide tables give fewer rows."""
CELL_READ = 200
"""Maximum characters read of one text."""
COLUMNS_AT_ONCE = 200
TABLE_SECONDS = 2.0
"""Time limit for all statements on one table."""
_RANGES = 50
_BLOCKWISE_ROWS = 20_000_000
_WHOLE_PASS_CELLS = 20_000_000
"""Maximum rows times columns of a table for which a full pass is tried."""

_TEXT = re.compile(r"char|text|clob|string|citext|json|xml", re.I)
_CLICKHOUSE_TEXT = re.compile(r"(LowCardinality\(|Nullable\()*(Fixed)?String\b")
"""Not the arrays, maps, tuples and enumerations of texts, which have no substrings."""
_BYTES = re.compile(r"blob|bytea|binary|image|geometry|vector|tsvector", re.I)
_ORDERED = re.compile(r"int|real|num|dec|float|doub|money|serial|date|time|year", re.I)


@dataclass(frozen=True, slots=True)
class Whole:
    """A column's facts from one pass over all rows."""

    nulls: int
    low: object
    high: object


@dataclass(frozen=True, slots=True)
class Rows:
    columns: tuple[Column, ...]
    """The columns read; binary columns are skipped."""
    cells: tuple[tuple[object, ...], ...]
    how: str
    sampled: bool


NOT_READ = Rows((), (), "not read", True)


def read_rows(database: Database, table: Table, *, until: float) -> Rows:
    """A table's rows, or a sample. A statement that fails or takes too long gives no rows; never raises.

    `until`: `time.monotonic()` value."""
    wanted = tuple(c for c in table.columns if not _BYTES.search(c.type))
    if not wanted:
        return NOT_READ
    rows = max(100, min(SAMPLE_ROWS, SAMPLE_CELLS // len(wanted)))
    large = table.kind == "table" and (table.row_count is None or table.row_count > rows)
    how, condition = "the first rows", None
    if not large and table.kind == "table":
        how = "all rows"
    source: exp.Expression = table_source(table)
    if large and database.dialect in ("postgres", "duckdb") and (table.row_count or 0) > rows:
        how, source = "the engine's sample", _sampled(source, rows, table.row_count or 0, database.dialect)
    elif large:
        condition = _ranges(database, table, rows, until)
        if condition is not None:
            how = "ranges of rows"
    parts: list[tuple[tuple[object, ...], ...]] = []
    for start in range(0, len(wanted), COLUMNS_AT_ONCE):
        chosen = wanted[start : start + COLUMNS_AT_ONCE]
        select = exp.select(*(_cell(c, database.dialect) for c in chosen)).from_(source.copy())
        if condition is not None:
            select = select.where(condition.copy())
        most = 2 * rows if how == "the engine's sample" else rows  # the sample's size varies; do not cut it off
        result = _run(database, select.limit(most), until, most)
        if not result.ok:
            wanted = wanted[:start]
            break
        parts.append(result.rows)
    if not parts:
        return NOT_READ
    least = min(len(p) for p in parts)
    cells = parts[0] if len(parts) == 1 else tuple(sum((p[i] for p in parts), ()) for i in range(least))
    sampled = how != "all rows" and (large or len(cells) >= rows)
    return Rows(wanted, cells, how if sampled else "all rows", sampled)


def orphans(database: Database, table: Table, key: ForeignKey, ref: Table, *, until: float) -> tuple[int, int] | None:
    """The number of rows with this key that were looked up, and how many of them have no match. Of a large table, only
    the first rows with a key are looked up. None if it could not be done in time."""
    names = [quoted_column(c) for c in key.columns]
    filled = exp.and_(*(n.copy().is_(exp.null()).not_() for n in names))
    children = exp.select(*names).from_(table_source(table)).where(filled).limit(SAMPLE_ROWS * 4).subquery("child")
    if len(names) == 1:  # every engine hashes a list of values; a correlated subquery may not be optimised
        ref_name = quoted_column(key.ref_columns[0])
        listed = exp.select(ref_name).from_(table_source(ref)).where(ref_name.copy().is_(exp.null()).not_())
        known: exp.Expression = exp.In(this=quoted_column(key.columns[0]), query=listed.subquery())
    else:
        on = exp.and_(
            *(
                exp.EQ(this=quoted_column(c, "child"), expression=quoted_column(r, "parent"))
                for c, r in zip(key.columns, key.ref_columns, strict=True)
            )
        )
        parent = exp.select(exp.Literal.number(1)).from_(exp.alias_(table_source(ref), "parent", table=True)).where(on)
        known = exp.Exists(this=parent)
    lost = exp.Sum(this=exp.Case().when(known, exp.Literal.number(0)).else_(exp.Literal.number(1)))
    result = _run(database, exp.select(exp.Count(this=exp.Star()), lost).from_(children), until, 1)
    if not result.ok or not result.rows:
        return None
    checked, lost_rows = result.rows[0]
    return int(str(checked)), int(float(str(lost_rows or 0)))


def _run(database: Database, tree: exp.Expression, until: float, rows: int) -> ExecutionResult:
    seconds = max(0.05, until - time.monotonic())
    return run(database, tree, Limits(seconds=seconds, rows=rows, cell_bytes=4 * CELL_READ))


def _cell(column: Column, dialect: Dialect) -> exp.Expr:
    """The column, with long texts cut by the engine so that they are not transferred."""
    name = quoted_column(column.name)
    if not _TEXT.search(column.type) or (dialect == "clickhouse" and not _CLICKHOUSE_TEXT.match(column.type)):
        return name
    text: exp.Expression = name
    if dialect == "postgres" and re.search(r"json|xml", column.type, re.I):
        text = exp.cast(name, exp.DataType.Type.TEXT)
    cut = exp.Anonymous(this="substr", expressions=[text, exp.Literal.number(1), exp.Literal.number(CELL_READ)])
    return exp.alias_(cut, quoted_name(column.name))


def _sampled(source: exp.Expression, rows: int, total: int, dialect: Dialect) -> exp.Expression:
    """The table with the engine's own sampling, by blocks where a scan of all rows would take long. A fixed seed gives
    equal profiles for equal data."""
    percent = min(100.0, 100.0 * rows / total)
    method = exp.var("SYSTEM") if dialect == "postgres" or total > _BLOCKWISE_ROWS else exp.var("BERNOULLI")
    sample = exp.TableSample(method=method, percent=exp.Literal.number(f"{percent:.6f}"), seed=exp.Literal.number(1))
    source = source.copy()
    source.set("sample", sample)
    return source


def _ranges(database: Database, table: Table, rows: int, until: float) -> exp.Expr | None:
    """A predicate that selects evenly spread ranges of row ids; None if there is no numeric key."""
    if database.dialect == "sqlite":
        place = exp.column("rowid")
    else:
        key = table.column(table.primary_key[0]) if len(table.primary_key) == 1 else None
        if key is None or not re.search("int", key.type, re.I):
            return None
        place = quoted_column(key.name)
    ends = _run(
        database, exp.select(exp.Min(this=place), exp.Max(this=place.copy())).from_(table_source(table)), until, 1
    )
    low, high = ends.rows[0] if ends.ok and ends.rows else (None, None)
    if not isinstance(low, int) or not isinstance(high, int):
        return None
    width = rows // _RANGES - 1
    starts = [low + i * (high - low - width) // (_RANGES - 1) for i in range(_RANGES)]
    return exp.or_(
        *(
            exp.Between(this=place.copy(), low=exp.Literal.number(start), high=exp.Literal.number(start + width))
            for start in starts
        )
    )


def pass_over(database: Database, table: Table, read: Rows, *, until: float) -> dict[str, Whole]:
    """The result of one pass over all rows, by column; empty if all rows were already read, if they are too many or
    uncounted, or if it does not end in time."""
    cells = None if table.row_count is None else table.row_count * len(read.columns)
    if not read.sampled or not read.columns or cells is None or cells > _WHOLE_PASS_CELLS:
        return {}
    chosen = read.columns[:COLUMNS_AT_ONCE]
    wanted: list[exp.Expression] = [exp.Count(this=exp.Star())]
    for column in chosen:
        name = quoted_column(column.name)
        wanted.append(exp.Count(this=name))
        ordered = bool(_ORDERED.search(column.type))
        wanted.append(exp.Min(this=name.copy()) if ordered else exp.null())
        wanted.append(exp.Max(this=name.copy()) if ordered else exp.null())
    named = [exp.alias_(w, f"c{i}") for i, w in enumerate(wanted)]
    result = _run(database, exp.select(*named).from_(table_source(table)), until, 1)
    if not result.ok or not result.rows:
        return {}
    total, *rest = result.rows[0]
    return {
        column.name: Whole(int(str(total)) - int(str(rest[3 * i])), rest[3 * i + 1], rest[3 * i + 2])
        for i, column in enumerate(chosen)
    }

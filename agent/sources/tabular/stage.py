"""Files as they came into temporary tables of DuckDB, every cell as it was written.

In: a file of tables and its kind. Out: what was staged, with where its rows stand in the file. A file that DuckDB's
strict reader refuses is first rewritten by Python's lenient one.
"""

from __future__ import annotations

import csv
import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO

import duckdb
from duckdb import DuckDBPyConnection

from agent.sources import SourceRefused, SourceTooLarge
from agent.sources.tabular.layout import FIELD, Layout, found_layout
from agent.sources.tabular.plan import Row
from agent.sources.tabular.sql import literal, name
from eval.language.inflection import counted

LARGEST = 64 << 20
"""Bytes of a file whose whole text is read at once; larger ones are left as they are."""
_DEPTH = 4
_HEADS, _BODIES = ("columns", "fields", "headers", "header"), ("data", "rows", "values", "records")


@dataclass(frozen=True, slots=True)
class Part:
    """A file or sheet of several that are staged as one table."""

    label: str
    first: int
    """The place (`rowid`) of its first row."""
    row: int
    """Number of that row in the file."""


@dataclass(frozen=True, slots=True)
class Staged:
    """A temporary table whose columns are `c0`, `c1`, …"""

    raw: str
    headers: tuple[str, ...]
    types: tuple[str, ...]
    """VARCHAR for what is still to be read."""
    rows: int
    row: int
    """Number of the first row in the file; 1 for files whose rows have no place in a text."""
    semicolons: bool = False
    other_encoding: str = ""
    """One that its text could also be in."""
    notes: tuple[str, ...] = ()
    parts: tuple[Part, ...] = ()
    """Of which it consists, where it is of several; their labels are its last column."""
    rows_each: int = 1
    """How many of its rows one row of the file became."""

    @property
    def cells(self) -> list[str]:
        return [f"c{i}" for i in range(len(self.headers))]

    def told(self, at: int, text: str) -> Row:
        """The row at this place, as a person finds it in the file."""
        for part in reversed(self.parts):
            if at >= part.first:
                return Row(row=part.row + at - part.first, text=f"{part.label}: {text}"[:200])
        return Row(row=self.row + at // self.rows_each, text=text[:200])

    def row_sql(self) -> str:
        """The expression for a row's number in its file."""
        whens = "".join(f"WHEN rowid >= {p.first} THEN rowid + {p.row - p.first} " for p in reversed(self.parts))
        return f"CASE {whens}END" if whens else f"rowid // {self.rows_each} + {self.row}"


@dataclass(frozen=True, slots=True)
class Bounds:
    rows: int
    columns: int

    def check(self, rows: int, columns: int) -> None:
        """Raises SourceTooLarge."""
        if rows > self.rows:
            raise SourceTooLarge(f"the file has more than {self.rows:,} rows")
        if columns > self.columns:
            raise SourceTooLarge(f"the file has more than {self.columns:,} columns")


def stage(engine: DuckDBPyConnection, path: Path, kind: str, raw: str, bounds: Bounds, folder: Path) -> Staged:
    """`folder`: where a file may be rewritten. Raises SourceRefused, SourceTooLarge, duckdb.Error."""
    if kind == "delimited":
        return _delimited(engine, path, raw, bounds, folder)
    if kind == "parquet":
        return _typed(engine, f"read_parquet({literal(str(path))})", raw, bounds, as_text=False)
    return _typed(engine, _json_reader(engine, as_records(path, folder) or path), raw, bounds, as_text=True)


def filled(engine: DuckDBPyConnection, raw: str, cells: Sequence[str], where: str = "true") -> list[int]:
    counts = ", ".join(f"count({cell})" for cell in cells)
    return list(engine.execute(f"SELECT {counts} FROM {raw} WHERE {where}").fetchall()[0])


def _delimited(engine: DuckDBPyConnection, path: Path, raw: str, bounds: Bounds, folder: Path) -> Staged:
    layout = found_layout(path)
    bounds.check(0, len(layout.headers))
    notes = []
    if not layout.encoding.name.startswith("utf"):
        other = f"; it could also be {layout.encoding.other}" if layout.encoding.other else ""
        notes.append(f"is no UTF-8 and was read as {layout.encoding.name}{other}")
    if layout.titles:
        notes.append(f"{counted(layout.titles, 'row')} above the table left out")
    if layout.joined:
        notes.append("two header rows read as one")
    if not layout.has_header:
        notes.append("has no header row; its columns are numbered")
    width, source, skipped, delimiter = len(layout.headers), path, layout.lines, layout.delimiter
    strict = not layout.irregular
    if strict and layout.broken:  # the reader skips rows, and not lines
        source, skipped = _recoded(path, layout, folder, skipped), 0
    elif strict and layout.encoding.name != "utf-8" and not (layout.encoding.name == "utf-8-sig" and skipped):
        source = _recoded(path, layout, folder)
    if not strict or not _read(engine, source, raw, width, skipped, delimiter):
        source, width, note = _rewritten(path, layout, bounds, folder)
        notes += note
        if not _read(engine, source, raw, width, 0, ","):
            raise SourceRefused("the file cannot be read as CSV")
    # Take away what keeps a spreadsheet from reading a text as a number: `="00120"`, `'00120`
    forms = {'="': (r'="[^"]*"', "[3:-2]"), "'": (r"'[-+=@]?[0-9][0-9.,/-]*", "[2:]")}
    wrapped = [(f"c{i}", start) for i in range(width) for start in forms]
    asked = ", ".join(
        f"bool_or({cell} >= {literal(start)} AND {cell} < {literal(start[:-1] + chr(ord(start[-1]) + 1))})"
        for cell, start in wrapped
    )  # by far faster than `starts_with`
    [found] = engine.execute(f"SELECT {asked} FROM {raw}").fetchall()
    for (cell, start), occurs in zip(wrapped, found, strict=True):
        if occurs:
            form, inner = forms[start]
            fits = f"regexp_full_match({cell}, {literal(form)})"
            engine.execute(f"UPDATE {raw} SET {cell} = {cell}{inner} WHERE {fits}")
    [(rows,)] = engine.execute(f"SELECT count(*) FROM {raw}").fetchall()
    bounds.check(rows, width)
    headers = (*layout.headers, *[""] * width)[:width]
    other = layout.encoding.other or ""
    return Staged(raw, headers, ("VARCHAR",) * width, rows, layout.row, delimiter == ";", other, tuple(notes))


def _read(engine: DuckDBPyConnection, path: Path, raw: str, width: int, skip: int, delimiter: str) -> bool:
    """Whether the strict reader has read the file: not one with rows of several widths or stray quotes."""
    columns = ", ".join(f"'c{i}': 'VARCHAR'" for i in range(width))
    for parallel in ("true", "false"):  # several threads cannot read line feeds within quotes
        try:
            engine.execute(
                f"CREATE OR REPLACE TEMP TABLE {raw} AS SELECT * FROM read_csv({literal(str(path))}, "
                f"columns = {{{columns}}}, auto_detect = false, header = false, skip = {skip}, "
                f"delim = {literal(delimiter)}, quote = '\"', escape = '\"', null_padding = true, "
                f"max_line_size = {4 * FIELD}, parallel = {parallel})"
            )
            return True
        except duckdb.Error as error:
            if "CSV" not in str(error):
                raise
            if "parallel=false" not in str(error):
                return False
    return False


@contextmanager
def _opened(path: Path, layout: Layout, skip: int) -> Iterator[TextIO]:
    """The text of a file behind so many lines, its line ends as they are."""
    with path.open(encoding=layout.encoding.name, newline="") as file:
        for _ in range(skip):
            file.readline()
        yield file


def _recoded(path: Path, layout: Layout, folder: Path, skip: int = 0) -> Path:
    """The file in UTF-8, without so many of its first lines."""
    target = folder / f"{path.name}.utf8"
    with _opened(path, layout, skip) as file, target.open("w", encoding="utf-8", newline="") as out:
        while piece := file.read(1 << 20):
            out.write(piece)
    return target


def _rewritten(path: Path, layout: Layout, bounds: Bounds, folder: Path) -> tuple[Path, int, list[str]]:
    """The rows of data as a file that a strict reader reads, its width, and what is told of rows of other widths."""
    csv.field_size_limit(FIELD)
    widths: Counter[int] = Counter()
    expected, odd = len(layout.headers), 0
    target = folder / f"{path.name}.csv"
    try:
        with _opened(path, layout, layout.lines) as file:
            for number, row in enumerate(csv.reader(file, delimiter=layout.delimiter, skipinitialspace=True)):
                if row:
                    widths[len(row)] += 1
                    odd = odd or (layout.row + number if len(row) != expected else 0)
        width = max(expected, *widths)
        bounds.check(widths.total(), width)
        with _opened(path, layout, layout.lines) as file, target.open("w", encoding="utf-8", newline="") as out:
            writer = csv.writer(out, quoting=csv.QUOTE_ALL, lineterminator="\n")
            for row in csv.reader(file, delimiter=layout.delimiter, skipinitialspace=True):
                if row:
                    cells = (cell.replace("\r\n", "\n").replace("\r", "\n") for cell in row)
                    writer.writerow([*cells, *[""] * width][:width])
    except csv.Error as error:
        raise SourceRefused(f"the file cannot be read as CSV: {error}") from None
    strange = sum(count for size, count in widths.items() if size != expected)
    note = (
        f"{counted(strange, 'row')} with more or fewer than {expected} fields (the first is row {odd:,}); "
        "missing fields are NULL, further fields have columns of their own"
    )
    return target, width, [note] if strange else []


def as_records(path: Path, folder: Path) -> Path | None:
    """A file in `folder` with one object a line, for a JSON file whose rows are below a name, in columns, lists, or by
    key; None where there is nothing to rewrite, or no JSON."""
    if path.stat().st_size > LARGEST:
        return None
    try:
        with path.open(encoding="utf-8-sig") as file:
            value = json.load(file)
    except (ValueError, RecursionError):
        return None  # one object a line, or none
    rows = None if isinstance(value, list) and value and isinstance(value[0], dict) else _rows(value, _DEPTH)
    if rows is None:
        return None
    target = folder / f"{path.name}.records"
    with target.open("w", encoding="utf-8") as out:
        for row in rows:
            out.write(json.dumps(row, ensure_ascii=False, default=str) + "\n")
    return target


def _rows(value: Any, depth: int) -> list[dict[str, Any]] | None:
    if isinstance(value, list):
        if value and all(isinstance(row, dict) for row in value):
            return [_exact(row) for row in value]
        if len(value) > 1 and all(isinstance(row, list) for row in value):
            head = value[0]
            named = all(isinstance(name, str) for name in head) and len(set(head)) == len(head)
            return list(_named(head, value[1:])) if named else list(_named(range(1, len(head) + 1), value))
        return None
    if not isinstance(value, dict) or not depth:
        return None
    heads: list[Any] = next((v for k in _HEADS if isinstance(v := value.get(k), list)), [])
    body: list[Any] = next((v for k in _BODIES if isinstance(v := value.get(k), list)), [])
    if heads and body and all(isinstance(row, list) for row in body):  # one list of names, one of rows
        return list(_named([h.get("name") if isinstance(h, dict) else h for h in heads], body))
    inner = list(value.values())
    lists = len(inner) > 1 and all(isinstance(v, list) and len(v) == len(inner[0]) for v in inner)
    if lists and not any(isinstance(cell, dict | list) for v in inner for cell in v):  # a list for each column
        return list(_named(list(value), zip(*inner, strict=True)))
    if inner and all(isinstance(v, dict) for v in inner):
        keys = [set(v) for v in inner]
        if len(inner) > 1 and all(k == keys[0] for k in keys) and all(k.isdecimal() for k in keys[0]):
            return [{name: column[k] for name, column in value.items()} for k in inner[0]]  # each column by row
        if len(inner) > 1 and len(set.intersection(*keys)) * 2 > len(set.union(*keys)):
            return [_exact({"key": key, **row}) for key, row in value.items()]  # each row by its key
    found = [rows for v in inner if isinstance(v, dict | list) and (rows := _rows(v, depth - 1))]
    if found:
        return max(found, key=len)
    return [_exact(value)] if depth == _DEPTH and value else None


def _named(names: Any, rows: Any) -> Iterator[dict[str, Any]]:
    for row in rows:
        yield _exact({str(name): cell for name, cell in zip(names, row, strict=False)})


def _exact(row: dict[str, Any]) -> dict[str, Any]:
    """Large whole numbers as text, because not every reader keeps all their figures."""
    return {name: str(v) if type(v) is int and abs(v) > 1 << 53 else v for name, v in row.items()}


def _json_reader(engine: DuckDBPyConnection, path: Path) -> str:
    """Reads numbers with a point, or too large for an integer, as they are written."""
    size = f"maximum_object_size = {16 * FIELD}"
    reader = f"read_json({literal(str(path))}, format = 'auto', sample_size = -1, {size})"
    kinds = dict(_described(engine, f"SELECT * FROM {reader}"))
    exact = {
        column: re.sub(r"(?<![\w\"])(DOUBLE|HUGEINT|UBIGINT)(?![\w\"])", "VARCHAR", kind)
        for column, kind in kinds.items()
    }
    if exact == kinds or "json" in map(str.lower, kinds):
        return reader
    columns = ", ".join(f"{literal(column)}: {literal(kind)}" for column, kind in exact.items())
    return f"read_json({literal(str(path))}, format = 'auto', columns = {{{columns}}}, {size})"


def _typed(engine: DuckDBPyConnection, reader: str, raw: str, bounds: Bounds, *, as_text: bool) -> Staged:
    """Stage columns that have types; with `as_text`, they are read like any text, and fields of objects are columns."""
    source = f"{raw}_typed"
    engine.execute(f"CREATE OR REPLACE TEMP TABLE {source} AS SELECT * FROM {reader} LIMIT {bounds.rows + 1}")
    cells: list[_Cell] = []
    for column, kind in _described(engine, f"SELECT * FROM {source}"):
        cells += _fields(engine, source, (name(column), column, kind)) if as_text else [(name(column), column, kind)]
    [(rows,)] = engine.execute(f"SELECT count(*) FROM {source}").fetchall()
    bounds.check(rows, len(cells))
    shown = ", ".join(f"{cell} AS c{i}" for i, (cell, _, _) in enumerate(cells))
    engine.execute(f"CREATE OR REPLACE TEMP TABLE {raw} AS SELECT {shown} FROM {source}")
    engine.execute(f"DROP TABLE {source}")
    types = tuple("VARCHAR" if as_text else kind for _, _, kind in cells)
    return Staged(raw, tuple(header for _, header, _ in cells), types, rows, 1)


_Cell = tuple[str, str, str]
"""An expression, its header and its type."""


def _described(engine: DuckDBPyConnection, query: str) -> list[tuple[str, str]]:
    return [(str(row[0]), str(row[1])) for row in engine.execute(f"DESCRIBE {query}").fetchall()]


def _fields(engine: DuckDBPyConnection, source: str, column: _Cell, depth: int = 0) -> list[_Cell]:
    """A column of JSON as text; an object has a column for each of its fields."""
    cell, header, kind = column
    if kind.startswith("STRUCT(") and not kind.endswith("[]") and depth < 5:
        inner = _described(engine, f"SELECT unnest({cell}) FROM {source}")
        parts = [(f"({cell}).{name(field)}", f"{header}_{field}", of) for field, of in inner]
        return [field for part in parts for field in _fields(engine, source, part, depth + 1)]
    as_text = f"{cell} ->> '$'" if kind == "JSON" else f"CAST({cell} AS VARCHAR)"
    return [(f"nullif({as_text}, '')", header, kind)]

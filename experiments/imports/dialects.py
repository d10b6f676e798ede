"""Tables of databases exported in five dialects of CSV and imported again: is any number or date another one?

`python -m experiments.imports.dialects FOLDER`: a folder of SQLite files. In: at most 5,000 rows of each table. Out:
how many columns come back with the same count and sum (dates: first and last), stay text, or are wrong; lost rows.
"""

from __future__ import annotations

import csv
import datetime as dt
import io
import re
import sqlite3
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb

from agent.sources.tabular.plan import Reading
from agent.sources.tabular.stage import Bounds
from agent.sources.tabular.tables import File, import_tables

ROWS = 5000
_ISO = re.compile(r"\d{4}-\d\d-\d\d")


@dataclass(frozen=True, slots=True)
class Dialect:
    name: str
    delimiter: str
    encoding: str
    number: Callable[[float, bool], str]
    """How a number is written, and whether its column holds whole numbers alone."""
    date: str
    titles: str = ""


def _grouped(value: float, whole: bool) -> str:
    return f"{value:,.0f}" if whole else f"{value:,.2f}" if round(value, 2) == value else f"{value:,}"


def _plain(value: float, whole: bool) -> str:
    return str(int(value)) if whole else repr(value)


def _parentheses(value: float, whole: bool) -> str:
    return f"({_grouped(-value, whole)})" if value < 0 else _grouped(value, whole)


DIALECTS = (
    Dialect("comma", ",", "utf-8", _plain, "%Y-%m-%d"),
    Dialect("decimal comma", ";", "cp1252", lambda v, w: _plain(v, w).replace(".", ","), "%d.%m.%Y"),
    Dialect("dollars", "\t", "utf-8", lambda v, w: f"${_grouped(v, w)}", "%-m/%-d/%Y"),
    Dialect("euros", "|", "utf-16", lambda v, w: f"{_grouped(v, w)} €", "%-d %b %Y"),
    Dialect("titles", ",", "utf-8-sig", _parentheses, "%B %-d, %Y", "Export of the table\nconfidential\n\n"),
)


def exported(dialect: Dialect, headers: Sequence[str], rows: Sequence[Sequence[Any]], whole: Sequence[bool]) -> bytes:
    out = io.StringIO()
    out.write(dialect.titles)
    writer = csv.writer(out, delimiter=dialect.delimiter)
    writer.writerow(headers)
    writer.writerows([_cell(dialect, cell, w) for cell, w in zip(row, whole, strict=True)] for row in rows)
    return out.getvalue().encode(dialect.encoding, "replace")


def _cell(dialect: Dialect, cell: Any, whole: bool) -> str:
    if isinstance(cell, (int, float)):
        return dialect.number(cell, whole)
    if isinstance(cell, str) and _ISO.fullmatch(cell):
        return dt.date.fromisoformat(cell).strftime(dialect.date)
    return "" if cell is None else str(cell)


def verdicts(rows: Sequence[Sequence[Any]], out: Path) -> Iterator[str]:
    with duckdb.connect(str(out), read_only=True) as engine:
        types = [row[1] for row in engine.execute("DESCRIBE t").fetchall()]
        read = engine.execute("SELECT * FROM t").fetchall()
    if len(read) != len(rows):
        yield "rows lost"
    for i, kind in enumerate(types):
        cells = [row[i] for row in rows if row[i] is not None]
        back = [row[i] for row in read if row[i] is not None]
        if cells and all(isinstance(c, (int, float)) for c in cells):
            if kind not in ("BIGINT", "DOUBLE", "BOOLEAN"):
                yield "stays text"
            else:
                total = sum(map(float, cells))
                same = len(back) == len(cells) and abs(sum(map(float, back)) - total) <= 1e-6 * max(1.0, abs(total))
                yield "right" if same else "wrong"
        elif cells and all(isinstance(c, str) and _ISO.fullmatch(c) for c in cells):
            if kind != "DATE":
                yield "stays text"
            else:
                ends = (min(cells), max(cells), len(cells))
                yield "right" if (str(min(back)), str(max(back)), len(back)) == ends else "wrong"


def main(folder: Path) -> None:
    found: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as place:
        for path in sorted(folder.glob("*.sqlite")):
            with closing(sqlite3.connect(path)) as base:
                tables = [r[0] for r in base.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")]
                for table in tables:
                    cursor = base.execute(f'SELECT * FROM "{table}" LIMIT {ROWS}')
                    headers, rows = [d[0] for d in cursor.description], cursor.fetchall()
                    for dialect in DIALECTS:
                        for verdict in _of(dialect, headers, rows, Path(place)):
                            found[verdict] += 1
                            if verdict != "right":
                                sys.stdout.write(f"{path.stem}.{table} in {dialect.name}: {verdict}\n")
    sys.stdout.write(f"{dict(found)}\n")


def _of(dialect: Dialect, headers: Sequence[str], rows: Sequence[Sequence[Any]], place: Path) -> list[str]:
    columns = list(zip(*rows, strict=True))
    whole = [all(isinstance(c, int) or (isinstance(c, float) and c.is_integer()) or c is None for c in of)
             for of in columns]  # fmt: skip
    (place / "file").write_bytes(exported(dialect, headers, rows, whole))
    out = place / "out.duckdb"
    out.unlink(missing_ok=True)
    file = File(place / "file", "t", "delimited")
    import_tables([file], out, Bounds(100_000, 1000), Reading(), lambda *_: None, memory=2 << 30)
    return list(verdicts(rows, out))


if __name__ == "__main__":
    main(Path(sys.argv[1]))

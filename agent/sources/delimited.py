"""Imports CSV and similar files into SQLite. Encoding, delimiter, header and types are inferred from the whole file.

In: files as they were uploaded. Out: one new SQLite file with a table for each, and notes on the decisions made. Each
file is read twice, first to infer types, so a late value cannot contradict its column's type. Memory is bounded by a
batch of rows.

A column gets a type when every value fits it: INTEGER (18 digits), REAL (15 digits before the point), BOOLEAN, DATE and
TIMESTAMP (kept as text in ISO form, as SQLite does), else TEXT. Decimal commas, separated thousands and dates written
in other orders are read where all values of a column agree (`readings`); a note says so. Numbers with leading zeros are
text. An empty field is NULL; in a typed column NA, N/A, NULL, None and NaN are NULL, too, which a note reports.
"""

from __future__ import annotations

import codecs
import csv
import io
import re
import sqlite3
from collections import Counter
from collections.abc import Generator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from itertools import islice, zip_longest
from pathlib import Path

from agent.sources.errors import SourceRefused, SourceTooLarge
from agent.sources.readings import READINGS, chosen, is_ambiguous, note, sql_type, stored
from eval.databases.catalogue.table_drafts import quoted
from eval.language.inflection import counted

_SAMPLE = 64 * 1024
_BATCH = 5000
_FIELD = 1024 * 1024
_MISSING = frozenset({"", "NA", "N/A", "n/a", "NULL", "null", "None", "NaN", "nan"})
_YEAR = re.compile(r"(1[89]|20|21)\d\d", re.ASCII).fullmatch


@dataclass
class _Column:
    """What is known of a column so far."""

    kinds: list[str] = field(default_factory=lambda: list(READINGS))
    """The readings that fit all of its values."""
    filled: int = 0
    """Values that are not missing."""
    missing: int = 0
    """Values such as `NA`, without empty ones."""


@dataclass
class _Form:
    """The format of a file and its columns."""

    encoding: str
    delimiter: str
    has_header: bool = True
    first: list[str] = field(default_factory=list)
    rows: int = 0
    widths: Counter[int] = field(default_factory=Counter)
    odd_row: int = 0
    columns: list[_Column] = field(default_factory=list)


def import_delimited(
    files: Sequence[tuple[Path, str]], out: Path, *, max_rows: int, max_columns: int
) -> tuple[str, ...]:
    """Write a table for each (file, name) into a new SQLite file. Returns notes for the user.

    Raises SourceRefused (not text, or no rows), SourceTooLarge.
    """
    csv.field_size_limit(_FIELD)
    notes: list[str] = []
    used: set[str] = set()
    with closing(sqlite3.connect(out, isolation_level=None)) as database:
        for pragma in ("journal_mode = OFF", "synchronous = OFF"):
            database.execute(f"PRAGMA {pragma}")
        for path, name in files:
            table = unique_name(plain_name(Path(name).stem, "data"), used)
            try:
                form = _survey(path, max_rows, max_columns)
                notes += [f"{table}: {note}" for note in _written(database, path, table, form)]
            except csv.Error as e:
                raise SourceRefused(f"{table}: the file cannot be read as CSV: {e}") from None
        database.execute("PRAGMA optimize")
    return tuple(notes)


def plain_name(name: str, fallback: str) -> str:
    """A name that needs no quotes in most engines: letters, digits and underscores, at most 60."""
    plain = re.sub(r"\W+", "_", name).strip("_")[:60].strip("_")
    if not plain:
        return fallback
    return f"{fallback}_{plain}" if plain[0].isdecimal() or plain.lower().startswith("sqlite_") else plain


def unique_name(name: str, used: set[str]) -> str:
    """The name, numbered if it is taken already; names are compared without case, as engines do."""
    unique, number = name, 1
    while unique.casefold() in used:
        number += 1
        unique = f"{name}_{number}"
    used.add(unique.casefold())
    return unique


def text_encoding(head: bytes) -> str | None:
    """The encoding, detected from the beginning of a file; None for binary content."""
    for mark, name in (
        (codecs.BOM_UTF8, "utf-8-sig"),
        (codecs.BOM_UTF16_LE, "utf-16"),
        (codecs.BOM_UTF16_BE, "utf-16"),
    ):
        if head.startswith(mark):
            return name
    zeros = head.count(0)
    if not zeros:
        return "utf-8"
    if head[1::2].count(0) > 0.8 * zeros and zeros > len(head) / 5:
        return "utf-16-le"
    if head[::2].count(0) > 0.8 * zeros and zeros > len(head) / 5:
        return "utf-16-be"
    return None


def _survey(path: Path, max_rows: int, max_columns: int) -> _Form:
    with path.open("rb") as file:
        head = file.read(_SAMPLE)
    encoding = text_encoding(head)
    if encoding is None:
        raise SourceRefused("the file is neither text nor a database that is known here")
    for candidate in (encoding, "cp1252", "latin-1") if encoding.startswith("utf-8") else (encoding,):
        try:
            return _surveyed(path, candidate, max_rows, max_columns)
        except UnicodeDecodeError:
            continue
    raise SourceRefused("the file's text is in no encoding that is known here (UTF-8, UTF-16, Latin-1)")


def _surveyed(path: Path, encoding: str, max_rows: int, max_columns: int) -> _Form:
    form = _Form(encoding, _delimiter(path, encoding))
    with closing(_records(path, form)) as records:
        form.first = next(records, [])
        if not form.first:
            raise SourceRefused("the file contains no rows")
        while batch := list(islice(records, _BATCH)):
            form.rows += len(batch)
            widths = Counter(map(len, batch))
            if len(batch) and not form.odd_row and any(width != len(form.first) for width in widths):
                before = form.rows - len(batch)
                form.odd_row = before + next(i for i, r in enumerate(batch, 2) if len(r) != len(form.first))
            form.widths += widths
            if form.rows > max_rows:
                raise SourceTooLarge(f"the file has more than {max_rows:,} rows")
            if max(widths) > max_columns:
                raise SourceTooLarge(f"the file has more than {max_columns:,} columns")
            _narrow(form, batch)
    if len(form.first) > max_columns:
        raise SourceTooLarge(f"the file has more than {max_columns:,} columns")
    form.columns += [_Column() for _ in form.first[len(form.columns) :]]
    form.has_header = _looks_like_header(form)
    if not form.has_header:
        _narrow(form, [form.first])
        form.rows += 1
    return form


def _narrow(form: _Form, batch: Sequence[Sequence[str]]) -> None:
    """Remove from each column's types those that these values do not fit."""
    for i, cells in enumerate(zip_longest(*batch, fillvalue="")):
        if i == len(form.columns):
            form.columns.append(_Column())
        column, values = form.columns[i], [cell for cell in cells if cell not in _MISSING]
        column.filled += len(values)
        column.missing += sum(cell != "" for cell in cells) - len(values)
        column.kinds = [kind for kind in column.kinds if all(map(READINGS[kind], values))]


def _looks_like_header(form: _Form) -> bool:
    """Whether the first row is a header: it is, unless it fits the types of the rows below it."""
    typed = [(cell, c.kinds) for cell, c in zip(form.first, form.columns, strict=False) if c.kinds and c.filled]
    years = [cell for cell in form.first if _YEAR(cell)]
    if len(years) == len(set(years)) >= 2 and not all(_YEAR(cell) for cell in form.first):
        return True  # a column for each year
    if any(cell not in _MISSING and any(READINGS[kind](cell) for kind in kinds) for cell, kinds in typed):
        return False
    if not typed:
        return not any(READINGS["REAL"](cell) or READINGS["DATE"](cell) for cell in form.first)
    return True


def _delimiter(path: Path, encoding: str) -> str:
    """The delimiter that splits the most lines of a sample into the same number of fields (at least two)."""
    with path.open("rb") as file:
        decoded = codecs.getincrementaldecoder(encoding)("strict").decode(file.read(_SAMPLE))
    lines = io.StringIO(decoded, newline="").readlines()
    best = (0.0, 0, ",")
    for delimiter in ",;\t|":
        try:
            rows = [row for row in csv.reader(lines[:-1] or lines, delimiter=delimiter) if row][:200]
        except csv.Error:
            continue
        widths = Counter(map(len, rows))
        if rows and (usual := widths.most_common(1)[0])[0] > 1:
            best = max(best, (round(usual[1] / len(rows), 1), usual[0], delimiter))
    return best[2]


def _records(path: Path, form: _Form) -> Generator[list[str], None, None]:
    """The rows without blank lines."""
    with path.open(encoding=form.encoding, newline="") as file:
        reader = csv.reader(file, delimiter=form.delimiter, skipinitialspace=True)
        yield from (row for row in reader if row)


def _written(database: sqlite3.Connection, path: Path, table: str, form: _Form) -> list[str]:
    """Create the table and fill it; returns notes."""
    used: set[str] = set()
    width = len(form.columns)
    heads = [*form.first, *[""] * width][:width] if form.has_header else [""] * width
    names = [unique_name(plain_name(head, f"column_{i}"), used) for i, head in enumerate(heads, 1)]
    kinds = chosen([c.kinds if c.filled else [] for c in form.columns], semicolons=form.delimiter == ";")
    declared = ", ".join(f"{quoted((n,), 'sqlite')} {sql_type(kind)}" for n, kind in zip(names, kinds, strict=True))
    place = quoted((table,), "sqlite")
    database.execute(f"CREATE TABLE {place} ({declared})")
    insert = f"INSERT INTO {place} VALUES ({', '.join('?' * width)})"
    database.execute("BEGIN")
    with closing(_records(path, form)) as records:
        if form.has_header:
            next(records)
        while batch := list(islice(records, _BATCH)):
            columns = list(zip_longest(*batch, fillvalue=""))
            columns += [("",) * len(batch)] * (width - len(columns))
            values = [_stored(column, kind) for column, kind in zip(columns, kinds, strict=True)]
            database.executemany(insert, zip(*values, strict=True))
    database.execute("COMMIT")
    return _notes(form, heads, names, kinds)


def _stored(column: Sequence[str], kind: str) -> Sequence[int | float | str | None]:
    if kind == "TEXT":
        return [cell or None for cell in column]
    convert = stored(kind)
    return [None if cell in _MISSING else convert(cell) for cell in column]


def _notes(form: _Form, heads: Sequence[str], names: Sequence[str], kinds: Sequence[str]) -> list[str]:
    notes = []
    if form.encoding in ("cp1252", "latin-1"):
        notes.append(f"is no UTF-8 and was read as {'Windows-1252' if form.encoding == 'cp1252' else 'Latin-1'}")
    if not form.has_header:
        notes.append("has no header row; its columns are numbered")
    odd = sum(count for width, count in form.widths.items() if width != len(form.first))
    if odd:
        notes.append(
            f"{counted(odd, 'row')} with more or fewer than {len(form.first)} fields (the first is row "
            f"{form.odd_row:,}); missing fields are NULL, further fields have columns of their own"
        )
    pairs = zip(heads, names, strict=True) if form.has_header else ()
    renamed = [f"{head!r} is {name}" for head, name in pairs if head != name]
    if renamed:
        notes.append(f"columns renamed: {', '.join(renamed[:10])}{', …' if len(renamed) > 10 else ''}")
    for name, kind, column in zip(names, kinds, form.columns, strict=True):
        if (how := note(kind)) is not None:
            doubt = "; day and month could also be the other way round" if is_ambiguous(column.kinds) else ""
            notes.append(f"{name} read as {how}{doubt}")
    for name, kind, column in zip(names, kinds, form.columns, strict=True):
        if column.missing and kind != "TEXT":
            notes.append(f"{counted(column.missing, 'value')} of {name} such as NA read as NULL")
    return notes

"""The value index of a large database, on disk: a million distinct values, looked up without loading them.

In: columns with their distinct values, read once. Out: a `StoredValueIndex`, which answers as `ValueIndex` does, from a
SQLite file of its own: values by their folded singular form, and by the words in them. A misspelt word is compared with
the stored words that begin alike. The file holds row values, so only its owner may read it.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
import threading
from array import array
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from pathlib import Path

from agent.knowledge.values import (
    SCANNED_ROWS,
    SPAN_WORDS,
    VALUE_LENGTH,
    VALUES_IN_ALL,
    VALUES_PER_COLUMN,
    ValueHit,
    ValueIndex,
    ValueSpan,
    fold,
    likeness,
    may_hold_names,
    singular,
    value_index,
    values_key,
)
from eval.databases.base import Database, Limits
from eval.schema import Column, Schema, Table
from eval.sql.nearest import distance
from eval.tasks.cache_folder import cache_folder, kept_file

STORED_VALUES = 1_000_000
"""Distinct values kept of one database; about 100 bytes each on disk."""
BUILD_SECONDS = 120.0
"""Time for reading one database's values."""
_FORMAT = 1
_CANDIDATES = 400
"""Stored values looked at for one part of a value or one misspelling."""
_WORDS_ALIKE = 6_000
"""Stored words that begin alike and are compared with a misspelt one."""
_POSTINGS = 20_000
"""Values kept under one word; a word in more of them tells little."""

_lock = threading.Lock()
_building: set[Path] = set()
"""Files that this process has begun to build for later questions."""

_TABLES = """
CREATE TABLE place (id INTEGER PRIMARY KEY, name TEXT, field TEXT);
CREATE TABLE stored (id INTEGER PRIMARY KEY, form TEXT, place INTEGER, text TEXT);
CREATE TABLE word (word TEXT PRIMARY KEY, stored BLOB) WITHOUT ROWID;
"""
_INDEX = "CREATE INDEX by_form ON stored (form)"


class StoredValueIndex(ValueIndex):
    """Looks values up in a file that `build` wrote. Safe to use from several threads."""

    def __init__(self, path: Path) -> None:
        super().__init__(())
        self._file = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True, check_same_thread=False)
        self._file_lock = threading.Lock()
        self._places = {i: (table, column) for i, table, column in self._rows("SELECT id, name, field FROM place")}
        self._count = int(self._rows("SELECT count(*) FROM stored")[0][0])
        longest = self._rows("SELECT max(length(form) - length(replace(form, ' ', ''))) FROM stored")[0][0]
        self._longest_span = min(SPAN_WORDS, (longest or 0) + 1)

    def __len__(self) -> int:
        return self._count

    def values(self, table: str, column: str) -> tuple[str, ...]:
        """Up to `VALUES_PER_COLUMN` values of a column."""
        rows = self._rows(
            "SELECT s.text FROM stored s JOIN place p ON p.id = s.place WHERE p.name = ? AND p.field = ? LIMIT ?",
            (table, column, VALUES_PER_COLUMN),
        )
        return tuple(text for (text,) in rows)

    def find(self, phrase: str, *, fuzzy: bool = False) -> tuple[ValueHit, ...]:
        """Values that a phrase may mean, best first. With `fuzzy`, parts of values and misspellings too."""
        folded = fold(phrase)
        if not folded:
            return ()
        hits = self._like(phrase, folded)
        if fuzzy and not hits:
            hits = self._holding_phrase(singular(folded)) or self._misspelt(folded)
        return tuple(sorted(hits, key=lambda h: -h.score)[:24])

    def spans(self, words: Sequence[str]) -> tuple[ValueSpan, ...]:
        """Every run of words that is a stored value (not fuzzily), longest first at each start."""
        found = []
        for start in range(len(words)):
            if not fold(words[start]):
                continue
            for end in range(min(len(words), start + self._longest_span), start, -1):
                if fold(words[end - 1]):
                    hits = self.find(" ".join(words[start:end]))
                    if hits:
                        found.append(ValueSpan(start, end, hits))
        return tuple(found)

    def _rows(self, sql: str, given: Sequence[object] = ()) -> list[tuple]:  # type: ignore[type-arg]
        with self._file_lock:
            return self._file.execute(sql, given).fetchall()

    def _like(self, phrase: str, folded: str) -> list[ValueHit]:
        rows = self._rows("SELECT place, text FROM stored WHERE form = ? LIMIT ?", (singular(folded), _CANDIDATES))
        return [
            ValueHit(*self._places[place], text, 1.0 if text == phrase else 0.97 if fold(text) == folded else 0.9)
            for place, text in rows
        ]

    def _holding_phrase(self, form: str) -> list[ValueHit]:
        """Values of which the phrase is a part."""
        words = form.split()
        telling = [w for w in words if len(w) > 2 or w.isdigit()]
        if not telling:
            return []
        return [
            ValueHit(*self._places[place], text, 0.5 + 0.3 * len(words) / (whole.count(" ") + 1))
            for place, text, whole in self._of_all([[w] for w in telling])
            if f" {form} " in f" {whole} "
        ]

    def _misspelt(self, folded: str) -> list[ValueHit]:
        """Values of the same words, some of them spelt otherwise."""
        if not 4 <= len(folded) <= 40 or folded.isdigit():
            return []
        form = singular(folded)
        words = form.split()
        if len(words) == 1:
            alike = _nearest(form, self._beginning("SELECT DISTINCT form FROM stored WHERE form", form))
            marks = ", ".join("?" * len(alike))
            rows = self._rows(f"SELECT place, text, form FROM stored WHERE form IN ({marks}) LIMIT 99", alike)
        else:
            rows = self._of_all([self._words_like(word) for word in words])
        scored = [(likeness(form, other), place, text) for place, text, other in rows]
        return [ValueHit(*self._places[place], text, 0.75 * near) for near, place, text in scored if near >= 0.5]

    def _of_all(self, chosen: Sequence[Sequence[str]]) -> list[tuple]:  # type: ignore[type-arg]
        """Place, text and form of the values that hold, of each group of words, at least one."""
        held: list[set[int]] = []
        for words in chosen:
            marks = ", ".join("?" * len(words))
            blobs = self._rows(f"SELECT stored FROM word WHERE word IN ({marks})", words) if words else []
            if not blobs:
                return []
            held.append({i for (blob,) in blobs for i in array("I", blob)})
        common = sorted(set.intersection(*held))[:_CANDIDATES]
        marks = ", ".join("?" * len(common))
        return self._rows(f"SELECT place, text, form FROM stored WHERE id IN ({marks})", common)

    def _words_like(self, word: str) -> list[str]:
        """The stored word itself, or those that are most like it."""
        if self._rows("SELECT 1 FROM word WHERE word = ?", (word,)):
            return [word]
        return _nearest(word, self._beginning("SELECT word FROM word WHERE word", word)) if len(word) > 3 else []

    def _beginning(self, select: str, word: str) -> list[str]:
        """The stored words with the same first two letters and about as long; the column's name ends `select`."""
        column = select.rsplit(" ", 1)[1]
        rows = self._rows(
            f"{select} >= ? AND {column} < ? AND length({column}) BETWEEN ? AND ? LIMIT ?",
            (word[:2], word[:2] + "\U0010ffff", len(word) - 2, len(word) + 2, _WORDS_ALIKE),
        )
        return [found for (found,) in rows]


def _nearest(word: str, others: Iterable[str]) -> list[str]:
    """The words that are an edit or two away: those with the most letters in common are compared letter by letter."""
    letters = Counter(word)
    shared = sorted(((sum((letters & Counter(o)).values()) * 2 - len(o), o) for o in others), reverse=True)
    near = [(distance(word, other), other) for _, other in shared[:40]]
    most = 1 if len(word) < 6 else 2
    return [other for edits, other in sorted(near)[:4] if edits <= most]


def build(path: Path, columns: Iterable[tuple[str, str, Iterable[str]]], *, most: int = STORED_VALUES) -> int:
    """Write the file; how many values it holds. At most `most` are taken, column by column."""
    descriptor = os.open(path, os.O_CREAT | os.O_RDWR | os.O_TRUNC, 0o600)
    os.close(descriptor)
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as file:
        file.executescript("PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; PRAGMA cache_size=-65536;" + _TABLES)
        file.execute("BEGIN")
        postings: defaultdict[str, list[int]] = defaultdict(list)
        written = 0
        for number, (table, column, values) in enumerate(columns):
            file.execute("INSERT INTO place VALUES (?, ?, ?)", (number, table, column))
            rows = _prepared(values, number, written, most, postings)
            before = file.total_changes
            file.executemany("INSERT INTO stored (id, form, place, text) VALUES (?, ?, ?, ?)", rows)
            written += file.total_changes - before
            if written >= most:
                break
        file.executemany(
            "INSERT INTO word VALUES (?, ?)",
            ((w, array("I", postings[w][:_POSTINGS]).tobytes()) for w in sorted(postings)),
        )
        file.execute(_INDEX)
        file.execute("COMMIT")
    return written


def _prepared(
    values: Iterable[str], place: int, written: int, most: int, postings: defaultdict[str, list[int]]
) -> Iterator[tuple[int, str, int, str]]:
    """Rows to write, numbered on from `written`; the words of values of several words go to `postings`."""
    folding = fold.__wrapped__  # its cache would only be filled with values that never come again
    number = written
    for value in values:
        if number >= most:
            return
        folded = folding(value)
        if folded:
            form = singular(folded)
            yield number, form, place, value
            if " " in form:
                for word in form.split():
                    postings[word].append(number)
            number += 1


def complete_value_index(database: Database, schema: Schema, *, cache_dir: Path | None = None) -> ValueIndex:
    """The index of all values: the one in memory where it holds them all, else the one on disk, built when it is not
    there yet (a second for some 200,000 values). Never raises: what cannot be built leaves the one in memory."""
    small = value_index(database, schema, cache_dir=cache_dir)
    if not database.holds_rows or _holds_all(small, schema):
        return small
    try:
        path = _path(database, schema, cache_dir)
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        return _opened(kept_file(path, lambda unfinished: _fill(unfinished, database, schema)))
    except (OSError, sqlite3.Error):
        return small


def values_soon(database: Database, schema: Schema) -> ValueIndex:
    """The index of all values where it is on the disk already or small; else the one in memory, while the other is
    built for later questions. At the end of the process nobody waits for it. Never raises."""
    small = value_index(database, schema)
    if not database.holds_rows or _holds_all(small, schema):
        return small
    try:
        path = _path(database, schema, None)
        if path.exists():
            return _opened(path)
    except (OSError, sqlite3.Error):
        return small
    with _lock:
        if path not in _building:
            _building.add(path)
            threading.Thread(target=complete_value_index, args=(database, schema), name="values", daemon=True).start()
    return small


def _path(database: Database, schema: Schema, cache_dir: Path | None) -> Path:
    return cache_folder(cache_dir) / "values" / f"{values_key(database, schema)}-{_FORMAT}.sqlite"


@lru_cache(maxsize=16)
def _opened(path: Path) -> StoredValueIndex:
    """Opened once: counting its values is the costly part."""
    return StoredValueIndex(path)


def _holds_all(index: ValueIndex, schema: Schema) -> bool:
    if len(index) >= VALUES_IN_ALL:
        return False
    for table in schema.tables:
        if table.kind == "table" and (table.row_count is None or table.row_count > SCANNED_ROWS):
            return False
        if any(len(index.values(table.name, c.name)) >= VALUES_PER_COLUMN for c in table.columns):
            return False
    return True


def _fill(path: Path, database: Database, schema: Schema) -> None:
    import time

    deadline = time.monotonic() + BUILD_SECONDS
    wanted = [(t, c) for t in schema.tables for c in t.columns if may_hold_names(t, c)]
    build(path, ((t.name, c.name, _distinct(database, schema, t, c, deadline)) for t, c in wanted))


def _distinct(database: Database, schema: Schema, table: Table, column: Column, deadline: float) -> Iterator[str]:
    """A column's distinct texts, streamed from the engine; none after the deadline."""
    import time

    from sqlglot import exp

    from eval.sql import check, parsed_from_tree

    name: exp.Expression = exp.column(exp.to_identifier(column.name, quoted=True))
    if schema.dialect != "sqlite":
        name = exp.cast(name, exp.DataType.Type.TEXT)
    source = exp.Table(
        this=exp.to_identifier(table.name, quoted=True),
        db=exp.to_identifier(table.namespace, quoted=True) if table.namespace else None,
    )
    verdict = check(parsed_from_tree(exp.select(exp.alias_(name, "value")).distinct().from_(source), schema.dialect))
    left = deadline - time.monotonic()
    if verdict.statement is None or left <= 0:
        return
    limits = Limits(seconds=left, rows=STORED_VALUES, bytes=1 << 30, cell_bytes=4 * VALUE_LENGTH)
    with database.stream(verdict.statement, limits=limits) as rows:
        for batch in rows:
            for (value,) in batch:
                if isinstance(value, str) and 0 < len(value) <= VALUE_LENGTH:
                    yield value

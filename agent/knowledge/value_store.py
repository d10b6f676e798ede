"""The on-disk value index of a large database: looks up a million distinct values without loading them.

In: columns with their distinct values, read once. Out: a `StoredValueIndex`, which has the interface of `ValueIndex`
and reads a separate SQLite file. Values are found by their folded singular form and by their words (SQLite's full-text
index, FTS5). A misspelt word is compared with the stored words that have a similar beginning. The file holds row
values, so only its owner may read it.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
import threading
import time
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property, lru_cache
from itertools import chain, islice
from pathlib import Path

from rapidfuzz.distance import OSA

from agent.knowledge.indexed_columns import may_hold_names
from agent.knowledge.values import (
    EMPTY,
    SCANNED_ROWS,
    SPAN_WORDS,
    VALUE_LENGTH,
    VALUES_IN_ALL,
    VALUES_PER_COLUMN,
    ValueHit,
    ValueIndex,
    distinct_texts,
    fold,
    likeness,
    singular,
    value_index,
    values_key,
)
from eval.databases.base import Database
from eval.databases.types import Limits
from eval.schema import Column, Schema, Table
from eval.sql import check, parsed_from_tree
from eval.sql.quoted_names import table_source
from eval.tasks.cache_folder import cache_folder, kept_file

STORED_VALUES = 1_000_000
"""Maximum distinct values kept per database; about 100 bytes each on disk."""
BUILD_SECONDS = 120.0
"""Time limit for reading one database's values."""
_FORMAT = 3
_CANDIDATES = 400
"""Maximum stored values examined for one part of a value or one misspelling."""
_WORDS_ALIKE = 10_000
"""Maximum stored words with a similar beginning that are examined for a misspelt word."""
_ROWS_AT_ONCE = 200
"""Number of values written by one statement."""

_lock = threading.Lock()
_building: set[Path] = set()
"""Files that this process has started to build for later questions."""

_TABLES = """
CREATE TABLE place (first INTEGER PRIMARY KEY, name TEXT, field TEXT);
CREATE TABLE stored (id INTEGER PRIMARY KEY, form TEXT, text TEXT);
CREATE VIRTUAL TABLE word USING fts5(form, content='', detail=none, columnsize=0, tokenize="ascii tokenchars '_'");
CREATE VIRTUAL TABLE temp.vocabulary USING fts5vocab(main, word, row);
CREATE TABLE spelling (word TEXT PRIMARY KEY) WITHOUT ROWID;
"""
"""The values of a column are contiguous, from `first` up to the next column's first."""
_INDEXES = (
    "INSERT INTO word (word, rank) VALUES ('hashsize', 16777216)",
    "INSERT INTO word (rowid, form) SELECT id, form FROM stored WHERE instr(form, ' ') ORDER BY id",
    "INSERT INTO spelling SELECT term FROM temp.vocabulary",
    "CREATE TABLE longest AS SELECT max(length(form) - length(replace(form, ' ', ''))) + 1 AS words FROM stored",
    "CREATE INDEX by_form ON stored (form)",
)


class StoredValueIndex(ValueIndex):
    """Looks values up in a file that `build` wrote. Safe to use from several threads. Raises sqlite3.Error."""

    def __init__(self, path: Path, sample: ValueIndex = EMPTY) -> None:
        """`sample`: the index in memory, which knows the dates and the columns that only say yes or no."""
        super().__init__(())
        self._sample = sample
        self._file = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True, check_same_thread=False)
        self._file_lock = threading.Lock()
        places = self._rows("SELECT first, name, field FROM place ORDER BY first")
        self._firsts = [first for first, _, _ in places]
        self._places = [(table, column) for _, table, column in places]
        self._count = int(self._rows("SELECT max(id) FROM stored")[0][0] or 0)
        self._rows("SELECT 1 FROM word LIMIT 0")  # raises if SQLite lacks FTS5
        longest = self._rows("SELECT words FROM longest")[0][0]
        self._longest_span = min(SPAN_WORDS, longest or 1)

    def __len__(self) -> int:
        return self._count

    def values(self, table: str, column: str) -> tuple[str, ...]:
        """Up to `VALUES_PER_COLUMN` values of a column."""
        if (table, column) not in self._places:
            return self._sample.values(table, column)
        place = self._places.index((table, column))
        first, beyond = [*self._firsts, self._count + 1][place : place + 2]
        most = min(beyond, first + VALUES_PER_COLUMN)
        return tuple(text for (text,) in self._rows("SELECT text FROM stored WHERE id >= ? AND id < ?", (first, most)))

    @cached_property
    def date_forms(self) -> dict[tuple[str, str], str]:
        return self._sample.date_forms

    def _rows(self, sql: str, given: Sequence[object] = ()) -> list[tuple]:  # type: ignore[type-arg]
        with self._file_lock:
            return self._file.execute(sql, given).fetchall()

    def _hit(self, number: int, text: str, score: float) -> ValueHit:
        return ValueHit(*self._places[bisect_right(self._firsts, number) - 1], text, score)

    def _may_be_stored(self, folded: Sequence[str]) -> bool:  # noqa: ARG002
        """`find` itself is one look-up."""
        return True

    def _same(self, phrase: str, folded: str) -> list[ValueHit]:
        rows = self._rows("SELECT id, text FROM stored WHERE form = ? LIMIT ?", (singular(folded), _CANDIDATES))
        return [
            self._hit(number, text, 1.0 if text == phrase else 0.97 if fold(text) == folded else 0.9)
            for number, text in rows
        ]

    def _containing(self, form: str) -> list[ValueHit]:
        words = form.split()
        telling = [w for w in words if len(w) > 2 or w.isdecimal()]
        if not telling:
            return []
        return [
            self._hit(number, text, 0.5 + 0.3 * len(words) / (value.count(" ") + 1))
            for number, text, value in self._matching(" AND ".join(f'"{w}"' for w in telling))
            if f" {form} " in f" {value} "
        ]

    def _misspelled(self, folded: str) -> list[ValueHit]:
        """Values with the same words, some of them spelt differently or joined."""
        if not 4 <= len(folded) <= 40 or folded.isdecimal():
            return []
        form = singular(folded)
        words = form.split()
        if len(words) == 1:
            alike = _nearest(form, self._alike("stored", "form", form))
            marks = ", ".join("?" * len(alike))
            rows = self._rows(f"SELECT id, text, form FROM stored WHERE form IN ({marks}) LIMIT 99", alike)
        else:
            rows = self._matching(" AND ".join(self._spelt_like(word) for word in words))
        scored = [(likeness(form, other), number, text) for number, text, other in rows]
        return [self._hit(number, text, 0.75 * near) for near, number, text in scored if near >= 0.5]

    def _matching(self, words: str) -> list[tuple]:  # type: ignore[type-arg]
        """Number, text and form of the multi-word values that match an expression of the full-text index."""
        return self._rows(
            "SELECT id, text, stored.form FROM word JOIN stored ON stored.id = word.rowid WHERE word MATCH ? LIMIT ?",
            (words, _CANDIDATES),
        )

    def _spelt_like(self, word: str) -> str:
        """A full-text expression for the stored word itself, or for the most similar ones, or for two words that form
        it."""
        if len(word) < 4 or self._rows("SELECT 1 FROM spelling WHERE word = ?", (word,)):
            return f'"{word}"'
        alike = [f'"{w}"' for w in _nearest(word, self._alike("spelling", "word", word))]
        halves = [f'("{word[:i]}" AND "{word[i:]}")' for i in range(2, len(word) - 1)]
        return f"({' OR '.join(alike + halves)})"

    def _alike(self, table: str, column: str, word: str) -> set[str]:
        """Stored words that begin with the same two letters or the same half, have about the same length and contain a
        third of the word: one or two edits leave at least one third intact."""
        thirds = [word[len(word) * i // 3 : len(word) * (i + 1) // 3] for i in range(3)]
        sql = (
            f"SELECT word FROM (SELECT {column} AS word FROM {table} WHERE {column} >= ? AND {column} < ? LIMIT ?) "
            "WHERE length(word) BETWEEN ? AND ? AND (instr(word, ?) OR instr(word, ?) OR instr(word, ?))"
        )
        lengths = (len(word) - _edits(word), len(word) + _edits(word))
        beginnings = {word[:2], word[: len(word) // 2]}
        rows = [self._rows(sql, (b, b + "\U0010ffff", _WORDS_ALIKE, *lengths, *thirds)) for b in beginnings]
        return {value for (value,) in chain(*rows)}


def _edits(word: str) -> int:
    """The maximum edit distance for a word."""
    return 1 if len(word) < 6 else 2


def _nearest(word: str, others: Iterable[str]) -> list[str]:
    """The words within one or two edits. An edit changes at most one letter of each word and two of the set of letters,
    at any position. Only words that pass this filter are compared letter by letter."""
    most, letters, counted = _edits(word), set(word), Counter(word)
    alike = (other for other in others if len(letters.symmetric_difference(other)) <= 2 * most)
    apart = sorted((max(len(word), len(o)) - (counted & Counter(o)).total(), o) for o in alike)
    near = [(OSA.distance(word, other), other) for least, other in apart[:40] if least <= most]
    return [other for edits, other in sorted(near)[:4] if edits <= most]


def build(path: Path, columns: Iterable[tuple[str, str, Iterable[str]]], *, most: int = STORED_VALUES) -> int:
    """Write the file and return the number of values in it, at most `most`, taken column by column. Raises
    sqlite3.Error, also if SQLite was compiled without FTS5."""
    descriptor = os.open(path, os.O_CREAT | os.O_RDWR | os.O_TRUNC, 0o600)
    os.close(descriptor)
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as file:
        file.executescript("PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; PRAGMA cache_size=-65536;" + _TABLES)
        file.execute("BEGIN")
        written = 0
        for table, column, values in columns:
            file.execute("INSERT OR REPLACE INTO place VALUES (?, ?, ?)", (written + 1, table, column))
            written += _insert(file, islice(_with_forms(values), most - written))
            if written >= most:
                break
        for statement in _INDEXES:
            file.execute(statement)
        file.execute("COMMIT")
    return written


def _insert(file: sqlite3.Connection, rows: Iterator[tuple[str, str]]) -> int:
    """Insert many values per statement, which takes half the time of single inserts. Returns the number of values."""
    written = 0
    while batch := list(islice(rows, _ROWS_AT_ONCE)):
        marks = ", ".join(["(?, ?)"] * len(batch))
        file.execute(f"INSERT INTO stored (form, text) VALUES {marks}", [text for row in batch for text in row])
        written += len(batch)
    return written


def _with_forms(values: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Pairs of look-up form and value; values without any word are left out."""
    folding = fold.__wrapped__  # its cache would only fill with values that never recur
    return ((singular(folded), value) for value in values if (folded := folding(value)))


def complete_value_index(database: Database, schema: Schema) -> ValueIndex:
    """The index of all values: the one in memory if it is complete, else the one on disk, built if it does not exist
    (one second for some 200,000 values). Never raises: if the build fails, the index in memory is returned."""
    small = value_index(database, schema)
    if not database.holds_rows or _holds_all(small, schema):
        return small
    try:
        path = _path(database, schema)
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        return _opened(kept_file(path, lambda unfinished: _fill(unfinished, database, schema)), small)
    except (OSError, sqlite3.Error):
        return small


def values_soon(database: Database, schema: Schema) -> ValueIndex:
    """The index of all values if it is small or already on disk. Else the index in memory, while the full one is built
    for later questions. The end of the process does not wait for the build. Never raises."""
    small = value_index(database, schema)
    if not database.holds_rows or _holds_all(small, schema):
        return small
    try:
        path = _path(database, schema)
        if path.exists():
            return _opened(path, small)
    except (OSError, sqlite3.Error):
        return small
    with _lock:
        if path not in _building:
            _building.add(path)
            threading.Thread(target=complete_value_index, args=(database, schema), name="values", daemon=True).start()
    return small


def _path(database: Database, schema: Schema) -> Path:
    return cache_folder() / "values" / f"{values_key(database, schema)}-{_FORMAT}.sqlite"


@lru_cache(maxsize=16)
def _opened(path: Path, sample: ValueIndex) -> StoredValueIndex:
    """Open the file once per process, because counting its values is costly."""
    return StoredValueIndex(path, sample)


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
    deadline = time.monotonic() + BUILD_SECONDS
    wanted = [(t, c) for t in schema.tables for c in t.columns if may_hold_names(t, c)]
    build(path, ((t.name, c.name, _distinct(database, schema, t, c, deadline)) for t, c in wanted))


def _distinct(database: Database, schema: Schema, table: Table, column: Column, deadline: float) -> Iterator[str]:
    """A column's distinct texts, streamed from the engine; none after the deadline."""
    query = distinct_texts(column, table_source(table), schema.dialect)
    verdict = check(parsed_from_tree(query, schema.dialect))
    left = deadline - time.monotonic()
    if verdict.statement is None or left <= 0:
        return
    limits = Limits(seconds=left, rows=STORED_VALUES, bytes=1 << 30, cell_bytes=4 * VALUE_LENGTH)
    with database.stream(verdict.statement, limits=limits) as rows:
        for batch in rows:
            for (value,) in batch:
                if isinstance(value, str) and 0 < len(value) <= VALUE_LENGTH:
                    yield value

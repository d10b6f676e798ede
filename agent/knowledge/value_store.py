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
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import cached_property, lru_cache
from itertools import chain, islice
from pathlib import Path

from rapidfuzz import process
from rapidfuzz.distance import OSA

from agent.knowledge.grouping import grouped
from agent.knowledge.value_forms import How, fold, singular
from agent.knowledge.value_lookup import ColumnFacts, ValueLookup
from agent.knowledge.value_reading import SCANNED_ROWS, VALUE_LENGTH, VALUES_PER_COLUMN, distinct_texts, may_hold_names
from agent.knowledge.value_words import EXAMPLES, ValueParts
from agent.knowledge.values import EMPTY, SPAN_WORDS, ValueHit, ValueIndex, likeness, value_index, values_key
from eval.databases.base import Database
from eval.databases.types import Limits
from eval.language.inflection import lemma
from eval.language.numbers import TextFigures
from eval.schema import Column, Schema, Table
from eval.sql import check, parsed_from_tree
from eval.sql.sources import table_source
from eval.tasks.cache_folder import cache_folder, kept_file

STORED_VALUES = 1_000_000
"""Maximum distinct values kept per database; about 100 bytes each on disk."""
BUILD_SECONDS = 120.0
"""Time limit for reading one database's values."""
_FORMAT = 4
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
CREATE TABLE partial (name TEXT, field TEXT);
CREATE TABLE stored (id INTEGER PRIMARY KEY, form TEXT, text TEXT);
CREATE VIRTUAL TABLE word USING fts5(form, content='', detail=none, columnsize=0, tokenize="ascii tokenchars '_'");
CREATE VIRTUAL TABLE temp.vocabulary USING fts5vocab(main, word, row);
CREATE TABLE spelling (word TEXT PRIMARY KEY) WITHOUT ROWID;
"""
"""The values of a column are contiguous, from `first` up to the next column's first. `partial` names the columns that
have more values than the file."""
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
        self._columns = [(table, column) for _, table, column in places]
        self._places = {key: i for i, key in enumerate(self._columns)}
        self._count = int(self._rows("SELECT max(id) FROM stored")[0][0] or 0)
        self._rows("SELECT 1 FROM word LIMIT 0")  # raises if SQLite lacks FTS5
        longest = self._rows("SELECT words FROM longest")[0][0]
        self._longest_span = min(SPAN_WORDS, longest or 1)
        self._lookup = ValueLookup(self._rows("SELECT name, field FROM partial"))

    def __len__(self) -> int:
        return self._count

    def values(self, table: str, column: str) -> tuple[str, ...]:
        """Up to `VALUES_PER_COLUMN` values of a column."""
        if (table, column) not in self._places:
            return self._sample.values(table, column)
        place = self._places[table, column]
        first, beyond = [*self._firsts, self._count + 1][place : place + 2]
        most = min(beyond, first + VALUES_PER_COLUMN)
        return tuple(text for (text,) in self._rows("SELECT text FROM stored WHERE id >= ? AND id < ?", (first, most)))

    def complete(self, table: str, column: str) -> bool:
        """Whether the file holds every value of a column."""
        if (table, column) not in self._places:
            return self._sample.complete(table, column)
        return (table, column) not in self._lookup.places

    @cached_property
    def stored_forms(self) -> dict[tuple[str, str], str | TextFigures]:
        return self._sample.stored_forms

    def facts(self, table: str, column: str) -> ColumnFacts:
        return self._sample.facts(table, column)

    def related(self, phrase: str) -> tuple[ValueHit, ...]:
        """Those of the index in memory, which holds every value of the columns that are categories."""
        return self._sample.related(phrase)

    def attach(self, database: Database, schema: Schema) -> None:
        super().attach(database, schema)
        self._sample.attach(database, schema)

    def look_up(self, phrases: Sequence[str]) -> tuple[ValueHit, ...]:
        found = self._lookup.find(phrases) if self._lookup.places else ()
        return tuple(ValueHit(*place, value, 0.97, "folded") for place, value in found)

    def _rows(self, sql: str, given: Sequence[object] = ()) -> list[tuple]:  # type: ignore[type-arg]
        with self._file_lock:
            return self._file.execute(sql, given).fetchall()

    def _hit(self, number: int, text: str, score: float, how: How) -> ValueHit:
        return ValueHit(*self._place(number), text, score, how)

    def _place(self, number: int) -> tuple[str, str]:
        return self._columns[bisect_right(self._firsts, number) - 1]

    def _longest_from(self, word: str) -> int:  # noqa: ARG002
        return self._longest_span

    def _counted(self, word: str) -> Iterator[ValueParts]:
        """By the first `_CANDIDATES` values with the word; the beginning of a word is not looked up, nor is a word that
        folds to several (`t-shirt`): the full-text index keeps no places, so it knows no phrases."""
        word = lemma(word)
        if " " in word:
            return
        rows = self._rows("SELECT id, text, form FROM stored WHERE form = ? LIMIT ?", (word, _CANDIDATES))
        rows += self._matching(f'"{word}"')
        for place, values in grouped((self._place(number), (text, form)) for number, text, form in rows).items():
            first = sum(form.partition(" ")[0] == word for _, form in values)
            last = sum(form.rpartition(" ")[2] == word for _, form in values)
            yield ValueParts(*place, len(values), first, last, tuple(text for text, _ in values[:EXAMPLES]))

    def _may_be_stored(self, folded: Sequence[str]) -> bool:  # noqa: ARG002
        """`find` itself is one look-up."""
        return True

    def _same(self, phrase: str, folded: str) -> list[ValueHit]:
        rows = self._rows("SELECT id, text FROM stored WHERE form = ? LIMIT ?", (singular(folded), _CANDIDATES))
        return [
            self._hit(number, text, 1.0, "same")
            if text == phrase
            else self._hit(number, text, *((0.97, "folded") if fold(text) == folded else (0.9, "inflected")))
            for number, text in rows
        ]

    def _containing(self, form: str) -> list[ValueHit]:
        words = form.split()
        telling = [w for w in words if len(w) > 2 or w.isdecimal()]
        if not telling:
            return []
        return [
            self._hit(number, text, 0.5 + 0.3 * len(words) / (value.count(" ") + 1), "part")
            for number, text, value in self._matching(" AND ".join(f'"{w}"' for w in telling))
            if f" {form} " in f" {value} "
        ]

    def _misspelled(self, folded: str) -> list[ValueHit]:
        """Values with the same words, some of them spelt differently or joined."""
        form = singular(folded)
        words = form.split()
        if len(words) == 1:
            alike = _nearest(form, self._alike("stored", "form", form))
            marks = ", ".join("?" * len(alike))
            rows = self._rows(f"SELECT id, text, form FROM stored WHERE form IN ({marks}) LIMIT 99", alike)
        else:
            rows = self._matching(" AND ".join(self._spelt_like(word) for word in words))
        scored = [(likeness(form, other), number, text) for number, text, other in rows]
        return [self._hit(number, text, 0.75 * near, "misspelt") for near, number, text in scored if near >= 0.5]

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
    """The four words that are most alike, within one or two edits."""
    near = process.extract(word, list(others), scorer=OSA.distance, score_cutoff=_edits(word), limit=None)
    return [other for _, other in sorted((edits, other) for other, edits, _ in near)[:4]]


def build(
    path: Path,
    columns: Sequence[tuple[str, str, Iterable[str]]],
    *,
    most: int = STORED_VALUES,
    cut: Collection[tuple[str, str]] = (),
) -> int:
    """Write the file and return the number of values in it, at most `most`. Each column gets an equal share of the room
    that those before it left, so small ones should come first. `cut`: columns of which not all values were given, known
    when all have been read. Raises sqlite3.Error, also if SQLite was compiled without FTS5."""
    descriptor = os.open(path, os.O_CREAT | os.O_RDWR | os.O_TRUNC, 0o600)
    os.close(descriptor)
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as file:
        file.executescript("PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; PRAGMA cache_size=-65536;" + _TABLES)
        file.execute("BEGIN")
        written, partial = 0, set()
        for place, (table, column, values) in enumerate(columns):
            file.execute("INSERT OR REPLACE INTO place VALUES (?, ?, ?)", (written + 1, table, column))
            rows = ((singular(folded), value) for value in values if (folded := fold(value)))
            share = islice(rows, (most - written) // (len(columns) - place))
            while batch := list(islice(share, _ROWS_AT_ONCE)):  # half the time of single inserts
                marks = ", ".join(["(?, ?)"] * len(batch))
                file.execute(f"INSERT INTO stored (form, text) VALUES {marks}", [*chain.from_iterable(batch)])
                written += len(batch)
            if next(rows, None) is not None:
                partial.add((table, column))
        file.executemany("INSERT INTO partial VALUES (?, ?)", sorted(partial | set(cut)))
        for statement in _INDEXES:
            file.execute(statement)
        file.execute("COMMIT")
    return written


def complete_value_index(database: Database, schema: Schema, *, wait: bool = True) -> ValueIndex:
    """The index of all values: the one in memory if it is complete, else the one on disk, built if it does not exist
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
def _opened(path: Path, sample: ValueIndex) -> StoredValueIndex:
    """Open the file once per process, because counting its values is costly."""
    return StoredValueIndex(path, sample)


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
    """Columns that the index in memory holds whole come first and from there; then the others, by how many rows their
    table has."""
    deadline = time.monotonic() + BUILD_SECONDS
    wanted = [(t, c) for t in schema.tables for c in t.columns if may_hold_names(t, c)]
    whole = [(t.name, c.name, small.values(t.name, c.name)) for t, c in wanted if small.complete(t.name, c.name)]
    rest = [(t, c) for t, c in wanted if not small.complete(t.name, c.name)]
    rest.sort(key=lambda pair: pair[0].row_count or 1 << 62)
    cut: set[tuple[str, str]] = set()
    read = [(t.name, c.name, _distinct(database, schema, t, c, deadline, cut)) for t, c in rest]
    build(path, [*sorted(whole, key=lambda w: len(w[2])), *read], cut=cut)


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

"""Values in a file: a million are looked up without loading them.

In: columns with their distinct values, read once. Out: a SQLite file, and `StoredValues`, which searches it for a
`ValueIndex`. Values are found by their folded singular form and by their words (SQLite's full-text index, FTS5). A
misspelt word is compared with the stored words that have a similar beginning. The file holds row values, so only its
owner may read it.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
import threading
from bisect import bisect_right
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import chain, islice
from pathlib import Path

from rapidfuzz import process
from rapidfuzz.distance import OSA

from agent.knowledge.grouping import grouped
from agent.knowledge.value_forms import How, fold, likeness, singular
from agent.knowledge.value_words import EXAMPLES
from eval.language.inflection import lemma

STORED_VALUES = 1_000_000
"""Maximum distinct values kept per database; about 100 bytes each on disk."""
_CANDIDATES = 400
"""Maximum stored values examined for one part of a value or one misspelling."""
_WORDS_ALIKE = 10_000
"""Maximum stored words with a similar beginning that are examined for a misspelt word."""
_ROWS_AT_ONCE = 200
"""Number of values written by one statement."""

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


Found = tuple[tuple[str, str], str, float, How]
"""Table and column, value, score, how it is meant."""
Counted = tuple[tuple[str, str], int, int, int, tuple[str, ...]]
"""Table and column, values with the word, as their first word, as their last word, examples."""


class StoredValues:
    """Looks values up in a file that `build` wrote. Safe to use from several threads. Raises sqlite3.Error."""

    def __init__(self, path: Path) -> None:
        self._file = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True, check_same_thread=False)
        self._lock = threading.Lock()
        places = self._rows("SELECT first, name, field FROM place ORDER BY first")
        self._firsts = [first for first, _, _ in places]
        self.columns = [(table, column) for _, table, column in places]
        self.partial: frozenset[tuple[str, str]] = frozenset(self._rows("SELECT name, field FROM partial"))
        self._count = int(self._rows("SELECT max(id) FROM stored")[0][0] or 0)
        self._rows("SELECT 1 FROM word LIMIT 0")  # raises if SQLite lacks FTS5
        self.longest = int(self._rows("SELECT words FROM longest")[0][0] or 1)

    def __len__(self) -> int:
        return self._count

    def _rows(self, sql: str, given: Sequence[object] = ()) -> list[tuple]:  # type: ignore[type-arg]
        with self._lock:
            return self._file.execute(sql, given).fetchall()

    def _place(self, number: int) -> tuple[str, str]:
        return self.columns[bisect_right(self._firsts, number) - 1]

    def counted(self, word: str) -> list[Counted]:
        """By the first `_CANDIDATES` values with the word; a word that folds to several (`t-shirt`) is not looked up:
        the full-text index keeps no places, so it knows no phrases."""
        word = lemma(word)
        if " " in word:
            return []
        rows = self._rows("SELECT id, text, form FROM stored WHERE form = ? LIMIT ?", (word, _CANDIDATES))
        rows += self._matching(f'"{word}"')
        counted: list[Counted] = []
        for place, values in grouped((self._place(number), (text, form)) for number, text, form in rows).items():
            first = sum(form.partition(" ")[0] == word for _, form in values)
            last = sum(form.rpartition(" ")[2] == word for _, form in values)
            counted.append((place, len(values), first, last, tuple(text for text, _ in values[:EXAMPLES])))
        return counted

    def same(self, phrase: str, folded: str) -> Iterator[Found]:
        rows = self._rows("SELECT id, text FROM stored WHERE form = ? LIMIT ?", (singular(folded), _CANDIDATES))
        for number, text in rows:
            how: tuple[float, How] = (0.97, "folded") if fold(text) == folded else (0.9, "inflected")
            yield self._place(number), text, *((1.0, "same") if text == phrase else how)

    def containing(self, form: str) -> Iterator[Found]:
        words = form.split()
        telling = [w for w in words if len(w) > 2 or w.isdecimal()]
        for number, text, value in self._matching(" AND ".join(f'"{w}"' for w in telling)) if telling else ():
            if f" {form} " in f" {value} ":
                yield self._place(number), text, 0.5 + 0.3 * len(words) / (value.count(" ") + 1), "part"

    def misspelled(self, folded: str) -> Iterator[Found]:
        """Values with the same words, some of them spelt differently or joined."""
        form = singular(folded)
        words = form.split()
        if len(words) == 1:
            alike = _nearest(form, self._alike("stored", "form", form))
            marks = ", ".join("?" * len(alike))
            rows = self._rows(f"SELECT id, text, form FROM stored WHERE form IN ({marks}) LIMIT 99", alike)
        else:
            rows = self._matching(" AND ".join(self._spelt_like(word) for word in words))
        for number, text, other in rows:
            if (near := likeness(form, other)) >= 0.5:
                yield self._place(number), text, 0.75 * near, "misspelt"

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

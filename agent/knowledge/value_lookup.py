"""Looks up the values that the index in memory has no room for: in a file of its own, and in the engine itself.

In: columns, the database that they are in, phrases. Out: stored values.

The file: a million values are looked up without loading them. It is a SQLite file, which `fill` writes and
`StoredValues` searches, by the folded singular form of values and by their words (SQLite's full-text index, FTS5). A
misspelt word is compared with the stored words that have a similar beginning. The file holds row values, so only its
owner may read it.

The engine: the stored values that are these phrases, but for capitals and plural, and figures of columns. One statement
a table, built as a tree and passed by the guard, with a deadline; what was found or not found is remembered for as long
as the index lives, which is until the data change.
"""

from __future__ import annotations

import contextlib
import os
import re
import sqlite3
import threading
import time
import weakref
from bisect import bisect_right
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path

from rapidfuzz import process
from rapidfuzz.distance import OSA
from sqlglot import exp

from agent.knowledge.effort import spend
from agent.knowledge.grouping import grouped
from agent.knowledge.own_queries import run
from agent.knowledge.value_reading import SCANNED_ROWS, VALUE_LENGTH, as_text, dated_name, distinct_texts, is_large
from agent.knowledge.value_words import EXAMPLES, How, fold, likeness, singular
from eval.databases.base import Database
from eval.databases.types import Limits, Value
from eval.language.inflection import lemma, plural
from eval.schema import NUMERIC, Column, Dialect, Schema, Table
from eval.sql import check, parsed_from_tree
from eval.sql.sources import quoted_column, table_source

STORED_VALUES = 1_000_000
"""Maximum distinct values kept per database; about 100 bytes each on disk."""
FILE_SECONDS = 120.0
"""Time limit for reading the values of one database's file."""
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


def fill(path: Path, database: Database, schema: Schema, left: Sequence[tuple[Table, Column]]) -> None:
    """Write the file of these columns, each read to the end, those of small tables first."""
    deadline = time.monotonic() + FILE_SECONDS
    cut: set[Place] = set()
    rest = sorted(left, key=lambda pair: pair[0].row_count or 1 << 62)
    build(path, [(t.name, c.name, _distinct(database, schema, t, c, deadline, cut)) for t, c in rest], cut=cut)


def _distinct(
    database: Database, schema: Schema, table: Table, column: Column, deadline: float, cut: set[Place]
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


SECONDS = 3.0
"""Time limit for the look-up of one question's phrases."""
PHRASES = 12
"""Maximum phrases of one look-up."""
_ROWS = 24
"""Maximum values that one statement gives."""
_REMEMBERED = 2_000
_PATIENCE = 3
"""A database that was too slow so many times is not asked again."""

_STEPS_A_STATEMENT = 400
"""The work of asking one table in the engine."""

FACTS_SECONDS = 0.5
"""Time limit for the figures of one table's columns."""
_COLUMNS = 80
"""Maximum columns of one table whose figures are read."""
_RANGED = re.compile(r"int|real|num|dec|float|doub|money|serial|date|time|year", re.I)
Place = tuple[str, str]
"""Table and column."""


@dataclass(frozen=True, slots=True)
class ColumnFigures:
    """Figures of one column. What was not read is None."""

    distinct: int | None = None
    """Known distinct values; all of them where `complete`."""
    complete: bool = False
    """Whether the index holds every value of the column."""
    least: Value = None
    greatest: Value = None
    """Smallest and largest number or date, as the engine gives them."""
    nulls: float | None = None
    """Share of the rows without a value, 0..1."""
    sampled: bool = False
    """Whether least, greatest and nulls are those of the first rows only."""


class ValueLookup:
    """The columns of one database that are too large for the index. Safe to use from several threads."""

    def __init__(self, places: Collection[Place], dates: Collection[Place] = ()) -> None:
        """`dates`: those of the places whose values are dates, which are not looked up."""
        self.places = frozenset(places)
        self._asked = grouped(sorted(self.places - set(dates)))
        self._database: weakref.ref[Database] | None = None
        self._schema: Schema | None = None
        self._known: dict[str, tuple[tuple[Place, str], ...]] = {}
        self._late = 0

    def attach(self, database: Database, schema: Schema) -> None:
        """The open database to ask; the index outlives it."""
        if self._database is None or self._database() is not database:
            self._database, self._schema, self._late = weakref.ref(database), schema, 0

    def facts(self, table: str) -> dict[str, ColumnFigures]:
        """The facts of a table's columns by name, in one pass, of a large table over its first rows; empty without a
        database, and where it fails or takes too long."""
        database = self._database() if self._database is not None else None
        found = self._schema.table(table) if self._schema is not None else None
        if database is None or found is None:
            return {}
        columns = [(c, bool(_RANGED.search(c.type)) or dated_name(c.name)) for c in found.columns[:_COLUMNS]]
        large = is_large(found)
        source: exp.Expression = table_source(found)
        if large:
            names = [quoted_column(c.name) for c, _ in columns]
            source = exp.select(*names).from_(source).limit(SCANNED_ROWS).subquery("scanned")
        cells: list[exp.Expression] = [exp.Count(this=exp.Star())]
        for column, ranged in columns:  # the ends of numbers, dates, and texts whose name says that they are dates
            value = quoted_column(column.name)
            cells.append(exp.Count(this=value))
            if ranged:
                plain = database.dialect == "sqlite" or NUMERIC.search(column.type)
                shown = value if plain else as_text(column, database.dialect)
                cells += [exp.Min(this=shown.copy()), exp.Max(this=shown.copy())]
        named = [exp.alias_(cell, f"f{k}") for k, cell in enumerate(cells)]
        result = run(database, exp.select(*named).from_(source), Limits(seconds=FACTS_SECONDS, rows=1))
        if not result.ok or not result.rows:
            return {}
        row = iter(result.rows[0])
        rows = int(str(next(row)))
        facts = {}
        for column, ranged in columns:
            nulls = 1 - int(str(next(row))) / rows if rows else None
            least, greatest = (next(row), next(row)) if ranged else (None, None)
            facts[column.name] = ColumnFigures(least=least, greatest=greatest, nulls=nulls, sampled=large)
        return facts

    def find(self, phrases: Sequence[str], seconds: float = SECONDS) -> tuple[tuple[Place, str], ...]:
        """Each place of a phrase, with the value as stored. Never raises: a database that is closed, fails or is too
        slow gives nothing."""
        asked = {key: p for p in phrases[:PHRASES] if (key := fold(p)) and len(p) <= VALUE_LENGTH}
        unknown = {key: phrase for key, phrase in asked.items() if key not in self._known}
        if unknown and self.places:
            spend(_STEPS_A_STATEMENT * len(self._asked))
            self._ask(unknown, seconds)
        return tuple(dict.fromkeys(found for key in asked for found in self._known.get(key, ())))

    def _ask(self, phrases: dict[str, str], seconds: float) -> None:
        database = self._database() if self._database is not None else None
        if database is None or self._schema is None or self._late >= _PATIENCE:
            return
        deadline = time.monotonic() + seconds
        found: dict[str, list[tuple[Place, str]]] = {key: [] for key in phrases}
        forms = {singular(key): key for key in phrases}
        for name, columns in self._asked.items():
            table, left = self._schema.table(name), deadline - time.monotonic()
            if table is None or left <= 0:
                continue
            tree = _statement(table, columns, list(phrases.values()), self._schema.dialect)
            result = run(database, tree, Limits(seconds=left, rows=_ROWS, cell_bytes=4 * VALUE_LENGTH))
            self._late += result.status == "timeout"
            cells = ((column, value) for row in result.rows for column, value in zip(columns, row, strict=False))
            for column, value in cells:
                if isinstance(value, str) and (key := forms.get(singular(fold(value)))) is not None:
                    found[key].append(((name, column), value))
        if time.monotonic() >= deadline:
            self._late += 1
        if len(self._known) > _REMEMBERED:
            self._known = {}
        self._known.update({key: tuple(values) for key, values in found.items()})


def _statement(table: Table, columns: Sequence[str], phrases: Sequence[str], dialect: Dialect) -> exp.Select:
    """One pass over the table: of each column the value if it is one of the phrases, else NULL."""
    indexed = {index.columns[0] for index in table.indexes} | set(table.primary_key[:1])
    conditions: list[exp.Expr] = []
    values: list[exp.Expression] = []
    for name in columns:
        column = table.column(name)
        if column is None:
            values.append(exp.null())
            continue
        condition = _is_one_of(column, phrases, dialect, column.name in indexed)
        conditions.append(condition)
        values.append(exp.Case(ifs=[exp.If(this=condition.copy(), true=as_text(column, dialect))]))
    named = [exp.alias_(value, f"v{k}") for k, value in enumerate(values)]
    return exp.select(*named).distinct().from_(table_source(table)).where(exp.or_(*conditions)).limit(_ROWS)


def _is_one_of(column: Column, phrases: Sequence[str], dialect: Dialect, indexed: bool) -> exp.Expr:
    """Whether a column holds one of the phrases. A list of spellings can use an index of the table and needs no
    function for each row; SQLite reads a table without an index in half the time where capitals do not count."""
    forms: dict[str, None] = {}
    for phrase in phrases:  # as it is written, in the singular and in the plural, without signs
        lower = phrase.lower()
        one = singular(lower)
        first, _, last = one.rpartition(" ")
        several = f"{first} {plural(last)}".strip() if last.isalpha() else lower
        others = (form for form in (lower, one, several, fold(phrase)) if form != lower)
        forms |= dict.fromkeys((phrase, *others))
    value = as_text(column, dialect) if dialect != "mysql" else quoted_column(column.name)  # where an index helps
    if dialect == "sqlite" and not indexed:
        folded = exp.Collate(this=value, expression=exp.Var(this="NOCASE"))
        texts = map(exp.Literal.string, forms)
        return exp.or_(*(exp.EQ(this=folded.copy(), expression=text) for text in texts))
    spelt: dict[str, None] = {}
    for form in forms:
        title = " ".join(word.capitalize() for word in form.split(" "))
        spelt |= dict.fromkeys((form, form.lower(), form.upper(), title, form.capitalize()))
    return exp.In(this=value, expressions=[exp.Literal.string(text) for text in spelt])

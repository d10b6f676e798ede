"""The value index: which stored text values a phrase of a question may mean, and in which columns.

In: an open `Database` and its `Schema`. Out: a `ValueIndex`, bounded in values, kept in memory per process and as a
compact file in the cache folder, keyed by the schema's fingerprint and the database's data version. Writing it removes
the files of earlier versions. `_read_values` is the only place where row values are read.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import re
import time
import unicodedata
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path

from sqlglot import exp

from agent.knowledge.indexed_columns import dated_name, may_hold_bits, may_hold_dates, may_hold_names
from agent.knowledge.stored_dates import ISO, SAMPLE, date_form
from eval.databases.base import Database
from eval.databases.types import Limits
from eval.language.inflection import lemma
from eval.schema import Column, Dialect, Schema, Table
from eval.sql import check, parsed_from_tree
from eval.sql.quoted_names import quoted_column, table_source
from eval.tasks.cache_folder import cache_folder, write_private

VALUES_PER_COLUMN = 3_000
"""Maximum distinct values kept per column."""
VALUES_IN_ALL = 60_000
VALUE_LENGTH = 80
"""Maximum characters of a value; longer ones are prose, which questions do not name."""
SCANNED_ROWS = 50_000
"""Maximum rows examined per table; of a larger table, the index covers only the beginning."""
BUILD_SECONDS = 10.0
"""Time limit for reading values; tables not reached in time are left out of the index."""
_BITS = {"0", "1"}
"""The values of an integer column that says yes or no."""
SPAN_WORDS = 8
"""Maximum words of a phrase that is looked up."""
_FORMAT = 6

_WORDS = re.compile(r"[^\W_]+")
_JOINED = re.compile(r"(?<=[a-z])(?=[A-Z])")
"""Where two words of a value meet that is written without a space (`bankTransfer`)."""


@dataclass(frozen=True, slots=True)
class ValueHit:
    """A stored value that a phrase may mean."""

    table: str
    column: str
    value: str
    """Exactly as stored."""
    score: float
    """1.0 same text; 0.97 same except for case, accents and signs; 0.9 inflected; less for a part or a misspelling."""


@dataclass(frozen=True, slots=True)
class ValueSpan:
    """Words `start` to `end` (exclusive) of a question, and the values that they may mean."""

    start: int
    end: int
    hits: tuple[ValueHit, ...]


@lru_cache(maxsize=50_000)
def fold(text: str) -> str:
    """Lower case, without accents and signs, single spaces: `Café-Bar` and `cafe bar` fold alike."""
    if not text.isascii():
        text = "".join(c for c in unicodedata.normalize("NFKD", text) if not unicodedata.combining(c)).casefold()
        return " ".join(_WORDS.findall(text))
    text = text.lower()
    if text.replace(" ", "").isalnum() and "  " not in text and text[0] != " " and text[-1] != " ":
        return text  # true of most values, and four times as fast
    return " ".join(_WORDS.findall(text))


def _written(value: str) -> set[str]:
    """The folded forms of a value: `bankTransfer` is also looked up as two words."""
    folded = fold(value)
    if not folded:
        return set()
    return {folded, fold(_JOINED.sub(" ", value))} if " " not in value and not value.islower() else {folded}


def singular(folded: str) -> str:
    """Each word in its base form: enough to make `Electronics` meet `electronic`."""
    return " ".join(map(lemma, folded.split())) if "s " in folded or folded.endswith("s") else folded


class ValueIndex:
    """Stored values by phrase. Build with `value_index`, or from columns and their values directly."""

    _longest_span = SPAN_WORDS

    def __init__(self, columns: Sequence[tuple[str, str, Sequence[str]]]) -> None:
        """`columns`: (table, column, distinct values)."""
        self._columns = [(table, column) for table, column, _ in columns]
        self._by_column = {(table, column): tuple(values) for table, column, values in columns}
        self._exact: dict[str, list[tuple[int, str]]] = {}
        for i, (_, _, values) in enumerate(columns):
            if set(values) <= _BITS:
                continue  # no question names them
            for value in values:
                for folded in _written(value):
                    self._exact.setdefault(folded, []).append((i, value))

    def __len__(self) -> int:
        return sum(len(v) for v in self._by_column.values())

    def values(self, table: str, column: str) -> tuple[str, ...]:
        """The known distinct values of a column; empty when it is not indexed."""
        return self._by_column.get((table, column), ())

    def moved(self, homes: Mapping[tuple[str, str], str]) -> ValueIndex:
        """The same values, some of them under another table: (table, column) -> table."""
        columns = ((homes.get(key, key[0]), key[1], self._by_column[key]) for key in self._columns)
        return ValueIndex(list(columns))

    def find(self, phrase: str, *, fuzzy: bool = False) -> tuple[ValueHit, ...]:
        """Values that a phrase may mean, best first. With `fuzzy`, parts of values and misspellings too."""
        folded = fold(phrase)
        if not folded:
            return ()
        hits = self._same(phrase, folded)
        if fuzzy and not hits:
            hits = self._containing(singular(folded)) or self._misspelled(folded)
        return tuple(sorted(hits, key=lambda h: -h.score)[:24])

    def spans(self, words: Sequence[str]) -> tuple[ValueSpan, ...]:
        """Every run of words that is a stored value (no fuzzy matches), longest first at each start."""
        folded = [fold(w) for w in words]
        spans = []
        for start in range(len(words)):
            if not folded[start]:
                continue
            for end in range(min(len(words), start + self._longest_span), start, -1):
                if folded[end - 1] and self._may_be_stored(folded[start:end]):
                    hits = self.find(" ".join(words[start:end]))
                    if hits:
                        spans.append(ValueSpan(start, end, hits))
        return tuple(spans)

    def _may_be_stored(self, folded: Sequence[str]) -> bool:
        """Whether `find` is worth its time for these words."""
        key = " ".join(f for f in folded if f)
        return key in self._exact or singular(key) in self._inflected

    def _same(self, phrase: str, folded: str) -> list[ValueHit]:
        """The values with this text, or with an inflection of it."""
        hits = [
            ValueHit(*self._columns[i], value, 1.0 if value == phrase else 0.97)
            for i, value in self._exact.get(folded, ())
        ]
        for other in self._inflected.get(singular(folded), ()):
            if other != folded:
                hits.extend(ValueHit(*self._columns[i], value, 0.9) for i, value in self._exact[other])
        return hits

    @cached_property
    def date_forms(self) -> dict[tuple[str, str], str]:
        """The columns whose values are dates, each with their form."""
        forms = {key: date_form(values, dated_name(key[1])) for key, values in self._by_column.items()}
        return {key: form for key, form in forms.items() if form}

    @cached_property
    def _inflected(self) -> dict[str, list[str]]:
        by_form: dict[str, list[str]] = {}
        for folded in self._exact:
            by_form.setdefault(singular(folded), []).append(folded)
        return by_form

    @cached_property
    def _holding(self) -> dict[str, list[str]]:
        """Word -> folded multi-word values that contain it."""
        by_word: dict[str, list[str]] = {}
        for folded in self._exact:
            words = folded.split()
            if 1 < len(words) <= 12:
                for word in dict.fromkeys(singular(folded).split()):
                    by_word.setdefault(word, []).append(folded)
        return by_word

    def _containing(self, form: str) -> list[ValueHit]:
        """Values that contain the phrase."""
        words = form.split()
        telling = [w for w in words if len(w) > 2 or w.isdecimal()]
        if not telling:
            return []
        candidates = min((self._holding.get(w, []) for w in telling), key=len)
        hits: list[ValueHit] = []
        for folded in candidates:
            if f" {form} " in f" {singular(folded)} ":
                share = len(words) / (folded.count(" ") + 1)
                hits.extend(ValueHit(*self._columns[i], v, 0.5 + 0.3 * share) for i, v in self._exact[folded])
            if len(hits) > 200:
                break
        return hits

    @cached_property
    def _trigrams(self) -> dict[str, list[str]]:
        by_trigram: dict[str, list[str]] = {}
        for folded in self._exact:
            if 4 <= len(folded) <= 40:
                for gram in _grams(folded):
                    by_trigram.setdefault(gram, []).append(folded)
        return by_trigram

    def _misspelled(self, folded: str) -> list[ValueHit]:
        if not 4 <= len(folded) <= 40 or folded.isdecimal():
            return []
        shared: dict[str, int] = {}
        grams = _grams(folded)
        for gram in grams:
            for other in self._trigrams.get(gram, ()):
                shared[other] = shared.get(other, 0) + 1
        hits: list[ValueHit] = []
        for other, count in shared.items():
            likeness = 2 * count / (len(grams) + len(other))
            if likeness >= 0.6 and abs(len(other) - len(folded)) <= 2 and other[0] == folded[0]:
                hits.extend(ValueHit(*self._columns[i], v, 0.75 * likeness) for i, v in self._exact[other])
        return hits


def likeness(one: str, other: str) -> float:
    """The trigram similarity of two texts, 0..1 (Dice's coefficient)."""
    left, right = _grams(one), _grams(other)
    return 2 * len(left & right) / (len(left) + len(right))


def _grams(text: str) -> set[str]:
    padded = f" {text} "
    return {padded[i : i + 3] for i in range(len(padded) - 2)}


EMPTY = ValueIndex(())
"""An empty index."""

_memory: dict[str, ValueIndex] = {}


def value_index(database: Database, schema: Schema, *, cache_dir: Path | None = None) -> ValueIndex:
    """The value index of a database, from memory or the cache folder, else read now. A database that cannot be read or
    has no rows gives an empty index. Never raises."""
    if not database.holds_rows:
        return EMPTY
    key = values_key(database, schema)
    known = _memory.get(key)
    if known is not None:
        return known
    path = cache_folder(cache_dir) / "values" / f"{key}.json"
    columns = _load(path)
    if columns is None:
        columns = _read_values(database, schema)
        _store(path, columns)
    index = ValueIndex(columns)
    while len(_memory) >= 16:
        _memory.pop(next(iter(list(_memory)), ""), None)
    _memory[key] = index
    return index


def values_key(database: Database, schema: Schema) -> str:
    """The cache key of a database's current values: the database's identity, a hyphen, and its state."""
    return f"{digest(database.url)}-{digest(f'{_FORMAT}|{schema.fingerprint}|{data_state(database)}')}"


def digest(text: str) -> str:
    """A short name for a text, as part of a file's name."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def data_state(database: Database) -> str:
    """`data_version`, or empty where the engine cannot tell."""
    try:
        return database.data_version()
    except Exception:  # noqa: BLE001 - an engine that cannot tell must not stop the question
        return ""


Columns = list[tuple[str, str, list[str]]]


def _load(path: Path) -> Columns | None:
    try:
        stored = json.loads(path.read_text(encoding="utf-8"))
        return [(str(t), str(c), [str(v) for v in values]) for t, c, values in stored]
    except (OSError, ValueError, TypeError):
        return None


def _store(path: Path, columns: Columns) -> None:
    """Write the file and remove those of earlier states of the database, including the index on disk; a process that
    still reads one keeps its open file."""
    with contextlib.suppress(OSError, ValueError):
        write_private(path, json.dumps(columns, separators=(",", ":")))
        for other in path.parent.glob(f"{path.stem.partition('-')[0]}-*"):
            if not other.name.startswith(path.stem):
                other.unlink(missing_ok=True)


def _read_values(database: Database, schema: Schema) -> Columns:
    """Distinct values of the text columns, with one statement per table, checked by the guard."""
    columns: Columns = []
    budget = VALUES_IN_ALL
    deadline = time.monotonic() + BUILD_SECONDS
    for table in schema.tables:
        dated = {c.name for c in table.columns if may_hold_dates(table, c, schema)}
        bits = {c.name for c in table.columns if may_hold_bits(table, c)} - dated
        wanted = [c for c in table.columns if may_hold_names(table, c) or c.name in dated | bits]
        if budget <= 0 or time.monotonic() > deadline:
            break
        if not wanted:
            continue
        by_column: dict[str, list[str]] = {c.name: [] for c in wanted}
        for number, value in _distinct(database, schema, table, wanted, bits):
            if isinstance(value, int) and wanted[number].name in dated | bits:
                value = str(int(value))
            if isinstance(value, str) and 0 < len(value) <= VALUE_LENGTH:
                by_column[wanted[number].name].append(value)
        for column in wanted:
            kept = by_column[column.name][:budget]
            if column.name in dated:
                kept = kept[:SAMPLE] if date_form(kept, dated=True) not in ("", ISO) else []
            if column.name in bits and set(kept) != _BITS:
                kept = []
            budget -= len(kept)
            if kept:
                columns.append((table.name, column.name, kept))
    return columns


def distinct_texts(column: Column, source: exp.Expression, dialect: Dialect) -> exp.Select:
    """A query for a column's distinct values, as texts where the engine has types."""
    value: exp.Expression = quoted_column(column.name)
    if dialect != "sqlite":
        value = exp.cast(value, exp.DataType.Type.TEXT)
    return exp.select(exp.alias_(value, "value")).distinct().from_(source)


def _distinct(
    database: Database, schema: Schema, table: Table, columns: list[Column], bits: Collection[str]
) -> list[tuple[int, object]]:
    """Pairs of a column's place and a value; of a column that may hold bits, three values are enough to tell."""
    parts: list[exp.Select] = []
    for number, column in enumerate(columns):
        source: exp.Expression = table_source(table)
        if table.row_count is None or table.row_count > SCANNED_ROWS:
            source = exp.select(quoted_column(column.name)).from_(source).limit(SCANNED_ROWS).subquery("scanned")
        most = len(_BITS) + 1 if column.name in bits else VALUES_PER_COLUMN
        distinct = distinct_texts(column, source, schema.dialect).limit(most)
        parts.append(
            exp.select(exp.alias_(exp.Literal.number(number), "number"), exp.column("value")).from_(
                distinct.subquery("found")
            )
        )
    tree: exp.Expression = parts[0]
    for part in parts[1:]:
        tree = exp.union(tree, part, distinct=False, copy=False)
    verdict = check(parsed_from_tree(tree, schema.dialect))
    if verdict.statement is None:
        return []
    result = database.execute(
        verdict.statement,
        limits=Limits(seconds=5.0, rows=VALUES_PER_COLUMN * len(columns), cell_bytes=4 * VALUE_LENGTH),
    )
    return [(int(str(row[0])), row[1]) for row in result.rows] if result.ok else []

"""The value index: which stored text values a phrase of a question may mean, and in which columns.

In: an open `Database` and its `Schema`. Out: a `ValueIndex`, bounded in values, kept in memory per process and as a
compact file in the cache folder, keyed by the schema's fingerprint and the database's data version. Writing it removes
the files of earlier versions. What the index has no room for is looked up in a file of its own, built once for a
state of the data, and in the engine (`value_lookup`).
"""

from __future__ import annotations

import contextlib
import copy
import hashlib
import json
import sqlite3
import threading
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from itertools import chain, islice
from pathlib import Path

from rapidfuzz import fuzz, process

from agent.knowledge.effort import spend
from agent.knowledge.grouping import grouped
from agent.knowledge.stored_dates import date_form
from agent.knowledge.value_lookup import ColumnFigures, Found, StoredValues, ValueLookup, fill
from agent.knowledge.value_reading import BITS, StoredColumn, dated_name, is_large, may_hold_names, read_columns
from agent.knowledge.value_words import (
    How,
    ValueParts,
    ValueRelations,
    ValueWords,
    fold,
    folded_forms,
    likeness,
    singular,
)
from eval.databases.base import Database
from eval.language.inflection import lemma
from eval.language.lexicon import FUNCTION_WORDS
from eval.language.numbers import TextFigures, text_figures
from eval.schema import Schema, told_apart
from eval.tasks.cache_folder import cache_folder, kept_file, write_private

_STEPS_A_LOOK_UP = 4
"""The work of looking up one phrase, apart from the values that are compared with it."""
SPAN_WORDS = 8
"""Maximum words of a phrase that is looked up."""
_FORMAT, _FILE_FORMAT = 7, 5
_MOST_HITS = 24


@dataclass(frozen=True, slots=True)
class ValueHit:
    """A stored value that a phrase may mean."""

    table: str
    column: str
    value: str
    """Exactly as stored."""
    score: float
    """1.0 same text; 0.97 same except for case, accents and signs; 0.9 inflected; less for a part or a misspelling."""
    how: How = "same"


@dataclass(frozen=True, slots=True)
class ValueSpan:
    """Words `start` to `end` (exclusive) of a question, and the values that they may mean."""

    start: int
    end: int
    hits: tuple[ValueHit, ...]


class ValueIndex:
    """Stored values by phrase. Build with `value_index`, or from columns and their values directly. What a question
    needs is built on first use, once, and kept with the index."""

    def __init__(
        self, columns: Sequence[tuple[str, str, Sequence[str]]], incomplete: Collection[tuple[str, str]] = ()
    ) -> None:
        """`columns`: (table, column, distinct values); `incomplete`: those that have more values than these."""
        self._columns = [(table, column) for table, column, _ in columns]
        self._values = [tuple(values) for _, _, values in columns]
        self._places = {key: i for i, key in enumerate(self._columns)}
        self._incomplete = frozenset(incomplete)
        self._dates = {key for key in incomplete if date_form(self.values(*key), dated_name(key[1]))}
        self._lookup = ValueLookup(incomplete, self._dates)
        self._file: StoredValues | None = None
        self._in_file: frozenset[int] = frozenset()
        """Places of the columns whose values the file has, more of them than there are here."""
        self._homes: Mapping[tuple[str, str], str] = {}
        self._facts: dict[str, dict[str, ColumnFigures]] = {}
        self._parts: dict[str, tuple[ValueParts, ...]] = {}

    def __len__(self) -> int:
        here = sum(len(values) for i, values in enumerate(self._values) if i not in self._in_file)
        return here + (len(self._file) if self._file is not None else 0)

    @property
    def columns(self) -> Sequence[tuple[str, str]]:
        """The tables and columns whose values it holds."""
        return self._columns

    def values(self, table: str, column: str) -> tuple[str, ...]:
        """The known distinct values of a column; empty when it is not indexed."""
        place = self._places.get((table, column))
        return () if place is None else self._values[place]

    def complete(self, table: str, column: str) -> bool:
        """Whether `values` gives every value of a column (but for texts that are too long)."""
        place = self._places.get((table, column))
        return place is not None and self._origins[place] not in self._incomplete

    def facts(self, table: str, column: str) -> ColumnFigures:
        """Figures of a column, read on first use for its whole table, in one statement."""
        place = self._places.get((table, column))
        source = self._origins[place][0] if place is not None else self._sources.get(table, table)
        if source not in self._facts:
            self._facts[source] = self._lookup.facts(source)
        found = self._facts[source].get(column, ColumnFigures())
        known = len(self._values[place]) if place is not None else None
        return replace(found, distinct=known, complete=self.complete(table, column))

    @cached_property
    def _sources(self) -> dict[str, str]:
        """The table that is read for each table under which values were moved."""
        return {home: table for (table, _), home in self._homes.items()}

    @cached_property
    def _origins(self) -> list[tuple[str, str]]:
        """The tables and columns of the database that the columns' values were read from."""
        return list(self._columns)

    def moved(self, homes: Mapping[tuple[str, str], str], names: Mapping[tuple[str, str], str] = {}) -> ValueIndex:
        """The same values, some of them under another table: (table, column) -> table, or another name of their column.
        All that was built is shared."""
        moved = copy.copy(self)
        moved._origins = self._origins
        moved._columns = [(homes.get(key, key[0]), names.get(key, key[1])) for key in self._columns]
        moved._places = {key: i for i, key in enumerate(moved._columns)}
        moved._homes, moved._parts = homes, {}
        for name in ("_sources", "_homes_of_columns", "stored_forms"):
            moved.__dict__.pop(name, None)
        return moved

    def with_file(self, file: StoredValues) -> ValueIndex:
        """The same index with a file of the values that it has no room for. What was built is shared."""
        whole = copy.copy(self)
        whole._file, whole._parts = file, {}
        of_file = set(file.columns)
        whole._in_file = frozenset(i for i, key in enumerate(self._origins) if key in of_file)
        whole._lookup = ValueLookup(file.partial, self._dates)
        return whole

    @cached_property
    def _homes_of_columns(self) -> dict[tuple[str, str], tuple[str, str]]:
        """By the tables and columns of the database, those under which their values are known."""
        return dict(zip(self._origins, self._columns, strict=True))

    def _found(self, hits: list[ValueHit], in_file: Iterable[Found]) -> list[ValueHit]:
        """The hits, and those of the file that are not among them."""
        known = {(h.table, h.column, h.value) for h in hits}
        for place, value, score, how in in_file:
            table, column = self._homes_of_columns.get(place, place)
            if (table, column, value) not in known:
                hits.append(ValueHit(table, column, value, score, how))
        return hits

    def attach(self, database: Database, schema: Schema) -> None:
        """The open database in which values are looked up that the index has no room for."""
        self._lookup.attach(database, schema)

    def find(self, phrase: str, *, fuzzy: bool = False) -> tuple[ValueHit, ...]:
        """Values that a phrase may mean, best first. With `fuzzy`, parts of values and misspellings too, and for a name
        or number that the index does not hold, those in the engine."""
        folded = fold(phrase)
        if not folded:
            return ()
        spend(_STEPS_A_LOOK_UP)
        hits = self._same(phrase, folded)
        if fuzzy and not hits:
            named = phrase != phrase.lower() or any(map(str.isdigit, phrase))
            hits = list(self.look_up([phrase])) if named else []
            hits = hits or self._containing(singular(folded))
            if not hits and 4 <= len(folded) <= 40 and not folded.isdecimal():
                hits = self._misspelled(folded)
        return tuple(sorted(hits, key=lambda h: -h.score)[:_MOST_HITS])

    def look_up(self, phrases: Sequence[str]) -> tuple[ValueHit, ...]:
        """The values in the engine itself, of the columns of which the index holds only some. One statement a table;
        without a question's need for it, not to be called: it may take seconds on very large tables."""
        if not self._lookup.places:
            return ()
        wanted = {fold(phrase): phrase for phrase in phrases}
        return tuple(
            ValueHit(*self._homes_of_columns.get(place, place), value, *_likeness(wanted.get(fold(value), ""), value))
            for place, value in self._lookup.find(phrases)
        )

    def parts(self, word: str) -> tuple[ValueParts, ...]:
        """Columns with values that have this word (`kershaw` in `Clayton Kershaw`), else a word that begins so; best
        first."""
        folded = fold(word)
        if not folded or folded in FUNCTION_WORDS:
            return ()
        if (known := self._parts.get(folded)) is None:
            if len(self._parts) > 1_000:
                self._parts.clear()
            known = self._parts[folded] = tuple(sorted(self._counted(folded), key=lambda p: (-p.score, -p.count)))
        return known

    def _counted(self, word: str) -> Iterator[ValueParts]:
        in_file = self._file.counted(word) if self._file is not None else ()
        for key, holding, first, last, examples in in_file:
            yield ValueParts(*self._homes_of_columns.get(key, key), holding, first, last, examples)
        found = self._words.counted(word)
        for place, holding, first, last, examples in found or (() if in_file else self._words.beginning_with(word)):
            if place not in self._in_file or not found:
                yield ValueParts(*self._columns[place], holding, first, last, examples, prefix=not found)

    def related(self, phrase: str) -> tuple[ValueHit, ...]:
        """Values that a phrase means without naming them: another word of the family (`rainy` for `rain`), a short form
        (`Saturday` for `Sat`, `women` for `F`) or a country (`Japanese` for `Japan`), in columns of such values."""
        folded = fold(phrase)
        if not folded:
            return ()
        found = self._relations.meant(folded)[:_MOST_HITS]
        return tuple(ValueHit(*self._columns[place], value, score, how) for place, value, score, how in found)

    def spans(self, words: Sequence[str]) -> tuple[ValueSpan, ...]:
        """Every run of words that is a stored value (no fuzzy matches), longest first at each start."""
        folded = [fold(w) for w in words]
        spans = []
        for start, first in enumerate(folded):
            if not first:
                continue
            for end in range(min(len(words), start + self._longest_from(first)), start, -1):
                if folded[end - 1] and self._may_be_stored(folded[start:end]):
                    hits = self.find(" ".join(words[start:end]))
                    if hits:
                        spans.append(ValueSpan(start, end, hits))
        return tuple(spans)

    def _longest_from(self, word: str) -> int:
        """Maximum words of a phrase that begins with this word; signs between them count as words."""
        longest = self._file.longest if self._file is not None else 1
        return SPAN_WORDS if " " in word or lemma(word) in self._beginnings else min(longest, SPAN_WORDS)

    @cached_property
    def _beginnings(self) -> frozenset[str]:
        """The first words of the values of several words, as lemmas."""
        return frozenset({lemma(folded.partition(" ")[0]) for folded in self._exact if " " in folded})

    def _may_be_stored(self, folded: Sequence[str]) -> bool:
        """Whether `find` is worth its time for these words."""
        if self._file is not None:
            return True
        key = folded[0] if len(folded) == 1 else " ".join(f for f in folded if f)
        one = singular(key)
        return key in self._exact or one in self._exact or one in self._plurals

    def _same(self, phrase: str, folded: str) -> list[ValueHit]:
        """The values with this text, or with an inflection of it."""
        hits = [
            ValueHit(*self._columns[i], value, *_likeness(phrase, value)) for i, value in self._exact.get(folded, ())
        ]
        one = singular(folded)
        for other in chain((one,) if one in self._exact else (), self._plurals.get(one, ())):
            if other != folded:
                hits.extend(self._hits(other, 0.9, "inflected"))
        return hits if self._file is None else self._found(hits, self._file.same(phrase, folded))

    def _hits(self, folded: str, score: float, how: How) -> Iterator[ValueHit]:
        """The values with this folded text, but for those that the file has."""
        held = ((i, value) for i, value in self._exact.get(folded, ()) if i not in self._in_file)
        return (ValueHit(*self._columns[i], value, score, how) for i, value in held)

    @cached_property
    def stored_forms(self) -> dict[tuple[str, str], str | TextFigures]:
        """The columns whose values are dates or figures kept as text, each with their form."""
        columns = zip(self._columns, self._values, strict=True)
        return {
            key: form
            for key, values in columns
            if (form := date_form(values, dated_name(key[1])) or text_figures(values, self.complete(*key)))
        }

    @cached_property
    def _exact(self) -> dict[str, list[tuple[int, str]]]:
        """Folded text -> places of columns and values."""
        exact: dict[str, list[tuple[int, str]]] = {}
        for i, values in enumerate(self._values):
            if BITS.issuperset(values):
                continue  # no question names them
            for value in values:  # a loop: this runs for each value
                for folded in folded_forms(value):
                    exact.setdefault(folded, []).append((i, value))
        return exact

    @cached_property
    def _plurals(self) -> dict[str, list[str]]:
        """Singular -> the folded values that are another form of it."""
        return grouped((one, folded) for folded in self._exact if (one := singular(folded)) != folded)

    @cached_property
    def _words(self) -> ValueWords:
        return ValueWords(self._exact)

    @cached_property
    def _relations(self) -> ValueRelations:
        return ValueRelations([column for _, column in self._columns], self._values, self._exact, self._words)

    def _containing(self, form: str) -> list[ValueHit]:
        """Values that contain the phrase."""
        parts = self._words.containing(form)
        held = (hit for folded, share in parts for hit in self._hits(folded, 0.5 + 0.3 * share, "part"))
        hits = list(islice(held, 200))
        return hits if self._file is None else self._found(hits, self._file.containing(form))

    @cached_property
    def _spellings(self) -> dict[tuple[str, int], list[str]]:
        """First letter and length -> folded values."""
        return grouped(((folded[0], len(folded)), folded) for folded in self._exact if 4 <= len(folded) <= 40)

    def _misspelled(self, folded: str) -> list[ValueHit]:
        lengths = range(len(folded) - 2, len(folded) + 3)
        others = list(chain.from_iterable(self._spellings.get((folded[0], length), ()) for length in lengths))
        spend(len(others) // 100)
        near = process.extract(folded, others, scorer=fuzz.ratio, score_cutoff=60, limit=_MOST_HITS)
        scored = ((likeness(folded, other), other) for other, _, _ in near)
        hits = [hit for near_, other in scored if near_ >= 0.6 for hit in self._hits(other, 0.75 * near_, "misspelt")]
        return hits if self._file is None else self._found(hits, self._file.misspelled(folded))


def _likeness(phrase: str, value: str) -> tuple[float, How]:
    """The score of a value with the same folded text."""
    return (1.0, "same") if value == phrase else (0.97, "folded")


EMPTY = ValueIndex(())
"""An empty index."""

_memory: dict[str, ValueIndex] = {}
_lock = threading.Lock()
_building: set[Path] = set()
"""Files that this process has started to build for later questions."""


def value_index(database: Database, schema: Schema) -> ValueIndex:
    """The value index of a database, from memory or the cache folder, else read now. A database that cannot be read or
    has no rows gives an empty index. Never raises."""
    if not database.holds_rows:
        return EMPTY
    schema = told_apart(schema)
    key = values_key(database, schema)
    index = _memory.get(key)
    if index is None:
        path = cache_folder() / "values" / f"{key}.json"
        try:
            stored = json.loads(path.read_text(encoding="utf-8"))
            columns = [StoredColumn(str(t), str(c), tuple(map(str, v)), bool(whole)) for t, c, whole, v in stored]
        except (OSError, ValueError, TypeError):
            columns = read_columns(database, schema)
            with contextlib.suppress(OSError, ValueError):
                rows = [(c.table, c.column, c.complete, c.values) for c in columns]
                write_private(path, json.dumps(rows, separators=(",", ":")))
                for other in path.parent.glob(f"{key.partition('-')[0]}-*"):  # of earlier states, those on disk too
                    if not other.name.startswith(key):
                        other.unlink(missing_ok=True)
        incomplete = {(c.table, c.column) for c in columns if not c.complete}
        index = ValueIndex([(c.table, c.column, c.values) for c in columns], incomplete)
        while len(_memory) >= 16:
            _memory.pop(next(iter(list(_memory)), ""), None)
        _memory[key] = index
    index.attach(database, schema)
    return index


def complete_value_index(database: Database, schema: Schema, *, wait: bool = True) -> ValueIndex:
    """The index of all values: the one in memory, with a file of what that has no room for, built if it does not exist
    (one second for some 200,000 values). Without `wait` it is built for later questions, and the end of the process
    does not wait for that. Never raises: where there is no file, the index in memory is returned."""
    small = value_index(database, schema)
    named = ((t, c) for t in schema.tables for c in t.columns if may_hold_names(t, c))
    left = [(t, c) for t, c in named if not small.complete(t.name, c.name)]
    # A column without any value is not in the index
    if not database.holds_rows or not any(is_large(t) or small.values(t.name, c.name) for t, c in left):
        return small
    try:
        path = cache_folder() / "values" / f"{values_key(database, schema)}-{_FILE_FORMAT}.sqlite"
        if wait or path.exists():
            path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            index = _opened(kept_file(path, lambda unfinished: fill(unfinished, database, schema, left)), small)
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
def _opened(path: Path, small: ValueIndex) -> ValueIndex:
    """Open the file once per process, because counting its values is costly."""
    return small.with_file(StoredValues(path))


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

"""A schema's words: its table and column names split into words, with each column's role.

In: an `eval.schema.Schema`. Out: a `Vocabulary`, cached per schema fingerprint, which the linker searches. Compound
names (`custname`, `orderDetails`, `emp_id`) are split by case, signs and the words of the schema itself.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from typing import Literal

from rapidfuzz import fuzz, process

from agent.knowledge.grouping import grouped
from agent.knowledge.stored_dates import ISO
from eval.language.inflection import lemma, plural_phrase, root, stem
from eval.language.lexicon import abbreviations, open_lexicon, synonyms, word_set
from eval.language.numbers import TextFigures
from eval.schema import Column, Schema, Table

Role = Literal["id", "name", "date", "year", "number", "flag", "text"]
StoredForm = str | TextFigures

_NUMERIC = re.compile(r"int|real|num|dec|float|doub|money|serial|bit\b", re.I)
_FLAGGED = re.compile(r"(?:[Ii]s|[Hh]as|IS|HAS)_|(?:[Ii]s|[Hh]as)[A-Z]")
_DATED = re.compile(r"(?:_(?:at|on)|[a-z](?:At|On)|timestamp)\Z")
_TEMPORAL = re.compile(r"date|time", re.I)
_BEGUN = word_set(
    "build construct found establish open publish release make manufacture produce join start begin bear plant"
)
"""What `year_built` and the like are the year of."""
_NEVER_FIGURES = word_set(
    "zip postal postcode plz phone telephone tel mobile fax code number no nr version release revision serial model "
    "part batch lot section chapter isbn sku card account"
)
"""Words of columns whose texts are names, whatever they look like."""
_ID_WORDS = ("id", "key", "code", "uuid", "guid", "number", "ssn", "isbn")
NAME_WORDS = ("name", "title", "label", "caption", "subject")
_TONGUES = word_set("en eng english de fr es it nl pt sv nb da fi pl")
"""What the name of a row may end with: the language that it is in."""
_CONTACT = frozenset(("contact", "agent", "owner"))  # the names of somebody else
_WHOLE_NAMES = (
    *((who, "name") for who in ("company", "business", "organization", "customer", "client", "person")),
    *((what,) for what in ("company", "business", "organization")),
)
"""Names of rows, whatever the table is called (`accounts.company_name`)."""
_TABLE_PREFIXES = {"tbl", "dim", "dimension", "fact", "fct", "stg", "staging", "ref", "reference", "vw", "table",
                   "lkp", "lkup", "lookup", "lu", "mst", "mstr"}  # fmt: skip
_MISSPELT = 7
"""Letters that a misspelt word has at least."""
_SIGNS = re.compile(r"[\W_]+")
_SPLIT = re.compile(
    r"(?:[kMGT]?Wh|kW|kVA|kV|[kMG]Hz|mAh|pH|dB)(?![a-z])|"  # units with capitals inside
    r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[^\W\d_A-Z]+|[A-Z]+|\d+"
)
_ENDING = 4
"""Minimum letters of a word that others end in."""
_LABELS = (("code",), ("number",), ("no",), ("registration",), ("registration", "number"), ("plate",), ("reference",),
           ("license", "plate"), ("licence", "plate"), ("plate", "number"))  # fmt: skip
_SAME_WORD = 0.9
_ABBREVIATED = 0.9  # the affinity of a word to its abbreviation in a name
_NEVER_SHORT = word_set("above below under after before")  # nor is `abv` short for any of them
_INITIALS = {"f": "first", "m": "middle", "l": "last"}
_SILENT = word_set("of in the and for to by a an on at be have approx approximately circa")
_FLAGS = {"act": "active", "del": "deleted", "avail": "available", "canc": "cancelled"}
"""Abbreviations that mean a state in the name of a yes-or-no column."""
_EVENTS = {"cls": "closed", "prom": "promised", "canc": "cancelled", "rtn": "returned",
           "ret": "returned", "term": "terminated", "dep": "departure", "rec": "received"}  # fmt: skip
"""Abbreviations that mean an event in the name of a date."""
_NO_KEYS = word_set("paid void grid said avoid valid rapid solid fluid covid humid maid acid laid bid")
"""Words that end in `id` without being a key."""
_TAILS = word_set("name names id ids code date time number num no type price count year title key")
_DAYS = {"mon": "monday", "tue": "tuesday", "wed": "wednesday", "thu": "thursday", "fri": "friday", "sat": "saturday",
         "sun": "sunday"}  # fmt: skip
_VOWELS = frozenset("aeiou")
_UNMISTAKABLE = word_set("percent quantity amount count number average maximum minimum year date")
"""Words whose abbreviations (`pct`) stand for no other word."""
_LASTING = word_set("duration length time runtime delay wait run")
_cache: dict[tuple[str, tuple[tuple[tuple[str, str], StoredForm], ...]], Vocabulary] = {}


@dataclass(frozen=True, slots=True)
class ColumnWord:
    """A column as the linker sees it."""

    table: str
    column: Column
    words: tuple[str, ...]
    role: Role
    numeric: bool
    primary: bool
    foreign: bool
    owner: tuple[str, ...] = ()
    """The words of the table's name."""
    form: str = ""
    """How its dates are stored, if neither as a date nor as ISO text; see `stored_dates`."""
    figures: TextFigures | None = None
    """How its figures are written, if they are kept as text."""

    @property
    def name(self) -> str:
        return self.column.name

    @property
    def key(self) -> tuple[str, str]:
        return (self.table, self.column.name)

    @property
    def unit(self) -> str:
        """What its numbers are of (`kg`, `%`), in small letters, as far as that was read from their cells."""
        return (self.column.values.unit or "").lower() if self.column.values else ""

    @property
    def is_figure(self) -> bool:
        """Whether it holds figures: numbers that are neither keys nor codes nor years."""
        return self.numeric and self.role == "number"


@dataclass(frozen=True, slots=True)
class TableWord:
    """A table as the linker sees it."""

    table: Table
    words: tuple[str, ...]
    bridge: bool
    """True for a junction table: foreign keys make up its key or most of its columns."""

    @property
    def name(self) -> str:
        return self.table.name

    @property
    def plural(self) -> str:
        """The words that name several rows: `order items`; those of one row where they have no English plural."""
        phrase = plural_phrase(self.words)
        return phrase if lemma(phrase.rsplit(" ", 1)[-1]) == self.words[-1] else " ".join(self.words)


@dataclass(frozen=True)
class Vocabulary:
    """The words of one schema, indexed for look-up."""

    schema: Schema
    tables: dict[str, TableWord]
    columns: dict[tuple[str, str], ColumnWord]
    by_table: dict[str, tuple[ColumnWord, ...]]
    forms: dict[str, tuple[tuple[str, float], ...]]
    """Any form of a word (lemma, `~`stem, `^`root) -> schema words with an affinity of 0..1."""
    holders: dict[str, tuple[TableWord | ColumnWord, ...]] = field(repr=False)
    """Schema word -> tables and columns whose names contain it."""
    joined: dict[str, tuple[TableWord | ColumnWord, ...]] = field(repr=False)
    """Multi-word names written as one word (`wifi` for Wi-Fi)."""
    shortened: tuple[tuple[str, str], ...] = ()
    """Abbreviations as they stand in the schema's names, with the schema word that each was taken for."""
    _naming: dict[str, tuple[ColumnWord, ...]] = field(init=False, default_factory=dict, repr=False, compare=False)
    """The name columns of the tables that were asked about."""

    def affinities(self, word: str) -> dict[str, float]:
        """Schema words that a question's word may refer to."""
        meant = self._affinities(word)
        full_words = abbreviations().get(word, ())
        if full_words and (not open_lexicon(word) or word in self._spelled):
            for full in full_words:
                meant = self._affinities(full) | meant
        return meant

    @cached_property
    def _spelled(self) -> frozenset[str]:
        """The pieces of names as they are written: `pop` may be short for the population here."""
        names = [*(t.name for t in self.tables.values()), *(c.name for c in self.columns.values())]
        return frozenset(piece.lower() for name in names for piece in _SPLIT.findall(name))

    def _affinities(self, word: str) -> dict[str, float]:
        scores: dict[str, float] = {}
        for form in (lemma(word), "~" + stem(word), "^" + root(word)):
            for schema_word, score in self.forms.get(form, ()):
                if score > scores.get(schema_word, 0.0):
                    scores[schema_word] = score
        if max(scores.values(), default=0.0) < _SAME_WORD:
            base = lemma(word)
            for short, schema_word in self._shortened_by_letter.get(base[:1], ()) if base not in _NEVER_SHORT else ():
                if abbreviates(short, base) and not self._misspelt(base):
                    scores[schema_word] = _ABBREVIATED
        return scores

    def _misspelt(self, word: str) -> bool:
        """Whether a word that is none is nearly a longer one of the schema (`insepction`)."""
        alike = () if len(word) < _MISSPELT or open_lexicon(word) else self.spellings.get(len(word), ())
        return process.extractOne(word, alike, scorer=fuzz.ratio, score_cutoff=85) is not None

    @cached_property
    def _shortened_by_letter(self) -> dict[str, list[tuple[str, str]]]:
        """The abbreviations by their first letter, which is that of the word that they stand for."""
        return grouped((short[0], (short, word)) for short, word in self.shortened)

    @cached_property
    def only_wide_table(self) -> TableWord | None:
        """The only table of more than one column, where there is just one."""
        wide = [t for t in self.tables.values() if t.table.kind == "table" and len(t.table.columns) > 1]
        return wide[0] if len(wide) == 1 else None

    @cached_property
    def by_initials(self) -> dict[str, list[ColumnWord]]:
        """Columns by the initials of their name (`mpg` for `Miles_per_Gallon`)."""
        pieces = ((_SPLIT.findall(column.name), column) for column in self.columns.values())
        return grouped(("".join(p[0] for p in parts).lower(), column) for parts, column in pieces if len(parts) > 1)

    @cached_property
    def spellings(self) -> dict[int, list[str]]:
        """The schema words by their length."""
        return grouped((len(word), word) for word in self.holders)

    @cached_property
    def known_spellings(self) -> dict[int, list[str]]:
        """The longer words that lead to a schema word, by their length."""
        return grouped((len(form), form) for form in self.forms if form[0] not in "~^" and len(form) > 5)

    def beginning_or_ending(self, word: str) -> list[str]:
        """The schema words of 3 to 5 letters with which a word begins, and those that end in it; in their order."""
        short = (word[:size] for size in (3, 4, 5))
        found = {w for w in short if w in self.holders} | {*self._by_ending.get(word[-_ENDING:], ())}
        return sorted((w for w in found if word.startswith(w) or w.endswith(word)), key=self._order.__getitem__)

    @cached_property
    def _by_ending(self) -> dict[str, list[str]]:
        """The schema words by their last letters."""
        return grouped((word[-_ENDING:], word) for word in self.holders)

    @cached_property
    def _order(self) -> dict[str, int]:
        return {word: place for place, word in enumerate(self.holders)}

    def table_named(self, word: str) -> TableWord | None:
        """The first table whose name ends in this word, which may be in the plural."""
        return self._by_noun.get(lemma(word.lower()))

    @cached_property
    def _by_noun(self) -> dict[str, TableWord]:
        """The first table for each last word of a name."""
        return {t.words[-1]: t for t in reversed(self.tables.values()) if t.words}

    def name_columns(self, table: str) -> tuple[ColumnWord, ...]:
        """The columns that identify a row of this table to a person; empty if there are none."""
        if table not in self._naming:
            self._naming[table] = self._name_columns(table)
        return self._naming[table]

    def _name_columns(self, table: str) -> tuple[ColumnWord, ...]:
        columns = self.by_table[table]
        words = self.tables[table].words
        named = [c for c in columns if c.words[-1:] and c.words[-1] in NAME_WORDS and not c.foreign]
        firm = [c for c in named if c.words in _WHOLE_NAMES]
        if firm and any("contact" in c.words for c in named):  # the customer is the company
            return (firm[0],)
        first = [c for c in named if c.words[-2:] == ("first", "name")]
        last = [c for c in named if c.words[-2:] == ("last", "name")]
        own = [c for c in named if c.words in (("name",), ("full", "name"), ("display", "name"))]
        own += [c for c in named if c.words[:-1] and set(c.words[:-1]) <= set(words)]
        if own:
            return (own[0],)
        if first and last:
            return (first[0], last[0])
        if titled := [c for c in named if c.words == ("title",)]:
            return (titled[0],)
        if named and not (self.key_column(table) and self.tables[table].table.foreign_keys):
            return (next((c for c in named if not c.numeric), named[0]),)
        whole = [c for c in (*named, *columns) if c.words in _WHOLE_NAMES and not c.numeric and not c.foreign]
        named = [c for c in named if not _CONTACT & set(c.words)]
        if whole and whole[0] is (*named, *whole)[0]:  # the company of a stay's guest does not name the stay
            return (whole[0],)
        if same := [c for c in columns if c.words == words and not c.numeric and not c.foreign]:
            return (same[0],)
        described = [c for c in columns if c.words[-1:] == ("description",) and set(c.words[:-1]) <= set(words)]
        coded = [  # what people call a row without a name: `room_code`, `registration`
            c
            for c in columns
            if not (c.primary or c.foreign or c.numeric) and tuple(w for w in c.words if w not in words) in _LABELS
        ]
        return tuple((described or coded)[:1])

    def key_column(self, table: str) -> ColumnWord | None:
        """The single-column primary key, or the column that looks like one."""
        columns = self.by_table[table]
        primary = [c for c in columns if c.primary] or [c for c in columns if c.role == "id" and not c.foreign][:1]
        return primary[0] if len(primary) == 1 else None


def vocabulary(schema: Schema, stored_forms: Mapping[tuple[str, str], StoredForm] | None = None) -> Vocabulary:
    """The vocabulary of a schema, built once per fingerprint and process (the last 32 are kept). `stored_forms`: the
    columns whose values are dates or figures that their types do not tell, with their form."""
    forms = stored_forms or {}
    key = (schema.fingerprint, tuple(forms.items()))
    known = _cache.get(key)
    if known is None:
        known = _build(schema, forms)
        while len(_cache) >= 32:
            _cache.pop(next(iter(list(_cache)), key), None)
        _cache[key] = known
    return known


def split_name(name: str, known: frozenset[str] = frozenset()) -> tuple[str, ...]:
    """The lower-case lemmas of a name: `custName` -> customer, name. `known` words help to split `custname`."""
    pieces: list[str] = []
    short = abbreviations()
    parts = _SIGNS.split(name)
    for part in parts:
        if (full := short.get(part.lower())) is not None:
            is_word = full == ("id",) and len(parts) > 1 and bool(open_lexicon(part.lower()))  # first aid
            pieces.extend((part.lower(),) if is_word else full)
            continue
        for raw in _SPLIT.findall(part):
            pieces.extend(_expand(raw.lower(), known))
    if len(pieces) == 2 and pieces[1] == "name":
        pieces[0] = _INITIALS.get(pieces[0], pieces[0])
    words = tuple(p if p == "done" else lemma(p) for p in pieces)  # `do` is mostly an auxiliary
    return tuple(w for w in words if w not in _SILENT) or words


def _expand(piece: str, known: frozenset[str]) -> tuple[str, ...]:
    if (short := abbreviations().get(piece)) is not None:
        return short
    if len(piece) > 5 and piece not in known:
        for cut in range(2, len(piece) - 1):
            left, right = piece[:cut], piece[cut:]
            if right not in known and right not in _TAILS:
                continue
            if right in _TAILS and (left in known or left in abbreviations() or lemma(left) in known):
                return (*_expand(left, known), *_expand(right, known))
            if len(left) > 2 and len(right) > 2 and left in known and right in known:
                return (left, right)
    if len(piece) > 4 and piece[1:] in ("name", "names", "title", "type", "date", "code"):
        return (piece[1:],)
    if len(piece) in (4, 5) and piece.endswith("id") and piece not in _NO_KEYS:
        return (*_expand(piece[:-2], known), "id")
    return (piece,)


def _known_words(schema: Schema) -> frozenset[str]:
    """Words that occur alone in the schema, used to split compounds such as `custname`."""
    vocabulary: set[str] = set(_TAILS)
    names = dict.fromkeys((c.name, c.name == t.name) for t in schema.tables for c in t.columns)
    names |= dict.fromkeys((t.name, True) for t in schema.tables)
    for name, whole in names:  # many tables share the names of their columns
        pieces = [p.lower() for p in _SPLIT.findall(name)]
        vocabulary.update(p for p in pieces if len(p) > 2 and (len(pieces) > 1 or whole))
        vocabulary.update(lemma(p) for p in pieces if len(pieces) > 1 or whole)
    return frozenset(vocabulary.union(*abbreviations().values()))


def _build(schema: Schema, forms: Mapping[tuple[str, str], StoredForm]) -> Vocabulary:
    known = _known_words(schema)
    tables: dict[str, TableWord] = {}
    columns: dict[tuple[str, str], ColumnWord] = {}
    by_table: dict[str, tuple[ColumnWord, ...]] = {}
    split: dict[str, tuple[str, ...]] = {}
    stored = tuple(t for t in schema.tables if t.kind == "table") or schema.tables
    for table in stored:
        words = split_name(table.name, known)
        words = tuple(w for w in words if w not in _TABLE_PREFIXES) or words
        foreign = {c.casefold() for fk in table.foreign_keys for c in fk.columns}
        keyed = {c.casefold() for c in table.primary_key}
        tables[table.name] = TableWord(
            table,
            words,
            bridge=len(table.foreign_keys) >= 2
            and (bool(keyed and keyed <= foreign) or len(foreign) >= len(table.columns) - 1),
        )
        names = {c.name.casefold() for c in table.columns}
        if {"mon", "tue"} <= names:  # days of the week, and no month
            split |= {c.name: (_DAYS[day],) for c in table.columns if (day := c.name.casefold()) in _DAYS}
        for column in table.columns:
            if column.name not in split:
                split[column.name] = split_name(column.name, known) or (column.name.lower(),)
        columns_of = (_column(table, c, split[c.name], c.name.casefold() in foreign, words) for c in table.columns)
        by_table[table.name] = tuple(_as_stored(c, forms.get(c.key)) for c in columns_of)
        columns |= {c.key: c for c in by_table[table.name]}
    everything: list[TableWord | ColumnWord] = [*tables.values(), *columns.values()]
    holders = grouped((word, item) for item in everything for word in dict.fromkeys(item.words))
    units = Counter(c.unit for c in columns.values())
    for counted in columns.values():  # `total kg`, where one column is counted in it
        if counted.unit.isalpha() and units[counted.unit] == 1:
            holders.setdefault(counted.unit, [counted])
    for word in ("rate", "percentage", "percent") if units["%"] else ():  # `germination rate`, of `Germinated` in %
        holders.setdefault(word, [c for c in columns.values() if c.unit == "%"])
    joined = grouped(("".join(item.words), item) for item in everything if len(item.words) > 1)
    return Vocabulary(
        schema,
        tables,
        columns,
        by_table,
        _forms(holders),
        {word: tuple(items) for word, items in holders.items()},
        {word: tuple(items) for word, items in joined.items()},
        _shortened(schema, holders),
    )


def _shortened(schema: Schema, holders: Collection[str]) -> tuple[tuple[str, str], ...]:
    """The abbreviations in the schema's names: those of the word list, whose author may have meant another word, and
    short words that no dictionary has."""
    names = (name for t in schema.tables for name in (t.name, *(c.name for c in t.columns)))
    pieces = {p.lower() for name in names for p in _SPLIT.findall(name)}
    listed = {p: abbreviations()[p] for p in pieces if p in abbreviations()}
    single = ((p, words[0]) for p, words in listed.items() if len(words) == 1)
    found = {(p, word) for p, word in single if word in holders and word not in _UNMISTAKABLE}
    for word in (w for w in holders if 2 <= len(w) <= 5 and w.isalpha()):
        if not set(word[1:]) & _VOWELS or (len(word) > 2 and word not in synonyms() and not open_lexicon(word)):
            found.add((word, word))
    return tuple(sorted(found))


def abbreviates(short: str, word: str) -> bool:
    """Whether an abbreviation may stand for a word: `shp` for shipment, `mk` for make, `seg` for segment."""
    if set(short[1:]) & _VOWELS:
        return len(word) >= len(short) + 3 and word.startswith(short)
    consonants = "".join(c for k, c in enumerate(word) if k == 0 or (c not in _VOWELS and c != word[k - 1]))
    if len(word) <= len(short) or word[0] != short[0]:
        return False
    if len(short) == 2:
        return short == consonants
    return holds_letters(word, short) and 2 * len(short) >= len(consonants)


def holds_letters(word: str, short: str) -> bool:
    """Whether a word has all letters of another, in their order."""
    letters = iter(word)
    return all(letter in letters for letter in short)


def _event(word: str, name: str) -> str:
    """What a word in the name of a date means: `dt_cls` is closed, not class."""
    pieces = [p.lower() for p in _SPLIT.findall(name)]
    short = next((p for p in pieces if p in _EVENTS and word in (p, *abbreviations().get(p, ()))), None)
    return _EVENTS[short] if short is not None else word


def _column(table: Table, column: Column, words: tuple[str, ...], foreign: bool, owner: tuple[str, ...]) -> ColumnWord:
    if len(words) > 1 and len(words[0]) == 1 and any(words[0] == w[0] for w in owner):
        words = words[1:]  # `DPhone` of a department
    if words[-1] == "minimum" and _LASTING & set(words):
        words = (*words[:-1], "minute")  # `duration_min`
    if words[-1] == "flag":
        words = tuple(_FLAGS.get(w, w) for w in words)
    elif words[0] == "date" or words[-1] == "date":
        words = tuple(_event(w, column.name) for w in words)
    numeric, temporal, boolean = _type(column.type)
    if len(words) > 1 and words[-2] in NAME_WORDS and words[-1] in _TONGUES:
        words = words[:-1]  # `name_en`
    primary = column.primary_key or column.name in table.primary_key
    role: Role = "text"
    if words == ("year", "id") and numeric:
        words, role = ("year",), "year"  # a key of seasons that is the year itself
    elif words[-1] == "id" or (words[-1] in _ID_WORDS and (primary or foreign)):
        role = "id"
    elif _FLAGGED.match(column.name) or words[-1] in ("flag", "indicator") or boolean:
        role = "flag"
    elif words[-1] == "year" or (words[0] == "year" and (len(words) == 1 or (numeric and words[1] in _BEGUN))):
        role = "year"
    elif (temporal and not numeric) or "date" in words or _DATED.search(column.name):
        role = "date" if not (numeric and words[-1] in ("key", "id")) else "id"
    elif words[-1] in NAME_WORDS and not numeric:
        role = "name"
    elif numeric:
        role = "id" if primary or foreign else "number"
    return ColumnWord(table.name, column, words, role, numeric, primary, foreign, owner)


@lru_cache(maxsize=1_000)
def _type(declared: str) -> tuple[bool, bool, bool]:
    """Whether a declared type is a number, a time, a truth value."""
    return bool(_NUMERIC.search(declared)), bool(_TEMPORAL.search(declared)), "bool" in declared.lower()


def _as_stored(column: ColumnWord, form: StoredForm | None) -> ColumnWord:
    """The column as its stored values show it: a date, where they are dates; a figure, where no name or code is."""
    if form is None or column.primary or column.foreign:
        return column
    if isinstance(form, TextFigures):
        kept = column.role == "text" and not column.numeric and not _NEVER_FIGURES & set(column.words)
        return replace(column, role="number", numeric=True, figures=form) if kept else column
    return replace(column, role="date", numeric=False, form="" if form == ISO else form)


def _forms(holders: dict[str, list[TableWord | ColumnWord]]) -> dict[str, tuple[tuple[str, float], ...]]:
    forms: dict[str, dict[str, float]] = {}

    def add(form: str, word: str, score: float) -> None:
        at = forms.setdefault(form, {})
        at[word] = max(at.get(word, 0.0), score)

    stems = {stem(word) for word in holders}
    for word in holders:
        add(word, word, 1.0)
        if len(word) > 2:
            add("~" + stem(word), word, 0.93)
        if len(root(word)) > 3:
            add("^" + root(word), word, 0.78)
        for other in synonyms().get(word, ()):
            own = other in holders and word != "name"  # `rent`, where a column is called so, is no lease
            alike = own or (stem(other) in stems and word != "name")  # nor is a `rating` a rate
            add(other, word, 0.6 if own else 0.8)
            add("~" + stem(other), word, 0.55 if alike else 0.75)
    return {form: tuple(words.items()) for form, words in forms.items()}

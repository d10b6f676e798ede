"""A question's wording without its subject: runs of words in which names of the schema, values and numbers are blanks.

In: a question and a schema. Out: `phrases`, what the whole question says of its query's form, and `signs_of`, what it
says of one column: whether and where it is named, and between which small words. No word of any database is in them
but those that questions about many databases share.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from eval.language.inflection import light_stem
from eval.language.lexicon import word_set
from eval.language.quotes import quotes_replaced
from eval.language.words import STOPWORDS, name_words
from eval.schema import Column, Schema, Table, kept_with_schema

_TOKEN = re.compile(r"\d+(?:\.\d+)?|[^\W\d_]+(?:'[a-z]+)?|[,?.!;]")
_VALUE, _NUMBER, _TABLE, _COLUMN, _NAME = "<value>", "<number>", "<table>", "<column>", "<name>"
_HEAD_ENDS = word_set("of for where who that which with whose from in ordered by sorted having when at on to than")
_LONGEST = 3
_STANDS_FOR_VALUE = "VALUE"
_READ = 2_000
"""Characters of a question that are read."""


@dataclass(frozen=True)
class _Names:
    """The reduced words of a schema's names."""

    tables: dict[str, tuple[str, ...]]
    table_words: frozenset[str]
    column_words: frozenset[str]
    alike: Mapping[tuple[str, ...], int]
    """How many columns are called by the same words, their table's own aside."""


@kept_with_schema
def _names_of(schema: Schema) -> _Names:
    tables = {t.name: name_words(t.name) for t in schema.tables}
    alike = Counter(_own_words(c.name, tables[t.name]) for t in schema.tables for c in t.columns)
    column_words = frozenset(w for t in schema.tables for c in t.columns for w in name_words(c.name))
    return _Names(tables, frozenset(w for words in tables.values() for w in words), column_words, alike)


def _own_words(column: str, table: tuple[str, ...]) -> tuple[str, ...]:
    words = name_words(column)
    return tuple(w for w in words if w not in table) or words


@dataclass(frozen=True)
class Wording:
    """A question split and linked to a schema's names."""

    question: str
    schema: Schema

    @cached_property
    def _tokens(self) -> tuple[str, ...]:
        return tuple(_TOKEN.findall(quotes_replaced(self.question[:_READ], f" {_STANDS_FOR_VALUE} ")))

    @cached_property
    def _words(self) -> tuple[str, ...]:
        return tuple(t.lower() for t in self._tokens)

    @cached_property
    def _stems(self) -> tuple[str, ...]:
        return tuple(light_stem(w) for w in self._words)

    @cached_property
    def phrases(self) -> frozenset[str]:
        """Runs of up to three tokens, `^` and `$` at the ends."""
        names = _names_of(self.schema)
        blanks = ["^", *(self._blank(i, names) for i in range(len(self._tokens))), "$"]
        phrases = {" ".join(blanks[i : i + n]) for n in range(1, _LONGEST + 1) for i in range(len(blanks) - n + 1)}
        phrases.add(f"{min(blanks.count(_TABLE), 4)} x {_TABLE}")
        phrases.add(f"{min(blanks.count(_COLUMN), 5)} x {_COLUMN}")
        tables = {s for s, b in zip(self._stems, blanks[1:-1], strict=True) if b == _TABLE}
        phrases.add(f"{min(len(tables), 4)} different {_TABLE}")
        return frozenset(phrases)

    def _blank(self, i: int, names: _Names) -> str:
        written, word, reduced = self._tokens[i], self._words[i], self._stems[i]
        if written == _STANDS_FOR_VALUE:
            return _VALUE
        if written[0].isdecimal():
            return _NUMBER
        if word in STOPWORDS or not word[0].isalpha():
            return word
        if reduced in names.table_words:
            return _TABLE
        if reduced in names.column_words:
            return _COLUMN
        return _NAME if i and written[0].isupper() else word

    @cached_property
    def _places(self) -> dict[str, list[int]]:
        """Where each reduced word is, under itself and, where it is long, under its first five letters."""
        places: dict[str, list[int]] = {}
        for i, word in enumerate(self._stems):
            places.setdefault(word, []).append(i)
            if len(word) > 5 and word not in STOPWORDS:
                places.setdefault(word[:5] + "…", []).append(i)
        return places

    def _positions(self, word: str) -> list[int]:
        return self._places.get(word) or (self._places.get(word[:5] + "…", []) if len(word) > 5 else [])

    def _mention(self, words: tuple[str, ...]) -> tuple[float, int | None]:
        """The share of the words that the question holds, and where the name begins to be spoken of."""
        hits = [self._positions(w) for w in words]
        mentioned = sum(1 for h in hits if h)
        if not mentioned:
            return 0.0, None
        if mentioned == len(words) > 1:
            for place in hits[0]:
                if all(any(abs(other - place) <= len(words) + 1 for other in h) for h in hits[1:]):
                    return 1.0, place
        return mentioned / len(words), next(h for h in reversed(hits) if h)[0]

    @cached_property
    def _tables(self) -> dict[str, tuple[float, int | None]]:
        names = _names_of(self.schema)
        return {t: self._mention(tuple(w for w in words if w != "id")) for t, words in names.tables.items()}

    @cached_property
    def _first_table(self) -> int | None:
        return min((place for share, place in self._tables.values() if share == 1 and place is not None), default=None)

    @cached_property
    def _head(self) -> int:
        return next((i for i, w in enumerate(self._words) if i >= 3 and w in _HEAD_ENDS), len(self._words))

    def signs_of(self, table: Table, column: Column) -> tuple[str, ...]:
        """What the wording says of one column being among those returned."""
        names = _names_of(self.schema)
        full = name_words(column.name)
        own = _own_words(column.name, names.tables[table.name])
        share, place = self._mention(own)
        folded = column.name.casefold()
        kind = "key" if folded in {c.casefold() for c in table.primary_key} else _kind(full)
        shared, at = self._tables[table.name]
        near = (
            "first"
            if shared == 1 and at == self._first_table
            else "named"
            if shared == 1
            else "half"
            if shared
            else "no"
        )
        level = "full" if share == 1 else "half" if share >= 0.5 else "some" if share else "none"
        asked = self._asked(kind)
        signs = [kind, f"table {near}", f"{kind} table {near}", level, f"{level} table {near}", f"{level} {kind}"]
        if any(folded in {c.casefold() for c in key.columns} for key in table.foreign_keys):
            signs.append("reference")
        if asked:
            signs += [asked, f"{asked} table {near}"]
        if {"how", "many"} <= set(self._words) or {"number", "count"} & set(self._words):
            signs += ["counting", f"counting {kind} table {near}"]
        if share == 1:
            signs += [f"words {min(len(own), 3)}", f"alike {min(names.alike[own], 3)} table {near}"]
        if place is not None:
            signs += self._around(place, full, level)
        return tuple(signs)

    def _asked(self, kind: str) -> str:
        if kind == "key":
            return "id asked" if {"id", "ids", "identifier", "identifiers"} & set(self._words) else "id not asked"
        if kind == "name":
            wanted = {"name", "names", "who", "title", "titles", "called"} & set(self._words)
            return "name asked" if wanted else "name not asked"
        return ""

    def _around(self, place: int, words: tuple[str, ...], level: str) -> list[str]:
        half = "head" if place <= self._head else "tail"
        start = place
        while start > 0 and self._stems[start - 1] in words:
            start -= 1
        before = self._words[start - 1] if start else "^"
        further = self._words[start - 2] if start > 1 else "^"
        after = self._words[place + 1] if place + 1 < len(self._words) else "$"
        signs = [half, f"{level} {half}", f"{level} at {min(place // 3, 4)}"]
        signs += [f"{level} {side} {w}" for side, w in (("after", before), ("before", after)) if _small(w)]
        if _small(before) and _small(further):
            signs.append(f"{level} after {further} {before}")
        return signs


def _small(word: str) -> bool:
    return word in STOPWORDS or not word.isalnum()


def _kind(words: tuple[str, ...]) -> str:
    last = words[-1] if words else ""
    return "key" if last in ("id", "uid", "code") else "name" if last in ("name", "titl") else "other"

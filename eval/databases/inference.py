"""Infer foreign keys that a database implies but does not declare, from names, types, keys and values.

In: a `Schema` and a function that runs containment queries. Out: the same schema with more `ForeignKey`s, each marked
`inferred`. Precision has priority over recall. A target must be a single-column primary or unique key of compatible
type. The referring column must contain its name (`customer_id` → `customers.id` or `customers.customer_id`; a generic
name such as `id`, `name` or `type` alone never suffices). Exactly one target must fit best. If there are rows, nearly
all values must exist in the target. `measure_inference` prints the precision of these rules.
"""

from __future__ import annotations

import re
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache

from eval.databases.catalogue.table_drafts import quoted
from eval.language.inflection import lemma
from eval.schema import Column, ForeignKey, Schema, Table

Ask = Callable[[str], list[tuple[int, int]]]
"""Runs one of our own statements and returns its rows; raises or returns none when it fails."""

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\d_a-zA-Z]+")
_KEY_WORDS = frozenset(
    {"id", "ids", "key", "code", "no", "nr", "num", "number", "pk", "fk", "sk", "uuid", "guid", "ref"}
)
_GENERIC = _KEY_WORDS | frozenset(
    {"name", "type", "date", "year", "status", "title", "description", "value", "rank", "position", "level"}
)
_TABLE_PREFIXES = frozenset({"tbl", "tb", "t", "dim", "fact", "fct", "ref", "lkp", "lookup", "stg", "mst"})
_ROWS_LOOKED_AT = 10_000
_VALUES_LOOKED_AT = 500
_CONTAINED = 0.98
_MAX_QUESTIONS = 400
_MAX_UNDECLARED_ROWS = 100_000
_SECONDS = 3.0
"""Time limit for all queries together; keys that are not checked by then are not inferred."""


@dataclass(frozen=True, slots=True)
class _Target:
    table: Table
    column: Column
    words: tuple[str, ...]
    table_words: tuple[str, ...]
    declared: bool = True
    """False when no key is declared at all, so that the data must show that the values are unique."""

    @property
    def about(self) -> tuple[str, ...]:
        """The usual name of a column that refers here: the table's words and the kind of key."""
        return self.table_words + tuple(w for w in self.words if w in _KEY_WORDS)


def with_inferred_keys(schema: Schema, ask: Ask) -> Schema:
    """Add the keys that no declaration covers. Runs at most a few hundred queries on the data."""
    targets = _by_name(_targets(schema))
    questions = _MAX_QUESTIONS
    until = time.monotonic() + _SECONDS
    tables = []
    for table in schema.tables:
        declared = {c.casefold() for key in table.foreign_keys for c in key.columns}
        inferred = []
        for column in table.columns if table.kind == "table" else ():
            if column.name.casefold() in declared or questions <= 0 or time.monotonic() > until:
                continue
            ranked = sorted(
                ((strength, t) for t in _called(targets, column) if (strength := _strength(table, column, t)) > 0),
                key=lambda pair: -pair[0],
            )
            best = [t for strength, t in ranked if strength == ranked[0][0]]
            questions -= len(best)
            if len(best) <= 4:
                fitting = [t for t in best if _holds(schema, table, column, t, ask, certain=ranked[0][0] >= 3)]
                if len(fitting) == 1:
                    inferred.append(
                        ForeignKey((column.name,), fitting[0].table.name, (fitting[0].column.name,), inferred=True)
                    )
        tables.append(replace(table, foreign_keys=(*table.foreign_keys, *inferred)) if inferred else table)
    return replace(schema, tables=tuple(tables))


def _by_name(targets: Iterable[_Target]) -> dict[tuple[str, ...], list[_Target]]:
    """Targets under each name that a column could end with, so that only a few pairs need a closer look."""
    named: dict[tuple[str, ...], list[_Target]] = defaultdict(list)
    for target in targets:
        for name in {target.words, target.table_words, target.about}:
            named[name].append(target)
    return named


def _called(named: dict[tuple[str, ...], list[_Target]], column: Column) -> list[_Target]:
    words = _words(column.name)
    tables_by_id = {id(t): t for start in range(len(words)) for t in named.get(words[start:], ())}
    return list(tables_by_id.values())


def _targets(schema: Schema) -> Iterator[_Target]:
    for table in schema.tables:
        keys = {table.primary_key} | {index.columns for index in table.indexes if index.unique}
        for key in sorted(k for k in keys if len(k) == 1):
            column = table.column(key[0])
            if column is not None:
                yield _Target(table, column, _words(column.name), _table_words(table.name))
        if (
            keys == {()}
            and table.kind == "table"
            and table.columns
            and 0 < (table.row_count or 0) <= _MAX_UNDECLARED_ROWS
        ):
            first, about = table.columns[0], _table_words(table.name)
            words = _words(first.name)
            if words and words[-1] in _KEY_WORDS and (len(words) == 1 or words[:-1] == about[-len(words[:-1]) :]):
                yield _Target(table, first, words, about, declared=False)


def _strength(table: Table, column: Column, target: _Target) -> int:
    """How clearly the column's name points to the target: 0 not at all, 3 or more unambiguously."""
    if table is target.table and column.name == target.column.name:
        return 0
    if not _compatible(column.type, target.column.type):
        return 0
    words = _words(column.name)
    own_key = table.primary_key == (column.name,)
    about_target = target.about
    is_primary = not target.declared or target.table.primary_key == (target.column.name,)
    if words == target.words and not set(words) <= _GENERIC:
        mentions = set(words) & set(target.table_words)
        if own_key and (set(words) - _KEY_WORDS != set(target.table_words) or not mentions):
            return 0  # two tables with the same key: either may be the other's parent
        if table is target.table:
            return 0
        return (4 if mentions else 2) if is_primary else (2 if mentions and set(words) & _KEY_WORDS else 0)
    if own_key or not is_primary:
        return 0
    if target.words[-1:] and target.words[-1] in _KEY_WORDS:
        if len(about_target) > len(target.table_words) and words == about_target:
            return 3  # customer_id -> customers.id
        if len(words) > len(target.words) > 1 and words[-len(target.words) :] == target.words:
            return 1 if table is not target.table or words[0] not in _GENERIC else 0  # billing_customer_id
        if len(words) > len(about_target) and words[-len(about_target) :] == about_target:
            return 1
    if words == target.table_words and _family(column.type) == "integer" == _family(target.column.type):
        return 1  # orders.customer -> customers.id
    return 0


def _holds(schema: Schema, table: Table, column: Column, target: _Target, ask: Ask, *, certain: bool) -> bool:
    """Whether the column's values exist in the target; without rows, only an unambiguous name counts."""
    if table.row_count == 0 or target.table.row_count == 0:
        return certain and table.row_count == target.table.row_count == 0
    owner, referred = (
        quoted((t.namespace, t.name) if t.namespace else (t.name,), schema.dialect) for t in (table, target.table)
    )
    name, key = (quoted((c.name,), schema.dialect) for c in (column, target.column))
    sql = (
        f"SELECT count(*), count(k.v) FROM (SELECT DISTINCT v FROM (SELECT {name} AS v FROM {owner} "
        f"WHERE {name} IS NOT NULL LIMIT {_ROWS_LOOKED_AT}) looked LIMIT {_VALUES_LOOKED_AT}) s "
        f"LEFT JOIN (SELECT {key} AS v FROM {referred}) k ON k.v = s.v"
    )
    try:
        if not target.declared:
            rows, different = ask(f"SELECT count(*), count(DISTINCT {key}) FROM {referred}")[0]
            if rows != different:
                return False
        values, contained = ask(sql)[0]
    except Exception:  # noqa: BLE001 (each driver has its own: no answer is no evidence)
        return False
    if values == 0:
        return certain
    return contained >= _CONTAINED * values


def _compatible(one: str, other: str) -> bool:
    families = {_family(one), _family(other)}
    return len(families) == 1 or "" in families


@lru_cache(10_000)
def _family(declared: str) -> str:
    """A coarse type family: a key and its references are often declared with different lengths or signs."""
    text = declared.upper()
    if not text:
        return ""
    if re.search(r"INT|SERIAL", text) and "INTERVAL" not in text:
        return "integer"
    if re.search(r"CHAR|TEXT|CLOB|STRING|ENUM", text):
        return "text"
    if re.search(r"NUM|DEC|REAL|DOUB|FLOA", text):
        return "integer" if re.search(r"NUM|DEC", text) and not re.search(r",\s*[1-9]", text) else "number"
    if re.search(r"DATE|TIME|YEAR", text):
        return "time"
    return text.split("(")[0]


@lru_cache(100_000)
def _words(name: str) -> tuple[str, ...]:
    """`CustomerIDs`, `customer_ids` and `customer ids` all become (customer, id)."""
    return tuple(lemma(w.casefold()) for w in _WORD.findall(name))


def _table_words(name: str) -> tuple[str, ...]:
    words = _words(name)
    while len(words) > 1 and words[0] in _TABLE_PREFIXES:
        words = words[1:]
    return words

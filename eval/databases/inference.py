"""Infer the keys that a database implies but does not declare, from names, types, other keys and values.

In: a `Schema` and a function that runs our own statements. Out: the same schema with more `ForeignKey`s, each marked
`inferred`, and with primary keys where the engine keeps none (`unique_columns`). Precision has priority over recall. A
target must be a single-column primary or unique key of compatible type. The referring column must contain its name
(`customer_id` → `customers.id` or `customers.customer_id`; a generic name such as `id`, `name` or `type` alone never
suffices). Exactly one target must fit best. If there are rows, nearly all values must exist in the target.
`experiments.databases.inference` prints the precision of these rules.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache

from eval.databases.catalogue.table_drafts import quoted, quoted_table
from eval.databases.unique_columns import (
    GENERIC,
    KEY_WORDS,
    Ask,
    answers,
    declares_keys,
    ends_like_key,
    table_words,
    type_family,
    with_primary_keys,
)
from eval.language.words import singular_words
from eval.schema import Column, Dialect, ForeignKey, Schema, Table

_ROWS_LOOKED_AT = 10_000
_VALUES_LOOKED_AT = 500
_CONTAINED = 0.98
_MAX_QUESTIONS = 400
_MAX_REFERRED_ROWS = 20_000_000
"""A larger target is not searched for values; then only an unambiguous name counts."""
_SECONDS = 3.0
"""Time limit for all statements together; keys that are not checked by then are not inferred."""
_TYPES_MIX: frozenset[Dialect] = frozenset({"sqlite", "mysql", "spark", "clickhouse"})
"""Where a text may be compared with a number: by the engine's rules, or because the statement is rewritten."""


@dataclass(frozen=True, slots=True)
class _Target:
    table: Table
    column: Column
    words: tuple[str, ...]
    table_words: tuple[str, ...]
    sampled: bool = False
    """True when only the first rows were found unique."""

    @property
    def about(self) -> tuple[str, ...]:
        """The usual name of a column that refers here: the table's words and the kind of key."""
        return self.table_words + tuple(w for w in self.words if w in KEY_WORDS)


@dataclass(frozen=True, slots=True)
class _Pair:
    """A column, and a key that it may refer to."""

    table: Table
    column: Column
    target: _Target
    certain: bool
    """Whether the name alone leaves no doubt."""


def with_inferred_keys(schema: Schema, ask: Ask, *, seconds: float = _SECONDS) -> Schema:
    """Add the keys that no declaration covers. Runs at most a few dozen statements on the data."""
    until = time.monotonic() + seconds

    def in_time(sql: str) -> Sequence[Sequence[int]]:
        return ask(sql) if time.monotonic() < until else []

    looked_at: Mapping[str, Column] = {}
    if not declares_keys(schema):
        schema, looked_at = with_primary_keys(schema, in_time)
    pairs = _pairs(schema, looked_at)
    asked = [pair for pair in pairs if _searchable(pair)]
    results = dict(zip(asked, answers([_question(schema, pair) for pair in asked], in_time), strict=True))
    fitting: dict[tuple[str | None, str, str], list[_Target]] = defaultdict(list)
    for pair in pairs:
        if _holds(pair, results.get(pair)):
            fitting[pair.table.namespace, pair.table.name, pair.column.name].append(pair.target)
    tables = []
    for table in schema.tables:
        inferred = [
            ForeignKey((column.name,), targets[0].table.name, (targets[0].column.name,), inferred=True)
            for column in table.columns
            if len(targets := fitting[table.namespace, table.name, column.name]) == 1
        ]
        tables.append(replace(table, foreign_keys=(*table.foreign_keys, *inferred)) if inferred else table)
    return replace(schema, tables=tuple(tables))


def _pairs(schema: Schema, looked_at: Mapping[str, Column]) -> list[_Pair]:
    """For each column without a declared key, the targets that its name fits best, if they are few."""
    # Targets under each name that a column could end with, so that only a few pairs need a closer look. A key that is
    # only called `id` is no such name: it may be the key of every table
    named: dict[tuple[str, ...], list[_Target]] = defaultdict(list)
    for target in _targets(schema, looked_at):
        alone = len(target.words) == 1 and set(target.words) <= GENERIC and not ends_like_key(target.words[0])
        for name in {target.table_words, target.about, *(() if alone else (target.words,))}:
            named[name].append(target)

    @cache
    def called(column: str) -> list[_Target]:
        words = _unnumbered(singular_words(column))
        by_id = {id(t): t for start in range(len(words)) for t in named.get(words[start:], ())}
        return list(by_id.values())

    pairs: list[_Pair] = []
    for table in schema.tables:
        declared = {c.casefold() for key in table.foreign_keys for c in key.columns}
        for column in table.columns if table.kind == "table" else ():
            if column.name.casefold() in declared or len(pairs) >= _MAX_QUESTIONS:
                continue
            ranked = [(_strength(schema.dialect, table, column, t), t) for t in called(column.name)]
            most = max((strength for strength, _ in ranked), default=0)
            best = [t for strength, t in ranked if strength == most > 0]
            if len(best) <= 4:
                pairs += [_Pair(table, column, t, certain=most >= 3) for t in best]
    return pairs


def _targets(schema: Schema, looked_at: Mapping[str, Column]) -> Iterator[_Target]:
    for table in schema.tables:
        keys = {table.primary_key} | {index.columns for index in table.indexes if index.unique}
        for key in sorted(k for k in keys if len(k) == 1):
            column = table.column(key[0])
            if column is not None:
                yield _Target(table, column, singular_words(column.name), table_words(table.name))
        if not table.primary_key and table.name in looked_at:
            column = looked_at[table.name]
            yield _Target(table, column, singular_words(column.name), table_words(table.name), sampled=True)


def _strength(dialect: Dialect, table: Table, column: Column, target: _Target) -> int:
    """How clearly the column's name points to the target: 0 not at all, 3 or more unambiguously."""
    if table is target.table and column.name == target.column.name:
        return 0
    families = {type_family(column.type), type_family(target.column.type)}
    mixed = families == {"integer", "text"} and dialect in _TYPES_MIX
    if len(families) > 1 and "" not in families and not mixed:
        return 0
    words = _unnumbered(singular_words(column.name))
    own_key = table.primary_key == (column.name,)
    about_target = target.about
    is_primary = target.sampled or target.table.primary_key == (target.column.name,)
    if words == target.words and not set(words) <= GENERIC:
        mentions = set(words) & set(target.table_words)
        if own_key and (set(words) - KEY_WORDS != set(target.table_words) or not mentions):
            return 0  # two tables with the same key: either may be the other's parent
        if table is target.table:
            return 0
        return (4 if mentions else 2) if is_primary else (2 if mentions and set(words) & KEY_WORDS else 0)
    if own_key or not is_primary:
        return 0
    if target.words[-1:] and target.words[-1] in KEY_WORDS:
        if len(about_target) > len(target.table_words) and words == about_target:
            return 3  # customer_id -> customers.id
        if len(words) > len(target.words) > 1 and words[-len(target.words) :] == target.words:
            return 1 if table is not target.table or words[0] not in GENERIC else 0  # billing_customer_id
        if len(words) > len(about_target) and words[-len(about_target) :] == about_target:
            return 1
    if len(words) > 1 and words[-1:] == target.words and ends_like_key(words[-1]):
        return 1  # to_stnid -> stations.stnid
    singular = bool(words) and column.name.casefold().rstrip("0123456789_ ").endswith(words[-1])
    about_table = words[-len(target.table_words) :] == target.table_words and not set(words) & GENERIC
    if about_table and singular and len(families) == 1 and (families == {"integer"} or words != target.table_words):
        return 1  # orders.customer -> customers.id, trips.first_harbour -> harbours.code
    return 0


def _unnumbered(words: tuple[str, ...]) -> tuple[str, ...]:
    """`team_id_1` refers as `team_id` does."""
    return words[:-1] if len(words) > 1 and words[-1].isdecimal() else words


def _searchable(pair: _Pair) -> bool:
    sizes = (pair.table.row_count, pair.target.table.row_count)
    return 0 not in sizes and (sizes[1] or 0) <= _MAX_REFERRED_ROWS and not (pair.target.sampled and sizes[1] is None)


def _question(schema: Schema, pair: _Pair) -> str:
    """How many of the column's values there are, and how many of them exist in the target."""
    owner, referred = (quoted_table(t, schema.dialect) for t in (pair.table, pair.target.table))
    name, key = (quoted((c.name,), schema.dialect) for c in (pair.column, pair.target.column))
    if type_family(pair.column.type) != type_family(pair.target.column.type):
        kind = {"clickhouse": "Nullable(String)", "spark": "STRING", "mysql": "CHAR"}.get(schema.dialect, "TEXT")
        shown, wanted = f"CAST({name} AS {kind})", f"CAST({key} AS {kind})"
    else:
        shown, wanted = name, key
    return (
        f"SELECT {{place}} AS place, count(*) AS n, count(k.v) AS held FROM (SELECT DISTINCT v FROM (SELECT {shown} "
        f"AS v FROM {owner} WHERE {name} IS NOT NULL LIMIT {_ROWS_LOOKED_AT}) looked LIMIT {_VALUES_LOOKED_AT}) s "
        f"LEFT JOIN (SELECT {wanted} AS v FROM {referred}) k ON k.v = s.v"
    )


def _holds(pair: _Pair, counts: tuple[int, ...] | None) -> bool:
    """Whether the column's values exist in the target; where no rows can be compared, only an unambiguous name
    counts."""
    empty = [table.row_count == 0 for table in (pair.table, pair.target.table)]
    if any(empty):
        return pair.certain and all(empty)
    if not _searchable(pair):
        return pair.certain
    if counts is None:
        return False
    values, contained = counts
    return contained >= _CONTAINED * values if values else pair.certain

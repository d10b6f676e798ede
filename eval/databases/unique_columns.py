"""Find the primary keys of tables for which nothing is declared, from names and from bounded counts of the values.

In: a `Schema` and a function that runs our own statements. Out: the schema in which a table of at most
`_COUNTED_ROWS` rows has as its primary key the column that is named like one and is found filled and unique; and, for
larger tables, columns that are unique in the first `_ROWS_LOOKED_AT` rows: enough for a foreign key to refer to, not
for a primary key. Used where an engine keeps no keys (ClickHouse, Spark) and for databases that declare none.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from eval.databases.catalogue.table_drafts import quoted, quoted_table
from eval.language.words import singular_words
from eval.schema import Column, Dialect, Schema, Table

KEY_WORDS = frozenset(
    {"id", "ids", "key", "code", "no", "nr", "num", "number", "pk", "fk", "sk", "uuid", "guid", "ref"}
)
NO_KEY_NAMES = frozenset(
    {"name", "type", "date", "year", "status", "title", "description", "value", "rank", "position", "level"}
)
"""Columns of every table that are the key of none, or of a list of values at most."""
GENERIC = KEY_WORDS | NO_KEY_NAMES
_TABLE_PREFIXES = frozenset({"tbl", "tb", "t", "dim", "fact", "fct", "ref", "lkp", "lookup", "stg", "mst"})
_GLUED = re.compile(r"[a-z]{1,12}(?:id|key|code|no|num)")
_WRAPPED = re.compile(r"^(?:NULLABLE|LOWCARDINALITY)\((.*)\)$")


def table_words(name: str) -> tuple[str, ...]:
    """The words of a table's name without `tbl_`, `dim_` and the like."""
    words = singular_words(name)
    while len(words) > 1 and words[0] in _TABLE_PREFIXES:
        words = words[1:]
    return words


def ends_like_key(word: str) -> bool:
    """`dormid`, `empno`: a key's name without a mark between its words."""
    return _GLUED.fullmatch(word) is not None


@lru_cache(10_000)
def type_family(declared: str) -> str:
    """A coarse type family: a key and its references are often declared with different lengths or signs."""
    text = declared.upper()
    while match := _WRAPPED.match(text):
        text = match[1]
    if not text:
        return ""
    if text.startswith(("ARRAY", "MAP", "STRUCT", "TUPLE", "NESTED", "JSON", "VARIANT")):
        return "nested"
    if re.search(r"INT|SERIAL", text) and "INTERVAL" not in text:
        return "integer"
    if re.search(r"CHAR|TEXT|CLOB|STRING|ENUM", text):
        return "text"
    if re.search(r"NUM|DEC|REAL|DOUB|FLOA", text):
        return "integer" if re.search(r"NUM|DEC", text) and not re.search(r",\s*[1-9]", text) else "number"
    if re.search(r"DATE|TIME|YEAR", text):
        return "time"
    return text.split("(")[0]


Ask = Callable[[str], Sequence[Sequence[int]]]
"""Runs one of our own statements and returns its rows; raises or returns none when it fails."""

_KEYLESS: frozenset[Dialect] = frozenset({"spark", "clickhouse"})
_COUNTED_ROWS = 200_000
_ROWS_LOOKED_AT = 100_000
_CANDIDATES = 4
_WEAK = 3
"""From this rank on, a column is a candidate for its place only, not for its name."""
_MAX_TABLES = 200
_TOGETHER = 20
"""Questions in one statement."""


@dataclass(frozen=True, slots=True)
class _Candidate:
    table: Table
    column: Column
    rank: int


def declares_keys(schema: Schema) -> bool:
    """Whether the absence of a declared key tells anything: some table of this engine has one."""
    if schema.dialect in _KEYLESS:
        return False
    return any(t.primary_key or t.foreign_keys or any(i.unique for i in t.indexes) for t in schema.tables)


def with_primary_keys(schema: Schema, ask: Ask) -> tuple[Schema, dict[str, Column]]:
    """The schema with the keys found, and by table name the columns that are unique as far as was looked."""
    named = {table_words(t.name) for t in schema.tables}
    candidates = [c for t in schema.tables[:_MAX_TABLES] for c in _candidates(t, named)]
    questions = [_question(c, schema.dialect) for c in candidates]
    unique: dict[str, _Candidate] = {}
    for candidate, counts in zip(candidates, answers(questions, ask), strict=True):
        rows, filled, different = counts or (0, 0, 0)
        if rows and rows == filled == different:
            best = unique.get(candidate.table.name)
            if best is None or candidate.rank < best.rank:
                unique[candidate.table.name] = candidate
    for name in _borrowed(unique.values()):
        del unique[name]
    looked_at = {name: c.column for name, c in unique.items() if not _small(c.table)}
    tables = []
    for table in schema.tables:
        if table.name in unique and _small(table):
            key = unique[table.name].column
            columns = tuple(replace(c, primary_key=True, nullable=False) if c is key else c for c in table.columns)
            table = replace(table, columns=columns, primary_key=(key.name,))
        tables.append(table)
    return replace(schema, tables=tuple(tables)), looked_at


def _borrowed(unique: Iterable[_Candidate]) -> list[str]:
    """The tables whose unique column bears the name of another table's key: few rows may be unique by chance."""
    owners: dict[str, list[_Candidate]] = defaultdict(list)
    for candidate in unique:
        owners[candidate.column.name.casefold()].append(candidate)
    names = []
    for name, candidates in owners.items():
        if len(candidates) > 1 and not set(singular_words(name)) <= KEY_WORDS:
            candidates.sort(key=lambda c: (c.rank, -(c.table.row_count or 0)))
            names += [c.table.name for c in candidates[1:] if c.rank >= _WEAK]
    return names


def answers(questions: Sequence[str], ask: Ask) -> Iterator[tuple[int, ...] | None]:
    """The first row of each question `SELECT {place} AS place, count …`, several in one statement. Where a statement
    fails, its questions are asked one by one; None for a question without an answer."""
    for start in range(0, len(questions), _TOGETHER):
        part = [q.replace("{place}", str(i), 1) for i, q in enumerate(questions[start : start + _TOGETHER])]
        rows = _rows(" UNION ALL ".join(part), ask) or [row for q in part if len(part) > 1 for row in _rows(q, ask)]
        counts = {int(row[0]): tuple(int(n) for n in row[1:]) for row in rows}
        yield from (counts.get(i) for i in range(len(part)))


def _rows(sql: str, ask: Ask) -> Sequence[Sequence[int]]:
    try:
        return ask(sql)
    except Exception:  # noqa: BLE001 (each driver has its own: no answer is no evidence)
        return []


def _small(table: Table) -> bool:
    return table.row_count is not None and not table.row_count_estimated and table.row_count <= _COUNTED_ROWS


def _candidates(table: Table, named: set[tuple[str, ...]]) -> list[_Candidate]:
    if table.kind != "table" or table.primary_key or table.row_count == 0:
        return []
    about = table_words(table.name)
    ranked = [(_rank(i, c, about, named), c) for i, c in enumerate(table.columns[:40])]
    candidates = [_Candidate(table, c, rank) for rank, c in ranked if rank is not None]
    return sorted(candidates, key=lambda c: c.rank)[:_CANDIDATES]


def _rank(place: int, column: Column, about: tuple[str, ...], named: set[tuple[str, ...]]) -> int | None:
    """How much a column's name and place look like the table's key: 0 most, None not at all."""
    words, family = singular_words(column.name), type_family(column.type)
    if not words or family not in ("integer", "text", "UUID", "") or words[-1] in NO_KEY_NAMES:
        return None
    kind = words[:-1] if words[-1] in KEY_WORDS else None
    if kind == about or words == ("id",):
        return 0
    if kind == ():
        return 1
    if kind is not None and kind != about and kind in named:
        return None  # another table's key
    if kind is not None and kind in (about[-len(kind) :], about[: len(kind)]):
        return 2
    if kind is not None and len(kind) == 1 and len(kind[0]) >= 3 and about and about[-1].startswith(kind[0]):
        return 2  # `stu_id` for students
    if place > 0:
        return None
    if kind is not None or ends_like_key(words[-1]) or words in (about, about[-1:]):
        return 3
    return 4 if family == "integer" else None


def _question(candidate: _Candidate, dialect: Dialect) -> str:
    table, name = candidate.table, quoted((candidate.column.name,), dialect)
    source = quoted_table(table, dialect)
    if not _small(table):
        source = f"(SELECT {name} FROM {source} LIMIT {_ROWS_LOOKED_AT}) looked"
    counts = f"count(*) AS n, count({name}) AS filled, count(DISTINCT {name}) AS v"
    return f"SELECT {{place}} AS place, {counts} FROM {source}"

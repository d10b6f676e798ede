"""Infer the keys that a database implies but does not declare, from names, types, other keys and values.

In: a `Schema` and a function that runs our own statements. Out: the same schema with more `ForeignKey`s, each marked
`inferred`, and with primary keys where the engine keeps none or none is declared (`with_primary_keys`): a column that
is named like one and is found filled and unique in a table of at most `_COUNTED_ROWS` rows. In larger tables, a column
that is unique in the first `_ROWS_FOR_UNIQUE` rows may be referred to, and is no primary key.

Precision has priority over recall. A target must be a single-column primary or unique key of compatible type. The
referring column must contain its name (`customer_id` → `customers.id` or `customers.customer_id`; a generic name such
as `id`, `name` or `type` alone never suffices). Exactly one target must fit best. If there are rows, nearly all values
must exist in the target. `experiments.databases.inference` prints the precision of these rules.
"""

from __future__ import annotations

import re
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache

from eval.databases.table_drafts import quoted, quoted_table
from eval.language.words import singular_words
from eval.schema import Column, Dialect, ForeignKey, Schema, Table

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
_ROWS_FOR_UNIQUE = 100_000
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
    questions = [_counts_of(c, schema.dialect) for c in candidates]
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


def _counts_of(candidate: _Candidate, dialect: Dialect) -> str:
    table, name = candidate.table, quoted((candidate.column.name,), dialect)
    source = quoted_table(table, dialect)
    if not _small(table):
        source = f"(SELECT {name} FROM {source} LIMIT {_ROWS_FOR_UNIQUE}) looked"
    counts = f"count(*) AS n, count({name}) AS filled, count(DISTINCT {name}) AS v"
    return f"SELECT {{place}} AS place, {counts} FROM {source}"


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

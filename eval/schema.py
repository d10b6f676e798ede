"""The structure of a database, as plain frozen values.

Every module that handles a database's structure uses these types: `eval.databases` produces a `Schema`, while
`eval.sql`, `eval.scoring` and `agent` consume it. Nothing here connects to anything.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cached_property, wraps
from typing import Any, Literal, TypeVar, get_args

Dialect = Literal[
    "sqlite", "duckdb", "postgres", "mysql", "spark", "clickhouse",
    "snowflake", "bigquery", "redshift", "databricks", "trino", "tsql", "oracle",
]  # fmt: skip
"""The dialects, by sqlglot's names. `eval.engines` says what else is to know of each."""

ALL_DIALECTS: tuple[Dialect, ...] = get_args(Dialect)
DIALECTS = ALL_DIALECTS[:6]
"""Those with an engine that is opened here."""
WRITTEN_DIALECTS = ALL_DIALECTS[6:]
"""Those that are written and checked against a given structure, and executed elsewhere."""

FOLDS_UPPER: frozenset[Dialect] = frozenset({"snowflake", "oracle"})
"""Those that read a name without quotes in capitals."""

NUMERIC = re.compile(r"int|real|num|dec|float|doub|money|serial", re.IGNORECASE)
"""The types of numbers, as engines and people write them."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Values:
    """How an import read the values of a column from a file."""

    unit: str | None = None
    """What its numbers are counted in (`£`, `kg`)."""
    unit_column: str | None = None
    """The column of the table that says so row by row, where they are counted in several units."""
    doubt: str | None = None
    """What could also be meant."""
    letters: str | None = None
    """Why its letters may be others: the encoding of the file was guessed."""
    flows: str | None = None
    """Where its numbers are money in and out: the words for either that it may be asked for by, with commas."""
    direction: str | None = None
    """Where another column says which of them are money out: its name and that value, with a bar between them."""


@dataclass(frozen=True, slots=True)
class Column:
    """One column as declared in the engine."""

    name: str
    type: str = ""
    """The declared type, verbatim (`VARCHAR(20)`); empty when there is none (SQLite allows that)."""
    nullable: bool = True
    primary_key: bool = False
    default: str | None = None
    """The default expression as SQL text, or None."""
    comment: str | None = None
    values: Values | None = None
    """What is known of how its values were read, if an import read them from a file."""

    @property
    def is_list(self) -> bool:
        """Whether each of its values is a list (`text[]`)."""
        return self.type.endswith("[]")


@dataclass(frozen=True, slots=True)
class ForeignKey:
    """`columns` of the owning table refer, in order, to `ref_columns` of `ref_table`."""

    columns: tuple[str, ...]
    ref_table: str
    ref_columns: tuple[str, ...]
    inferred: bool = False
    """True when the database does not declare the key and it was inferred from names, types and keys."""


@dataclass(frozen=True, slots=True)
class Index:
    name: str
    columns: tuple[str, ...]
    unique: bool = False


@dataclass(frozen=True)
class Table:
    """A table or a view. Column look-up ignores case, as engines do for unquoted names."""

    name: str
    columns: tuple[Column, ...]
    kind: Literal["table", "view"] = "table"
    namespace: str | None = None
    """Schema (PostgreSQL, DuckDB) to qualify the name with; None when the bare name is enough."""
    primary_key: tuple[str, ...] = ()
    foreign_keys: tuple[ForeignKey, ...] = ()
    indexes: tuple[Index, ...] = ()
    stored_name: str | None = None
    """Its name in the database, where `name` tells it apart from a table of the same name in another namespace."""
    exact_names: tuple[str, ...] = ()
    """Its name and those of its columns that were made with quotes, where names without them are read in capitals."""
    row_count: int | None = None
    """Row count; None for views and when counting was too costly."""
    row_count_estimated: bool = False
    comment: str | None = None
    meant_date: tuple[str, str] | None = None
    """(table, column) of the date that is meant where a question names none of these rows, as a team says."""
    meant_amount: tuple[str, str] | None = None
    """(table, column) of the figure that is meant where a question asks for an amount of these rows and names none."""

    def column(self, name: str) -> Column | None:
        return self._columns_folded.get(name.casefold())

    @cached_property
    def _columns_folded(self) -> dict[str, Column]:
        return {c.name.casefold(): c for c in reversed(self.columns)}


@dataclass(frozen=True)
class Schema:
    """All tables and views that a query may name."""

    dialect: Dialect
    tables: tuple[Table, ...] = field(default=())
    as_written: tuple[Table, ...] = field(default=())
    """Views of what imported files held before they were read: a statement may name them, and nothing else does."""

    def table(self, name: str, namespace: str | None = None) -> Table | None:
        """Find a table by name, ignoring case; a namespace, if one was written, narrows the search."""
        for table in self._tables_folded.get(name.casefold(), ()):
            if namespace is None or (table.namespace or "").casefold() in ("", namespace.casefold()):
                return table
        return None

    @property
    def column_count(self) -> int:
        return sum(len(t.columns) for t in self.tables)

    def __hash__(self) -> int:
        """The hash of the fingerprint, which is computed once; hashing every column on each cache look-up would cost
        more."""
        return hash(self.fingerprint)

    @cached_property
    def _tables_folded(self) -> dict[str, tuple[Table, ...]]:
        by_name: dict[str, tuple[Table, ...]] = {}
        for table in (*self.tables, *self.as_written):
            key = table.name.casefold()
            by_name[key] = (*by_name.get(key, ()), table)
        return by_name

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 (hex) over the structure only: neither time, row counts nor table order change it."""
        tables = []
        for table in sorted(self.tables, key=lambda t: (t.namespace or "", t.name)):
            shape = _stated(table, _STRUCTURE)
            shape["columns"] = [_stated(c, _OF_COLUMN) for c in table.columns]
            shape["foreign_keys"] = [_stated(k, _OF_KEY) for k in table.foreign_keys]
            shape["indexes"] = [_stated(x, _OF_INDEX) for x in table.indexes]
            shape |= {name: place for name in _MEANT if (place := getattr(table, name))}
            tables.append(shape)
        text = json.dumps([self.dialect, tables], sort_keys=True, ensure_ascii=False)
        return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _names_of(kind: type[Column | ForeignKey | Index | Table]) -> tuple[str, ...]:
    return tuple(f.name for f in fields(kind))


_OF_COLUMN = tuple(n for n in _names_of(Column) if n != "values")
_OF_KEY, _OF_INDEX = _names_of(ForeignKey), _names_of(Index)
_MEANT = ("meant_date", "meant_amount")
_STRUCTURE = tuple(
    n for n in _names_of(Table) if n not in ("stored_name", "exact_names", "row_count", "row_count_estimated", *_MEANT)
)


def _stated(part: Column | ForeignKey | Index | Table, names: tuple[str, ...]) -> dict[str, Any]:
    """These fields of a part; `dataclasses.asdict` copies every text of them, four times slower."""
    return {name: getattr(part, name) for name in names}


def kept_with_schema(read: Callable[[Schema], T]) -> Callable[[Schema], T]:
    """Read something off a schema once and keep it with the schema, which is frozen and outlives many questions."""
    name = f"{read.__module__}.{read.__qualname__}"

    @wraps(read)
    def kept(schema: Schema) -> T:
        if name not in schema.__dict__:
            schema.__dict__[name] = read(schema)
        value: T = schema.__dict__[name]
        return value

    return kept


@kept_with_schema
def told_apart(schema: Schema) -> Schema:
    """The schema with one name for each table: of tables with the same name, those off the search path are called
    after their namespace, too (`sales_region`, `hr_region`), and keys lead to the table of their own namespace."""
    times = Counter(t.name.casefold() for t in schema.tables)
    if len(times) == len(schema.tables):
        return schema
    names: dict[tuple[str | None, str], str] = {}
    taken = set(times)
    for table in schema.tables:
        name = table.name
        if table.namespace is not None and times[name.casefold()] > 1:
            name = f"{table.namespace}_{name}"
            while name.casefold() in taken:
                name += "_"
            taken.add(name.casefold())
        names[table.namespace, table.name] = name

    def target(table: Table, key: ForeignKey) -> str:
        own = (table.namespace, key.ref_table), (None, key.ref_table)
        return next((names[place] for place in own if place in names), key.ref_table)

    tables = tuple(
        _called(t, names[t.namespace, t.name], t.name, {key: target(t, key) for key in t.foreign_keys})
        for t in schema.tables
    )
    return replace(schema, tables=tables)


def _called(table: Table, name: str, stored_name: str | None, targets: Mapping[ForeignKey, str]) -> Table:
    """The table under another name, with the keys that have a target."""
    keys = tuple(replace(key, ref_table=targets[key]) for key in table.foreign_keys if key in targets)
    return replace(table, name=name, stored_name=stored_name, foreign_keys=keys)


def within_namespace(schema: Schema, namespace: str | None) -> Schema:
    """The schema in which a name that several namespaces have means the table of this one; where it has none, that on
    the search path, else the first. Tables with keys to others that are left out are left out, too."""
    apart = told_apart(schema)
    meant: dict[str, int] = {}
    for place, table in enumerate(schema.tables):
        known = meant.get(table.name.casefold())
        nearer = known is not None and (table.namespace == namespace or table.namespace is None)
        if known is None or (nearer and schema.tables[known].namespace != namespace):
            meant[table.name.casefold()] = place
    kept = [apart.tables[place] for place in sorted(meant.values())]
    names = {table.name: table.stored_name or table.name for table in kept}
    of_others = {table.name for table in apart.tables} - names.keys()
    kept = [table for table in kept if not any(key.ref_table in of_others for key in table.foreign_keys)]
    tables = tuple(
        _called(t, names[t.name], None, {k: names[k.ref_table] for k in t.foreign_keys if k.ref_table in names})
        for t in kept
    )
    return replace(schema, tables=tables)

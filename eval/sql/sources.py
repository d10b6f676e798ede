"""The sources of a FROM clause with their columns, and the scopes in which names are looked up.

`Output` is one column that a query or table offers, with the real column it comes from. `Source` is one named item in
FROM. `Scope` holds the sources of one SELECT and refers to its outer scope. A table name is resolved to the schema
(`real_table`), to the engine's own catalogue (`outside_the_data`), or to the columns of a table function. `quoted_name`
and its like are for the statements that this program builds itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from sqlglot import exp

from eval.engines import ENGINES
from eval.schema import WRITTEN_DIALECTS, Dialect, Schema, Table

Origin = tuple[str, str]
"""(table, column) with their names in the schema."""

ROWID = frozenset({"rowid", "_rowid_", "oid"})
_HIDDEN: dict[Dialect, frozenset[str]] = {
    "sqlite": ROWID,
    "postgres": frozenset({"ctid", "xmin", "xmax", "cmin", "cmax", "tableoid"}),
    "duckdb": frozenset({"rowid"}),
    "clickhouse": frozenset({"_part", "_partition_id", "_table"}),
}


@dataclass(frozen=True, slots=True)
class Output:
    """One output column. `name` is None when the engine generates a name that no query refers to."""

    name: str | None
    origin: Origin | None = None


@dataclass(slots=True)
class Relation:
    """The columns that a query, table or function offers; `open` when some of them are not known."""

    outputs: list[Output]
    open: bool = False
    single_row: bool = False
    table: Table | None = None
    name: str | None = None
    """The table's name when no schema says more."""


@dataclass(slots=True)
class Source:
    """One source of a FROM clause, with the name under which it is visible."""

    name: str
    relation: Relation
    dialect: Dialect
    merged: frozenset[str] = frozenset()
    """Columns that USING or NATURAL merges with a source to the left: one name, not two."""
    node: exp.Expr | None = None
    joined_naturally: bool = False
    """Joined by NATURAL to sources whose columns are not known."""
    columns: dict[str, list[Output]] = field(init=False)

    def __post_init__(self) -> None:
        self.columns = {}
        for output in self.relation.outputs:
            if output.name is not None:
                self.columns.setdefault(output.name.casefold(), []).append(output)

    def find(self, column: exp.Identifier) -> list[Output]:
        """The outputs with that name; PostgreSQL distinguishes `"Name"` from `name`."""
        key = column.name.casefold()
        outputs = self.columns.get(key, [])
        if not outputs and "(" in key:
            outputs = self.columns.get("".join(key.split()), [])
        if self.dialect == "postgres":
            name = folded(column, self.dialect)
            outputs = [output for output in outputs if output.name == name]
        return outputs

    def hides(self, column: str) -> Output | None:
        """A column that every base table has without declaring it."""
        table = self.relation.table
        name = column.casefold()
        if table is None or table.kind == "view" or name not in _HIDDEN.get(self.dialect, ()):
            return None
        return Output(name, (table.name, name))


@dataclass(slots=True)
class Scope:
    """The names visible at one place of a SELECT."""

    sources: list[Source]
    outer: Scope | None = None
    aliases: dict[str, Output] = field(default_factory=dict)
    """Names of the SELECT list that the current clause can see."""
    conditions: list[exp.Expr] = field(default_factory=list)
    """ON clauses that are resolved once all sources are known."""

    def outwards(self) -> Iterator[Scope]:
        """This scope, then those around it."""
        scope: Scope | None = self
        while scope is not None:
            yield scope
            scope = scope.outer

    def named(self, name: exp.Expr, dialect: Dialect) -> list[Source]:
        wanted = folded(name, dialect)
        return [s for s in self.sources if s.name == wanted or (dialect != "postgres" and same(s.name, wanted))]


def folded(identifier: exp.Expr, dialect: Dialect) -> str:
    """A name as the engine compares it. PostgreSQL folds unquoted names here; for the other engines, case is ignored
    later."""
    name = identifier.name
    quoted = isinstance(identifier, exp.Identifier) and identifier.args.get("quoted")
    return name.lower() if dialect == "postgres" and not quoted else name


def same(left: str, right: str) -> bool:
    return left.casefold() == right.casefold()


def quoted_name(name: str) -> exp.Identifier:
    return exp.to_identifier(name, quoted=True)


def quoted_column(name: str, table: str | exp.Identifier | None = None) -> exp.Column:
    return exp.column(quoted_name(name), table=table)


def table_source(table: Table) -> exp.Table:
    """The table in a FROM clause, with its namespace if it has one."""
    name = table.stored_name or table.name
    return exp.Table(this=quoted_name(name), db=quoted_name(table.namespace) if table.namespace else None)


_SQLITE_TREE = ("key", "value", "type", "atom", "id", "parent", "fullkey", "path", "json", "root")
_TWO = ("key", "value")
_FUNCTION_COLUMNS: dict[Dialect, dict[str, tuple[str, ...]]] = {
    "sqlite": {"json_each": _SQLITE_TREE, "json_tree": _SQLITE_TREE},
    "postgres": {"json_each": _TWO, "json_each_text": _TWO, "jsonb_each": _TWO, "jsonb_each_text": _TWO}
    | {f"{kind}_array_elements{text}": ("value",) for kind in ("json", "jsonb") for text in ("", "_text")},
    "spark": {"range": ("id",)},
    "clickhouse": {
        **dict.fromkeys(("numbers", "numbers_mt"), ("number",)),
        **dict.fromkeys(("zeros", "zeros_mt"), ("zero",)),
        **dict.fromkeys(("generateseries", "generate_series"), ("generate_series",)),
    },
}


def real_table(table: exp.Table, dialect: Dialect, schema: Schema) -> Table | None:
    """The table or view of the schema that a name refers to. PostgreSQL distinguishes `"Name"` from `name`. An
    unqualified name there refers only to a table on the search path (`namespace` None) or to the only table of that
    name."""
    name = folded(table.this, dialect)
    namespace = table.db or None
    if dialect == "sqlite" and namespace is not None:
        if namespace.casefold() not in ("main", "temp"):
            return None
        namespace = None
    if dialect in WRITTEN_DIALECTS:
        return _written_table(name, table, dialect, schema)
    if dialect == "postgres":
        wanted = folded(table.args["db"], dialect) if namespace else None
        for candidate in schema.tables:
            if candidate.name == name and (wanted is None or (candidate.namespace or "public") == wanted):
                return candidate
        return None
    return schema.table(name, None if namespace in ("main", None) else namespace)


def _written_table(name: str, table: exp.Table, dialect: Dialect, schema: Schema) -> Table | None:
    """A qualifier must be that of the given structure: what it leads to is not known here."""
    written = ".".join(part.name for part in table.parts[:-1]).casefold()
    for candidate in schema.tables:
        if candidate.name.casefold() == name.casefold():
            own = (candidate.namespace or "").casefold()
            if written in ("", own) or (not own and written == ENGINES[dialect].bare_namespace):
                return candidate
    return None


def function_relation(call: exp.Expr, alias: str, dialect: Dialect) -> Relation:
    """The columns that a table function offers. When they depend on its arguments, the relation is open."""
    name = call.name.casefold() if isinstance(call, exp.Anonymous) else call.key
    columns = _FUNCTION_COLUMNS.get(dialect, {}).get(name)
    if columns is not None:
        return Relation([Output(c) for c in columns])
    if isinstance(call, exp.JSONTable):
        return Relation([Output(c.name) for c in call.find_all(exp.JSONColumnDef) if c.this is not None])
    if dialect == "postgres" and not name.endswith(("_record", "_recordset")):
        return Relation([Output(alias or name)])
    return Relation([], open=True)


_NOT_DATA = re.compile(r"information_schema|account_usage|organization_usage|snowflake|sys|system|pg_\w+|region-.*")
"""Databases and schemas of the engines without one here that tell of accounts, settings and other people's queries."""
_WRITTEN_OWN: dict[Dialect, re.Pattern[str]] = {
    "redshift": re.compile(r"(pg|stl|stv|svl|svv|svcs|sys)_\w+", re.IGNORECASE),
    "oracle": re.compile(r"(dba|all|user|cdb)_\w+|g?v\$\w+|x\$\w+", re.IGNORECASE),
    "bigquery": re.compile(r"__tables.*", re.IGNORECASE),
    "tsql": re.compile(
        r"sys(objects|columns|users|logins|databases|processes|comments|indexes|servers)", re.IGNORECASE
    ),
}
"""Tables of the engine itself that a bare name reaches."""

_ENGINES_OWN: dict[Dialect, re.Pattern[str]] = {
    "sqlite": re.compile(r"sqlite_\w+|pragma_\w+|dbstat|bytecode|tables_used"),
    "duckdb": re.compile(r"(duckdb|pragma|sqlite|pg)_\w+"),
    "postgres": re.compile(r"pg_\w+"),
}
"""Names of the engine's own tables that need no qualifier."""


def outside_the_data(table: exp.Table, dialect: Dialect) -> str | None:
    """The reason why a name refers to something outside the opened database's own tables and views, or None. The
    engine's catalogue exposes users, settings, paths and other people's objects; the schema has all that a query needs
    to know.

    In MySQL, Spark and ClickHouse a qualifier may name another database, and in Spark also a catalogue or a file
    (``csv.`/etc/passwd` ``); the open database is not known here, so no qualifier is allowed.
    For the other engines, `eval.sql.resolve` looks the qualifier up in the schema."""
    name, namespace, catalogue = table.name.casefold(), table.db.casefold(), table.catalog.casefold()
    if dialect in WRITTEN_DIALECTS:
        return _outside_what_is_given(table, dialect)
    if dialect in ("mysql", "spark", "clickhouse"):
        if namespace or catalogue or len(table.parts) > 1:
            return f"names the database {table.db}; only tables of the opened one may be read, without a qualifier"
        return None
    own = namespace == "information_schema" or namespace.startswith("pg_") or catalogue == "system"
    if own or (namespace in ("", "main", "temp") and _ENGINES_OWN[dialect].fullmatch(name)):
        return f"reads {table.name}, which tells of the engine and not of the data"
    return None


def _outside_what_is_given(table: exp.Table, dialect: Dialect) -> str | None:
    """The same for a dialect without an engine here: other servers, stages, files and hidden tables, too."""
    if len(table.parts) > 3:
        return f"names {table.name} of another server"
    for name in (name for part in table.parts for name in part.name.casefold().split(".")):
        if _NOT_DATA.fullmatch(name) and name != table.name.casefold():
            return f"reads {name}, which tells of the engine and not of the data"
    own = _WRITTEN_OWN.get(dialect)
    if own is not None and own.fullmatch(table.name):
        return f"reads {table.name}, which tells of the engine and not of the data"
    if any(mark in part.name for part in table.parts for mark in "@#$*/\\:"):
        return f"reads {table.name!r}, which may be a file, a stage, another server or a hidden table"
    return None

"""What name resolution gives (`Binding`), the CTEs that it sees on the way, and how each engine looks up a column."""

from __future__ import annotations

from dataclasses import dataclass, field

from sqlglot import exp

from eval.schema import WRITTEN_DIALECTS, Column, Dialect, Schema, Table
from eval.sql.faithful import QUOTE
from eval.sql.sources import ROWID, Origin, Output, Relation, Scope, Source, quoted_name, same

_SPECIAL: dict[Dialect, frozenset[str]] = {
    "postgres": frozenset({"user", "current_role", "current_schema", "system_user"}),
    "duckdb": frozenset({"user", "current_role", "current_schema", "current_catalog"}),
    "mysql": frozenset({"utc_date", "utc_time", "utc_timestamp"}),
    "spark": frozenset({"user"}),
    **dict.fromkeys(WRITTEN_DIALECTS, frozenset({"sysdate", "systimestamp"})),
}
"""Functions without parentheses that the parser reads as columns."""


@dataclass(frozen=True, slots=True)
class Found:
    """What a name refers to: a column of a source, an alias, or something that is not a column (a string, a row)."""

    source: Source | None = None
    origin: Origin | None = None
    is_string: bool = False


@dataclass(frozen=True, slots=True)
class Shared:
    """The name refers to several columns at once."""

    sources: tuple[Source, ...]


def look_up(column: exp.Column, scope: Scope, dialect: Dialect) -> Found | Shared | None:
    """Look up a column from the innermost scope outwards; None when no source has it."""
    if dialect == "spark" and len(column.parts) > 2:  # table.column.field, before database.table.column
        field = _struct_field(column, scope, dialect)
        if field is not None:
            return field
    bound = _in_scopes(column, scope, dialect)
    if bound is not None:
        return bound
    if dialect in ("duckdb", "spark", "clickhouse") and column.table:
        return _struct_field(column, scope, dialect)
    if column.table:
        return None
    if column.name.casefold() in _SPECIAL.get(dialect, ()):
        return Found()
    if is_string(column, dialect):
        return Found(is_string=True)
    return None


def _in_scopes(column: exp.Column, scope: Scope, dialect: Dialect) -> Found | Shared | None:
    for level in scope.outwards():
        bound = _qualified(column, level, dialect) if column.table else _bare(column, level, dialect)
        if bound is not None:
            return bound
    return None


def is_string(column: exp.Expr, dialect: Dialect) -> bool:
    """SQLite reads "x" as a string when nothing has that name (but not [x] or `x`)."""
    name = column.this if isinstance(column, exp.Column) else None
    return (
        dialect == "sqlite"
        and isinstance(name, exp.Identifier)
        and bool(name.args.get("quoted"))
        and QUOTE not in name.meta
    )


def _bare(column: exp.Column, scope: Scope, dialect: Dialect) -> Found | Shared | None:
    name = column.this
    key = name.name.casefold()
    hits: list[tuple[Source, Output]] = []
    for source in scope.sources:
        outputs = source.find(name)
        if not outputs or (hits and key in source.merged):
            continue
        hits += [(source, output) for output in (outputs[:1] if dialect == "sqlite" else outputs)]
    if hits:
        return _one_of(hits)
    hidden = _hidden(key, scope, dialect)
    if hidden is not None:
        return hidden
    if key in scope.aliases:
        return Found(None, scope.aliases[key].origin)
    for source in scope.sources:
        if source.relation.open:
            return Found(source)
    if dialect in ("postgres", "duckdb") and any(same(s.name, name.name) for s in scope.sources):
        return Found()
    return None


def _one_of(hits: list[tuple[Source, Output]]) -> Found | Shared:
    return Found(hits[0][0], hits[0][1].origin) if len(hits) == 1 else Shared(tuple(source for source, _ in hits))


def _hidden(key: str, scope: Scope, dialect: Dialect) -> Found | None:
    """SQLite resolves a bare `rowid` only when there is exactly one source."""
    if dialect == "sqlite" and (key not in ROWID or len(scope.sources) != 1):
        return None
    for source in scope.sources:
        output = source.hides(key)
        if output is not None:
            return Found(source, output.origin)
    return None


def _qualified(column: exp.Column, scope: Scope, dialect: Dialect) -> Found | Shared | None:
    sources = scope.named(column.args["table"], dialect)
    hits = [(source, output) for source in sources for output in source.find(column.this)[:1]]
    if hits:
        return _one_of(hits)
    for source in sources:
        output = source.hides(column.name)
        if output is not None:
            return Found(source, output.origin)
        if source.relation.open:
            return Found(source)
    return None


def _struct_field(column: exp.Column, scope: Scope, dialect: Dialect) -> Found | Shared | None:
    """DuckDB, Spark and ClickHouse read `a.b` as field b of column a when no source is named a; in ClickHouse it may
    also be the column `a.b` of a Nested structure."""
    first = column.parts[0]
    if dialect == "clickhouse":
        parts = [part.name for part in column.parts]
        for whole, table in ((parts, None), (parts[1:], first.copy())):
            named = exp.Column(this=quoted_name(".".join(whole)), table=table)
            if len(whole) > 1 and (bound := _in_scopes(named, scope, dialect)) is not None:
                return bound
    if not isinstance(first, exp.Identifier):
        return None
    if len(column.parts) > 2:
        inner = exp.Column(this=column.parts[1].copy(), table=first.copy())
        bound = look_up(inner, scope, dialect)
        if bound is not None:
            return bound
    return look_up(exp.Column(this=first.copy()), scope, dialect)


@dataclass(frozen=True, slots=True)
class Unknown:
    """A name that does not exist (`table`, `column`) or that matches more than one column (`ambiguous`)."""

    kind: str
    name: str
    qualifier: str | None
    scope: Scope
    holders: tuple[str, ...] = ()
    """For `ambiguous`, the sources that share the name."""


@dataclass(frozen=True, slots=True)
class From:
    """The sources of one SELECT, for facts about how they are joined."""

    select: exp.Select
    scope: Scope


@dataclass(slots=True)
class Binding:
    """What the names of one tree refer to."""

    columns: dict[int, Found] = field(default_factory=dict)
    """By `id` of the column node."""
    tables: dict[str, None] = field(default_factory=dict)
    """In order of first use, as `used`."""
    used: dict[Origin, None] = field(default_factory=dict)
    unknown: list[Unknown] = field(default_factory=list)
    froms: list[From] = field(default_factory=list)

    def stored(self, node: int, schema: Schema) -> tuple[Table, Column] | None:
        """The table and column of the schema that a column node refers to, by its `id`; None where it is none."""
        found = self.columns.get(node)
        if found is None or found.origin is None:
            return None
        table = schema.table(found.origin[0])
        column = table.column(found.origin[1]) if table is not None else None
        return None if table is None or column is None else (table, column)


@dataclass(slots=True)
class Cte:
    node: exp.CTE
    ctes: Ctes | None
    relation: Relation | None = None
    busy: bool = False


@dataclass(slots=True)
class Ctes:
    """The CTEs visible at one point of the query, innermost first."""

    named: dict[str, Cte]
    outer: Ctes | None = None

    def find(self, name: str) -> Cte | None:
        level: Ctes | None = self
        while level is not None:
            cte = level.named.get(name.casefold())
            if cte is not None:
                return cte
            level = level.outer
        return None

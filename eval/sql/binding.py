"""Name resolution: what it gives (`Binding`), how each engine looks up a column, and what a FROM clause offers.

`look_up`, in: a column node and the scope that it stands in. Out: what it refers to. `FromClause`, in: the items of
FROM (tables, joins, subqueries, table functions), or an expression and the scope that it sees. Out: the sources in
their scope, and entries of the `Binding`. Queries go to `query`, which `eval.sql.scopes` implements.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from itertools import chain, repeat

from sqlglot import exp

from eval.schema import WRITTEN_DIALECTS, Column, Dialect, Schema, Table
from eval.sql.dialects import QUOTE
from eval.sql.nodes import called_name
from eval.sql.sources import (
    ROWID,
    Origin,
    Output,
    Relation,
    Scope,
    Source,
    folded,
    function_relation,
    quoted_name,
    real_table,
    same,
)

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


_UNIT_FIRST = frozenset({"timestampdiff", "timestampadd", "get_format"})
"""MySQL and Spark functions whose first argument is a keyword, not a column."""


class FromClause(ABC):
    def __init__(self, dialect: Dialect, schema: Schema | None) -> None:
        self.dialect = dialect
        self.schema = schema
        self.binding = Binding()

    @abstractmethod
    def query(self, node: exp.Expr, outer: Scope | None, ctes: Ctes | None, cte: Cte | None = None) -> Relation:
        """Resolve a query of any form and return the columns it offers."""

    @abstractmethod
    def _cte(self, entry: Cte, outer: Scope | None) -> Relation:
        """The columns of a CTE, resolved at its first use."""

    def expression(
        self, node: exp.Expr, scope: Scope, ctes: Ctes | None, aliases: dict[str, Output] | None = None
    ) -> None:
        """Resolve every name of an expression, including its subqueries."""
        scope.aliases = aliases or {}
        for column in self._names(node, scope, ctes):
            self._column(column, scope)
        scope.aliases = {}

    def _names(self, node: exp.Expr, scope: Scope, ctes: Ctes | None) -> list[exp.Column]:
        """The column nodes of an expression, in order; subqueries are resolved on the way."""
        columns: list[exp.Column] = []
        stack: list[exp.Expr] = [node]
        while stack:
            item = stack.pop()
            if isinstance(item, exp.Column):
                columns.append(item)
                continue
            if isinstance(item, exp.Query):
                self.query(item, scope, ctes)
                continue
            if isinstance(item, exp.DataType | exp.Identifier):
                continue
            children = list(item.iter_expressions())
            if isinstance(item, exp.In) and isinstance(item.args.get("field"), exp.Column):
                children.remove(item.args["field"])
                self._in_table(item.args["field"], scope, ctes)
            elif isinstance(item, exp.Comprehension):
                children = self._comprehension(item)
            elif isinstance(item, exp.Anonymous) and called_name(item) in _UNIT_FIRST:
                children = children[1:]
            stack += reversed(children)
        return columns

    def _in_table(self, column: exp.Column, scope: Scope, ctes: Ctes | None) -> None:
        """`x IN name`: the name is a table in SQLite and a list in DuckDB."""
        if self.dialect == "sqlite":
            table = exp.Table(this=column.this.copy(), db=column.args.get("table"))
            self.query(table, scope, ctes)
        else:
            self._column(column, scope)

    def _comprehension(self, node: exp.Comprehension) -> list[exp.Expr]:
        variables = {i.name.casefold() for i in node.expression.find_all(exp.Identifier)}
        children: list[exp.Expr] = [node.args["iterator"]]
        for part in (node.this, node.args.get("condition")):
            if part is not None:
                children += [c for c in part.find_all(exp.Column) if c.parts[0].name.casefold() not in variables]
        return children

    def _column(self, column: exp.Column, scope: Scope) -> None:
        if isinstance(column.this, exp.Star):
            if column.table and not any(s.named(column.args["table"], self.dialect) for s in scope.outwards()):
                self._unknown("table", column, scope)
            return
        bound = look_up(column, scope, self.dialect)
        if isinstance(bound, Shared):
            self._unknown("ambiguous", column, scope, tuple(s.name for s in bound.sources))
        elif bound is None:
            self._unknown("column", column, scope)
        else:
            self._add_bound(column, bound)

    def _add_bound(self, column: exp.Column, bound: Found) -> None:
        self.binding.columns[id(column)] = bound
        self._use(bound.origin)

    def _use(self, origin: Origin | None) -> None:
        if origin is not None:
            self.binding.used[origin] = None

    def _unknown(self, kind: str, column: exp.Column, scope: Scope, holders: tuple[str, ...] = ()) -> None:
        name, qualifier = (column.table, None) if kind == "table" else (column.name, column.table or None)
        self.binding.unknown.append(Unknown(kind, name, qualifier, scope, holders))

    def _sources(self, first: exp.Expr, node: exp.Expr, scope: Scope, ctes: Ctes | None) -> None:
        start = len(scope.sources)
        self._add(first, scope, ctes)
        for join in node.args.get("joins") or []:
            before = len(scope.sources)
            if join.kind == "ARRAY":
                # ClickHouse's ARRAY JOIN: each array is a column of the sources before it; an alias is a new column
                for item in (join.this, *join.expressions):
                    self.expression(item.unalias(), scope, ctes)
                    if isinstance(item, exp.Alias):
                        scope.sources.append(Source("", Relation([Output(item.alias)]), self.dialect, node=item))
                continue
            on, using = join.args.get("on"), join.args.get("using")
            comma = not (join.method or join.side or join.kind or on or using)
            if comma and self.dialect != "sqlite":
                start = before
            self._add(join.this, scope, ctes)
            self._merge(join, scope, scope.sources[start:before], scope.sources[before:], using or [])
            if on is not None and self.dialect == "sqlite":
                scope.conditions.append(on)
            elif on is not None:
                self.expression(on, Scope(scope.sources[start:], scope.outer), ctes)
        for lateral in node.args.get("laterals") or []:
            self._add(lateral, scope, ctes)

    def _deferred(self, scope: Scope, ctes: Ctes | None, aliases: dict[str, Output]) -> None:
        """SQLite reads ON like WHERE: it sees all sources and the aliases of the SELECT list."""
        conditions, scope.conditions = scope.conditions, []
        for condition in conditions:
            self.expression(condition, scope, ctes, aliases)

    def _merge(
        self, join: exp.Join, scope: Scope, left: list[Source], right: list[Source], using: list[exp.Expr]
    ) -> None:
        names: dict[str, exp.Expr | None] = {u.name.casefold(): u for u in using}
        if join.method.upper() == "NATURAL":
            shared = {k for s in right for k in s.columns} & {k for s in left for k in s.columns}
            names = dict.fromkeys(shared)
        for key, written in names.items():
            for side in (left, right):
                if written is None or any(key in s.columns or s.relation.open for s in side):
                    continue
                self._unknown("column", exp.Column(this=written), Scope(side))
            holders = [s for s in left if key in s.columns and key not in s.merged]
            if len(holders) > 1 and self.dialect != "sqlite":
                self.binding.unknown.append(Unknown("ambiguous", key, None, scope, tuple(s.name for s in holders)))
            for source in (*holders[:1], *right):
                for output in source.columns.get(key, [])[:1]:
                    self._use(output.origin)
        natural = join.method.upper() == "NATURAL" and any(s.relation.open for s in (*left, *right))
        for source in right:
            source.merged |= frozenset(names)
            source.joined_naturally = natural

    def _add(self, node: exp.Expr, scope: Scope, ctes: Ctes | None) -> None:
        """Add an item of FROM as one source, or as several sources for a join in parentheses."""
        alias = node.args.get("alias")
        called = alias.this if isinstance(alias, exp.TableAlias) else alias  # `ARRAY JOIN [1, 2] AS x` has a plain name
        name = folded(called, self.dialect) if called is not None else ""
        names = alias.columns if isinstance(alias, exp.TableAlias) else []
        if isinstance(node, exp.Table):
            if isinstance(node.this, exp.Identifier):
                relation = self._table(node, scope, ctes)
                name = name or folded(node.this, self.dialect)
            else:
                relation = self._call(node.this, name, scope, ctes)
                name = name or node.this.name
        elif isinstance(node, exp.Subquery) and isinstance(node.this, exp.Table) and not name:
            self._add(node.this, scope, ctes)
            self._nested_joins(node, scope, ctes)
            return
        elif isinstance(node, exp.Lateral):
            inner = node.this
            if isinstance(inner, exp.Subquery):
                relation = self.query(inner, scope, ctes)
            else:
                relation = self._call(inner, name, scope, ctes)
                name = name or inner.name
        elif isinstance(node, exp.Unnest):
            for item in node.expressions:
                self.expression(item, scope, ctes)
            relation = function_relation(node, name, self.dialect)
            if isinstance(node.args.get("offset"), exp.Identifier):  # WITH ORDINALITY AS name(value, position)
                relation.outputs.append(Output(folded(node.args["offset"], self.dialect)))
            name = name or "unnest"
        else:
            relation = self.query(node, scope if self.dialect == "duckdb" else scope.outer, ctes)
        scope.sources.append(Source(name, self._renamed(relation, names), self.dialect, node=node))
        self._nested_joins(node, scope, ctes)

    def _nested_joins(self, node: exp.Expr, scope: Scope, ctes: Ctes | None) -> None:
        """Joins that the parser attached to a table inside parentheses."""
        if not node.args.get("joins"):
            return
        inner = Scope([scope.sources.pop()], scope.outer)
        for join in node.args["joins"]:
            before = len(inner.sources)
            self._add(join.this, inner, ctes)
            self._merge(join, inner, inner.sources[:before], inner.sources[before:], join.args.get("using") or [])
            if join.args.get("on") is not None:
                inner.conditions.append(join.args["on"])
        if self.dialect != "sqlite":
            self._deferred(inner, ctes, {})
        scope.sources += inner.sources
        scope.conditions += inner.conditions

    def _table(self, node: exp.Table, scope: Scope, ctes: Ctes | None) -> Relation:
        cte = ctes.find(node.name) if ctes is not None and not node.db else None
        if cte is not None:
            return self._cte(cte, scope.outer)
        if self.schema is None:
            self.binding.tables[node.name] = None
            return Relation([], open=True, name=node.name)
        table = real_table(node, self.dialect, self.schema)
        if table is not None:
            self.binding.tables[table.name] = None
            return Relation([Output(c.name, (table.name, c.name)) for c in table.columns], table=table)
        if self.dialect == "mysql" and node.name.casefold() == "dual" and not node.db:
            return Relation([])
        self.binding.unknown.append(Unknown("table", ".".join(p.name for p in node.parts), None, scope))
        return Relation([], open=True)

    def _call(self, call: exp.Expr | None, alias: str, scope: Scope, ctes: Ctes | None) -> Relation:
        if call is None:
            return Relation([], open=True)  # `ROWS FROM (f(), g())`, which the guard refuses
        self.expression(call, scope, ctes)
        return function_relation(call, alias, self.dialect)

    def _renamed(self, relation: Relation, names: list[exp.Expr]) -> Relation:
        if not names:
            return relation
        origins = chain((output.origin for output in relation.outputs), repeat(None))
        renamed = [Output(folded(n, self.dialect), origin) for n, origin in zip(names, origins, strict=False)]
        return Relation(renamed + relation.outputs[len(names) :], False, relation.single_row)

"""Scope analysis: which column of which table each name in a query refers to.

In: a tree and a schema. Out: a `Binding`: the column nodes with the real columns they refer to, the sources of every
FROM clause, and the unresolved names. Each engine's own visibility rules apply. Where a rule cannot be followed to the
end (a function whose columns depend on its arguments), the name is assumed to exist.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import islice

from sqlglot import exp

from eval.schema import Dialect, Schema
from eval.sql.catalogue import function_relation, real_table
from eval.sql.dialects import render
from eval.sql.lookup import Found, Shared, is_string, look_up
from eval.sql.nodes import called_name, is_aggregate_call
from eval.sql.sources import Origin, Output, Relation, Scope, Source, folded

_UNIT_FIRST = frozenset({"timestampdiff", "timestampadd", "get_format"})
"""MySQL functions whose first argument is a keyword, not a column."""


_LONGEST_NAME = 60
"""Expression nodes whose text may serve as the name of the output column."""

MOST_STARRED = 30_000
"""The most columns that all `*` of a query may expand to; beyond that, their columns are assumed to exist. CTEs that
each join the previous one to itself double the number of columns each time."""


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


@dataclass(slots=True)
class _Cte:
    node: exp.CTE
    ctes: _Ctes | None
    relation: Relation | None = None
    busy: bool = False


@dataclass(slots=True)
class _Ctes:
    """The CTEs visible at one point of the query, innermost first."""

    named: dict[str, _Cte]
    outer: _Ctes | None = None

    def find(self, name: str) -> _Cte | None:
        level: _Ctes | None = self
        while level is not None:
            cte = level.named.get(name.casefold())
            if cte is not None:
                return cte
            level = level.outer
        return None


def bind(tree: exp.Expression, dialect: Dialect, schema: Schema | None) -> Binding:
    """Resolve every name of a tree. Without a schema every table is open: it may have any column."""
    binder = _Binder(dialect, schema)
    binder.query(tree, None, None)
    return binder.binding


class _Binder:
    def __init__(self, dialect: Dialect, schema: Schema | None) -> None:
        self.dialect = dialect
        self.schema = schema
        self.binding = Binding()
        self._shown: tuple[exp.Expr | None, set[str]] = (None, set())
        """A set operation with what its branches show, as text, for the terms of its ORDER BY."""
        self._starred = 0

    # Queries

    def query(self, node: exp.Expr, outer: Scope | None, ctes: _Ctes | None, cte: _Cte | None = None) -> Relation:
        """Resolve a query of any form and return the columns it offers."""
        ctes = self._with(node, outer, ctes)
        if isinstance(node, exp.Select):
            return self._select(node, outer, ctes)
        if isinstance(node, exp.SetOperation):
            return self._set_operation(node, outer, ctes, cte)
        if isinstance(node, exp.Values):
            return self._values(node, outer, ctes)
        if isinstance(node, exp.Subquery):
            relation = self.query(node.this, outer, ctes, cte)
            self._after(node, [relation], outer, ctes)
            return relation
        if isinstance(node, exp.Table):
            scope = Scope([], outer)
            self._add(node, scope, ctes)
            self._deferred(scope, ctes, {})
            return Relation(_star(scope.sources), any(s.relation.open for s in scope.sources))
        return Relation([], open=True)

    def _with(self, node: exp.Expr, outer: Scope | None, ctes: _Ctes | None) -> _Ctes | None:
        """In SQLite, and in PostgreSQL with RECURSIVE, all CTEs of one WITH see each other. Otherwise each CTE sees the
        previous ones, and itself with RECURSIVE."""
        clause = node.args.get("with_")
        if clause is None:
            return ctes
        recursive = bool(clause.args.get("recursive"))
        entries = []
        if self.dialect == "sqlite" or (recursive and self.dialect == "postgres"):
            ctes = _Ctes({}, ctes)
            for item in clause.expressions:
                entry = _Cte(item, ctes)
                ctes.named[item.alias.casefold()] = entry
                entries.append(entry)
        else:
            for item in clause.expressions:
                entry = _Cte(item, ctes)
                ctes = _Ctes({item.alias.casefold(): entry}, ctes)
                if recursive:
                    entry.ctes = ctes
                entries.append(entry)
        for entry in entries:
            self._cte(entry, outer)
        return ctes

    def _cte(self, entry: _Cte, outer: Scope | None) -> Relation:
        if not entry.busy and entry.relation is None:
            entry.busy = True
            names = entry.node.args["alias"].columns
            if names:
                entry.relation = Relation([Output(folded(n, self.dialect)) for n in names])
            relation = self.query(entry.node.this, outer, entry.ctes, entry)
            entry.relation = self._renamed(relation, names)
            entry.busy = False
        return entry.relation or Relation([], open=True)

    def _set_operation(
        self, node: exp.SetOperation, outer: Scope | None, ctes: _Ctes | None, cte: _Cte | None
    ) -> Relation:
        branches: list[exp.Expr] = [node.expression]
        left: exp.Expr = node.this
        while isinstance(left, exp.SetOperation) and not any(left.args.get(k) for k in ("with_", "order", "limit")):
            branches.append(left.expression)
            left = left.this
        first = self.query(left, outer, ctes, cte)
        if cte is not None and cte.relation is None:
            cte.relation = first
        relations = [first, *(self.query(branch, outer, ctes) for branch in reversed(branches))]
        self._after(node, relations, outer, ctes)
        return Relation(first.outputs, first.open)

    def _after(self, node: exp.Expr, relations: list[Relation], outer: Scope | None, ctes: _Ctes | None) -> None:
        """ORDER BY and LIMIT after a whole query see only its output columns (in SQLite, those of any branch)."""
        clauses = [node.args[k] for k in ("order", "limit", "offset") if node.args.get(k) is not None]
        if not clauses:
            return
        shown = relations if self.dialect == "sqlite" else relations[:1]
        scope = Scope([Source("", Relation(_once(r.outputs), r.open), self.dialect) for r in shown], outer)
        for clause in clauses:
            for column in self._names(clause, scope, ctes):
                if isinstance(column.this, exp.Identifier) and not self._is_output(column, scope, node):
                    self._unknown("column", column, Scope(scope.sources))

    def _is_output(self, column: exp.Column, scope: Scope, node: exp.Expr) -> bool:
        for source in scope.sources:
            hits = source.find(column.this)
            if hits or source.relation.open:
                self._found(column, Found(source, hits[0].origin if hits else None))
                return True
        if self.dialect != "sqlite":
            return False
        if is_string(column, self.dialect):
            return True
        if self._shown[0] is not node:
            shown = (e.unalias() for s in node.find_all(exp.Select) for e in s.expressions)
            names = (e for e in shown if isinstance(e, exp.Column))
            self._shown = (node, {render(e, self.dialect).casefold() for e in names})
        return render(column, self.dialect).casefold() in self._shown[1]

    def _values(self, node: exp.Values, outer: Scope | None, ctes: _Ctes | None) -> Relation:
        width = 0
        for row in node.expressions:
            items = row.expressions if isinstance(row, exp.Tuple) else [row]
            width = max(width, len(items))
            for item in items:
                self.expression(item, Scope([], outer), ctes)
        prefix, start = {"duckdb": ("col", 0), "mysql": ("column_", 0)}.get(self.dialect, ("column", 1))
        relation = Relation([Output(f"{prefix}{start + i}") for i in range(width)], False, len(node.expressions) == 1)
        self._after(node, [relation], outer, ctes)
        return relation

    def _select(self, node: exp.Select, outer: Scope | None, ctes: _Ctes | None) -> Relation:
        scope = Scope([], outer)
        clause = node.args.get("from_")
        if clause is not None:
            self._sources(clause.this, node, scope, ctes)
        self.binding.froms.append(From(node, scope))
        outputs, opened = self._projection(node, scope, ctes)
        named = {o.name.casefold(): o for o in outputs if o.name is not None}
        aliases = {
            p.alias.casefold(): named.get(p.alias.casefold(), Output(p.alias))
            for p in node.expressions
            if isinstance(p, exp.Alias)
        }
        self._deferred(scope, ctes, aliases)
        self._clauses(node, scope, ctes, aliases, named)
        alone = node.args.get("group") is None and any(_is_aggregate(p, self.dialect) for p in node.expressions)
        return Relation(outputs, opened, alone or clause is None or _limits_to_one(node))

    def _clauses(
        self,
        node: exp.Select,
        scope: Scope,
        ctes: _Ctes | None,
        aliases: dict[str, Output],
        outputs: dict[str, Output],
    ) -> None:
        """The clauses that see the aliases of the SELECT list differ by engine: all clauses in SQLite and DuckDB; GROUP
        BY, HAVING and ORDER BY in MySQL; GROUP BY and ORDER BY in PostgreSQL, and there only as a bare name."""
        loose = aliases if self.dialect in ("sqlite", "duckdb") else {}
        grouped = aliases if self.dialect != "postgres" else {}
        for part, visible in (("where", loose), ("having", grouped), ("qualify", aliases)):
            if node.args.get(part) is not None:
                self.expression(node.args[part], scope, ctes, visible)
        for window in node.args.get("windows") or []:
            self.expression(window, scope, ctes, loose)
        outer = scope.outer
        if self.dialect == "sqlite":
            scope.outer = None  # its GROUP BY and ORDER BY do not see the outer query
        group = node.args.get("group")
        if group is not None:
            scope.aliases = grouped
            for column in self._names(group, scope, ctes):
                bare = column.parent is group or isinstance(column.parent, exp.Rollup | exp.Cube | exp.GroupingSets)
                scope.aliases = aliases if bare else grouped
                self._column(column, scope)
            scope.aliases = {}
        distinct = node.args.get("distinct")
        if distinct is not None:
            self.expression(distinct, scope, ctes, aliases)
        if node.args.get("order") is not None:
            self._order(node.args["order"], scope, ctes, aliases, outputs)
        scope.outer = outer
        for part in ("limit", "offset", "sample"):
            if node.args.get(part) is not None:
                self.expression(node.args[part], scope, ctes)

    def _order(
        self,
        order: exp.Expr,
        scope: Scope,
        ctes: _Ctes | None,
        aliases: dict[str, Output],
        outputs: dict[str, Output],
    ) -> None:
        """A bare name refers first to an output column; a name inside an expression, first to a source's column."""
        starred = isinstance(order.parent, exp.Select) and order.parent.is_star  # SQLite names these columns
        by_output = self.dialect in ("postgres", "mysql") or (self.dialect == "sqlite" and starred)
        first = outputs if by_output else aliases
        scope.aliases = aliases if self.dialect != "postgres" else {}
        for column in self._names(order, scope, ctes):
            bare = (
                not column.table and isinstance(column.parent, exp.Ordered) and isinstance(column.this, exp.Identifier)
            )
            output = first.get(column.name.casefold()) if bare else None
            if output is not None:
                self._found(column, Found(None, output.origin))
            else:
                self._column(column, scope)
        scope.aliases = {}

    def _projection(self, node: exp.Select, scope: Scope, ctes: _Ctes | None) -> tuple[list[Output], bool]:
        outputs: list[Output] = []
        opened = False
        earlier: dict[str, Output] = {}
        for item in node.expressions:
            star = item.this if isinstance(item, exp.Column) else item
            if isinstance(star, exp.Star):
                sources = scope.sources
                if star is not item:
                    sources = scope.named(item.args["table"], self.dialect)
                    if not sources:
                        self._unknown("table", item, scope)
                opened = opened or any(s.relation.open for s in sources) or not sources
                outputs += self._star_changed(star, sources, scope, ctes)
                continue
            self.expression(item, scope, ctes, earlier)
            outputs.append(self._output(item))
            if self.dialect == "duckdb" and isinstance(item, exp.Alias):
                earlier[item.alias.casefold()] = outputs[-1]
        return outputs, opened or self._starred > MOST_STARRED

    def _star_changed(self, star: exp.Expr, sources: list[Source], scope: Scope, ctes: _Ctes | None) -> list[Output]:
        self._starred += sum(len(s.relation.outputs) for s in sources)
        if self._starred > MOST_STARRED:
            return []
        removed = {e.name.casefold() for e in star.args.get("except_") or []}
        for item in star.args.get("replace") or []:
            self.expression(item, scope, ctes)
        renamed = {e.this.name.casefold(): e.alias for e in star.args.get("rename") or [] if isinstance(e, exp.Alias)}
        kept = [o for o in _star(sources) if (o.name or "").casefold() not in removed]
        return [Output(renamed.get((o.name or "").casefold(), o.name), o.origin) for o in kept]

    def _output(self, item: exp.Expr) -> Output:
        inner = item.unalias()
        while isinstance(inner, exp.Paren | exp.Collate):
            inner = inner.this
        bound = self.binding.columns.get(id(inner))
        origin = bound.origin if bound else None
        if isinstance(item, exp.Alias):
            return Output(folded(item.args["alias"], self.dialect), origin)
        if isinstance(inner, exp.Cast) and self.dialect == "postgres":
            inner = inner.this
        if isinstance(inner, exp.Column):
            return Output(folded(inner.this, self.dialect), origin)
        if isinstance(inner, exp.Dot) and isinstance(inner.expression, exp.Identifier):
            return Output(inner.expression.name)
        if self.dialect == "postgres":
            name = called_name(inner) or inner.key
            return Output(name)
        if any(True for _ in islice(inner.dfs(), _LONGEST_NAME, None)):
            return Output(None)
        return Output(_squeezed(render(inner, self.dialect)))

    # FROM

    def _sources(self, first: exp.Expr, node: exp.Expr, scope: Scope, ctes: _Ctes | None) -> None:
        start = len(scope.sources)
        self._add(first, scope, ctes)
        for join in node.args.get("joins") or []:
            before = len(scope.sources)
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

    def _deferred(self, scope: Scope, ctes: _Ctes | None, aliases: dict[str, Output]) -> None:
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

    def _add(self, node: exp.Expr, scope: Scope, ctes: _Ctes | None) -> None:
        """Add an item of FROM as one source, or as several sources for a join in parentheses."""
        alias = node.args.get("alias")
        name = folded(alias.this, self.dialect) if alias is not None and alias.this is not None else ""
        names = alias.columns if alias is not None else []
        if isinstance(node, exp.Table):
            if isinstance(node.this, exp.Identifier):
                relation = self._table(node, scope, ctes)
                name = name or folded(node.this, self.dialect)
            else:
                relation = self._call(node.this, name, scope, ctes)
                name = name or node.this.name
            scope.sources.append(Source(name, self._renamed(relation, names), self.dialect, node=node))
            self._nested_joins(node, scope, ctes)
            return
        if isinstance(node, exp.Subquery) and isinstance(node.this, exp.Table) and not name:
            self._add(node.this, scope, ctes)
            self._nested_joins(node, scope, ctes)
            return
        if isinstance(node, exp.Lateral):
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
            sideways = self.dialect == "duckdb"
            relation = self.query(node, scope if sideways else scope.outer, ctes)
        scope.sources.append(Source(name, self._renamed(relation, names), self.dialect, node=node))
        self._nested_joins(node, scope, ctes)

    def _nested_joins(self, node: exp.Expr, scope: Scope, ctes: _Ctes | None) -> None:
        """Joins that the parser attached to a table inside parentheses."""
        if not node.args.get("joins"):
            return
        inner = Scope([scope.sources.pop()], scope.outer)
        holder = exp.Select(joins=[])
        holder.args["joins"] = node.args["joins"]
        self._join_onto(inner, holder, ctes)
        scope.sources += inner.sources
        scope.conditions += inner.conditions

    def _join_onto(self, scope: Scope, holder: exp.Expr, ctes: _Ctes | None) -> None:
        for join in holder.args["joins"]:
            before = len(scope.sources)
            self._add(join.this, scope, ctes)
            self._merge(join, scope, scope.sources[:before], scope.sources[before:], join.args.get("using") or [])
            if join.args.get("on") is not None:
                scope.conditions.append(join.args["on"])
        if self.dialect != "sqlite":
            self._deferred(scope, ctes, {})

    def _table(self, node: exp.Table, scope: Scope, ctes: _Ctes | None) -> Relation:
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
        written = ".".join(p.name for p in node.parts)
        self.binding.unknown.append(Unknown("table", written, None, scope))
        return Relation([], open=True)

    def _call(self, call: exp.Expr, alias: str, scope: Scope, ctes: _Ctes | None) -> Relation:
        self.expression(call, scope, ctes)
        return function_relation(call, alias, self.dialect)

    def _renamed(self, relation: Relation, names: list[exp.Expr]) -> Relation:
        if not names:
            return relation
        renamed = [Output(folded(n, self.dialect)) for n in names]
        for i, output in enumerate(relation.outputs):
            if i < len(renamed):
                renamed[i] = Output(renamed[i].name, output.origin)
            else:
                renamed.append(output)
        return Relation(renamed, False, relation.single_row)

    # Expressions

    def expression(
        self, node: exp.Expr, scope: Scope, ctes: _Ctes | None, aliases: dict[str, Output] | None = None
    ) -> None:
        """Resolve every name of an expression, including its subqueries."""
        scope.aliases = aliases or {}
        for column in self._names(node, scope, ctes):
            self._column(column, scope)
        scope.aliases = {}

    def _names(self, node: exp.Expr, scope: Scope, ctes: _Ctes | None) -> list[exp.Column]:
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

    def _in_table(self, column: exp.Column, scope: Scope, ctes: _Ctes | None) -> None:
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
            if column.table and not _reaches(scope, column.args["table"], self.dialect):
                self._unknown("table", column, scope)
            return
        bound = look_up(column, scope, self.dialect)
        if isinstance(bound, Shared):
            self._unknown("ambiguous", column, scope, tuple(s.name for s in bound.sources))
        elif bound is None:
            self._unknown("column", column, scope)
        else:
            self._found(column, bound)

    def _found(self, column: exp.Column, bound: Found) -> None:
        self.binding.columns[id(column)] = bound
        self._use(bound.origin)

    def _use(self, origin: Origin | None) -> None:
        if origin is not None:
            self.binding.used[origin] = None

    def _unknown(self, kind: str, column: exp.Column, scope: Scope, holders: tuple[str, ...] = ()) -> None:
        name = column.name if kind != "table" else column.table
        self.binding.unknown.append(
            Unknown(kind, name, column.table or None if kind != "table" else None, scope, holders)
        )


def _star(sources: Iterable[Source]) -> list[Output]:
    return [
        output
        for source in sources
        for output in source.relation.outputs
        if output.name is None or output.name.casefold() not in source.merged
    ]


def _once(outputs: list[Output]) -> list[Output]:
    seen: dict[str | None, Output] = {}
    for output in outputs:
        seen.setdefault(output.name, output)
    return list(seen.values())


def _squeezed(text: str) -> str:
    return "".join(text.split())


def _reaches(scope: Scope, name: exp.Identifier, dialect: Dialect) -> bool:
    level: Scope | None = scope
    while level is not None:
        if level.named(name, dialect):
            return True
        level = level.outer
    return False


def _is_aggregate(node: exp.Expr, dialect: Dialect) -> bool:
    """Whether an expression itself calls an aggregate, not inside a subquery and not as a window function."""
    stack = [node]
    while stack:
        item = stack.pop()
        if isinstance(item, exp.Query | exp.Window):
            continue
        if is_aggregate_call(item, dialect):
            return True
        stack += item.iter_expressions()
    return False


def _limits_to_one(node: exp.Expr) -> bool:
    limit = node.args.get("limit")
    value = limit.expression if isinstance(limit, exp.Limit) else None
    return isinstance(value, exp.Literal) and value.name in ("0", "1")

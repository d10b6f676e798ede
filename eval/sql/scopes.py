"""Scope analysis: which column of which table each name in a query refers to.

In: a tree and a schema. Out: a `Binding`: the column nodes with the real columns they refer to, the sources of every
FROM clause, and the unresolved names. Each engine's own visibility rules apply. Where a rule cannot be followed to the
end (a function whose columns depend on its arguments), the name is assumed to exist. This module resolves queries and
their SELECT lists; `FromClause` resolves sources and the names in expressions.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice

from sqlglot import exp

from eval.schema import Dialect, Schema
from eval.sql.binding import Binding, Cte, Ctes, Found, From, FromClause, is_string
from eval.sql.dialects import render
from eval.sql.nodes import called_name, is_aggregate_call
from eval.sql.sources import Output, Relation, Scope, Source, folded
from eval.sql.traversal import once, own_nodes

_LONGEST_NAME = 60
"""Expression nodes whose text may serve as the name of the output column."""

MOST_STARRED = 30_000
"""The most columns that all `*` of a query may expand to; beyond that, their columns are assumed to exist. CTEs that
each join the previous one to itself double the number of columns each time."""


def bind(tree: exp.Expression, dialect: Dialect, schema: Schema | None) -> Binding:
    """Resolve every name of a tree. Without a schema every table is open: it may have any column."""

    def bound() -> Binding:
        binder = _Binder(dialect, schema)
        binder.query(tree, None, None)
        return binder.binding

    return once(tree, ("bind", dialect, id(schema)), bound)


class _Binder(FromClause):
    def __init__(self, dialect: Dialect, schema: Schema | None) -> None:
        super().__init__(dialect, schema)
        self._shown: tuple[exp.Expr | None, set[str]] = (None, set())
        """A set operation with what its branches show, as text, for the terms of its ORDER BY."""
        self._starred = 0

    def query(self, node: exp.Expr, outer: Scope | None, ctes: Ctes | None, cte: Cte | None = None) -> Relation:
        ctes = self._with(node, outer, ctes)
        outer = self._scalars(node, outer, ctes)
        if isinstance(node, exp.Select):
            return self._select(node, outer, ctes)
        if isinstance(node, exp.SetOperation):
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

    def _with(self, node: exp.Expr, outer: Scope | None, ctes: Ctes | None) -> Ctes | None:
        """In SQLite, and in PostgreSQL with RECURSIVE, all CTEs of one WITH see each other. Otherwise each CTE sees the
        previous ones, and itself with RECURSIVE."""
        clause = node.args.get("with_")
        if clause is None:
            return ctes
        named = [item for item in clause.expressions if not item.args.get("scalar")]
        recursive = bool(clause.args.get("recursive"))
        entries = []
        if self.dialect == "sqlite" or (recursive and self.dialect == "postgres"):
            ctes = Ctes({}, ctes)
            entries = [Cte(item, ctes) for item in named]
            ctes.named.update((entry.node.alias.casefold(), entry) for entry in entries)
        else:
            for item in named:
                entry = Cte(item, ctes)
                ctes = Ctes({item.alias.casefold(): entry}, ctes)
                if recursive:
                    entry.ctes = ctes
                entries.append(entry)
        for entry in entries:
            self._cte(entry, outer)
        return ctes

    def _scalars(self, node: exp.Expr, outer: Scope | None, ctes: Ctes | None) -> Scope | None:
        """ClickHouse's `WITH 5 AS n`: the names that stand for values in the query, as columns of a scope around it."""
        clause = node.args.get("with_")
        scalars = [item for item in clause.expressions if item.args.get("scalar")] if clause is not None else []
        if not scalars:
            return outer
        for item in scalars:
            self.expression(item.this, Scope([], outer), ctes)
        return Scope([Source("", Relation([Output(item.alias) for item in scalars]), self.dialect)], outer)

    def _cte(self, entry: Cte, outer: Scope | None) -> Relation:
        if not entry.busy and entry.relation is None:
            entry.busy = True
            names = entry.node.args["alias"].columns
            if names:
                entry.relation = Relation([Output(folded(n, self.dialect)) for n in names])
            relation = self.query(entry.node.this, outer, entry.ctes, entry)
            entry.relation = self._renamed(relation, names)
            entry.busy = False
        return entry.relation or Relation([], open=True)

    def _after(self, node: exp.Expr, relations: list[Relation], outer: Scope | None, ctes: Ctes | None) -> None:
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
                self._add_bound(column, Found(source, hits[0].origin if hits else None))
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

    def _values(self, node: exp.Values, outer: Scope | None, ctes: Ctes | None) -> Relation:
        width = 0
        for row in node.expressions:
            items = row.expressions if isinstance(row, exp.Tuple) else [row]
            width = max(width, len(items))
            for item in items:
                self.expression(item, Scope([], outer), ctes)
        prefix, start = {
            "duckdb": ("col", 0),
            "mysql": ("column_", 0),
            "spark": ("col", 1),
            "clickhouse": ("c", 1),
        }.get(self.dialect, ("column", 1))
        relation = Relation([Output(f"{prefix}{start + i}") for i in range(width)], False, len(node.expressions) == 1)
        self._after(node, [relation], outer, ctes)
        return relation

    def _select(self, node: exp.Select, outer: Scope | None, ctes: Ctes | None) -> Relation:
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
        alone = node.args.get("group") is None and any(
            is_aggregate_call(part, self.dialect) for item in node.expressions for part in own_nodes(item)
        )
        return Relation(outputs, opened, alone or clause is None or _limits_to_one(node))

    def _clauses(
        self, node: exp.Select, scope: Scope, ctes: Ctes | None, aliases: dict[str, Output], outputs: dict[str, Output]
    ) -> None:
        """The clauses that see the aliases of the SELECT list differ by engine: all clauses in SQLite, DuckDB and
        ClickHouse; GROUP BY, HAVING and ORDER BY in MySQL and Spark; GROUP BY and ORDER BY, only as a bare name, in
        PostgreSQL."""
        loose = aliases if self.dialect in ("sqlite", "duckdb", "clickhouse") else {}
        grouped = aliases if self.dialect != "postgres" else {}
        for part, visible in (("prewhere", loose), ("where", loose), ("having", grouped), ("qualify", aliases)):
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
        self, order: exp.Expr, scope: Scope, ctes: Ctes | None, aliases: dict[str, Output], outputs: dict[str, Output]
    ) -> None:
        """A bare name refers first to an output column; a name inside an expression, first to a source's column."""
        starred = isinstance(order.parent, exp.Select) and order.parent.is_star  # SQLite names these columns
        by_output = self.dialect in ("postgres", "mysql", "spark") or (self.dialect == "sqlite" and starred)
        first = outputs if by_output else aliases
        scope.aliases = aliases if self.dialect != "postgres" else {}
        for column in self._names(order, scope, ctes):
            bare = isinstance(column.this, exp.Identifier) and not column.table
            output = first.get(column.name.casefold()) if bare and isinstance(column.parent, exp.Ordered) else None
            if output is not None:
                self._add_bound(column, Found(None, output.origin))
            else:
                self._column(column, scope)
        scope.aliases = {}

    def _projection(self, node: exp.Select, scope: Scope, ctes: Ctes | None) -> tuple[list[Output], bool]:
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
            if self.dialect in ("duckdb", "spark", "clickhouse") and isinstance(item, exp.Alias):
                earlier[item.alias.casefold()] = outputs[-1]
        return outputs, opened or self._starred > MOST_STARRED

    def _star_changed(self, star: exp.Expr, sources: list[Source], scope: Scope, ctes: Ctes | None) -> list[Output]:
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
            return Output(called_name(inner) or inner.key)
        if any(True for _ in islice(inner.dfs(), _LONGEST_NAME, None)):
            return Output(None)
        return Output("".join(render(inner, self.dialect).split()))


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


def _limits_to_one(node: exp.Expr) -> bool:
    limit = node.args.get("limit")
    value = limit.expression if isinstance(limit, exp.Limit) else None
    return isinstance(value, exp.Literal) and value.name in ("0", "1")

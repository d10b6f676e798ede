"""Resolves a FROM clause into sources: tables, joins, subqueries, table functions.

In: the items of FROM. Out: the sources in their scope, and entries of the `Binding`.
"""

from __future__ import annotations

from abc import abstractmethod
from itertools import chain, repeat

from sqlglot import exp

from eval.sql.binding import Cte, Ctes, Unknown
from eval.sql.catalogue import function_relation, real_table
from eval.sql.expression_names import ExpressionNames
from eval.sql.sources import Output, Relation, Scope, Source, folded


class FromClause(ExpressionNames):
    @abstractmethod
    def _cte(self, entry: Cte, outer: Scope | None) -> Relation:
        """The columns of a CTE, resolved at its first use."""

    def _sources(self, first: exp.Expr, node: exp.Expr, scope: Scope, ctes: Ctes | None) -> None:
        start = len(scope.sources)
        self._add(first, scope, ctes)
        for join in node.args.get("joins") or []:
            before = len(scope.sources)
            if join.kind == "ARRAY":
                self._array_join(join, scope, ctes)
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

    def _array_join(self, join: exp.Join, scope: Scope, ctes: Ctes | None) -> None:
        """ClickHouse's ARRAY JOIN: each array is a column of the sources before it; an alias is a new column."""
        for item in (join.this, *join.expressions):
            self.expression(item.unalias(), scope, ctes)
            if isinstance(item, exp.Alias):
                scope.sources.append(Source("", Relation([Output(item.alias)]), self.dialect, node=item))

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

    def _call(self, call: exp.Expr, alias: str, scope: Scope, ctes: Ctes | None) -> Relation:
        self.expression(call, scope, ctes)
        return function_relation(call, alias, self.dialect)

    def _renamed(self, relation: Relation, names: list[exp.Expr]) -> Relation:
        if not names:
            return relation
        origins = chain((output.origin for output in relation.outputs), repeat(None))
        renamed = [Output(folded(n, self.dialect), origin) for n, origin in zip(names, origins, strict=False)]
        return Relation(renamed + relation.outputs[len(names) :], False, relation.single_row)

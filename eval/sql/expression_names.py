"""Resolves the names in an expression.

In: an expression and the scope that it sees. Out: entries of the `Binding`. Subqueries go to `query`, which
`eval.sql.scopes` implements.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

from sqlglot import exp

from eval.schema import Dialect, Schema
from eval.sql.binding import Binding, Cte, Ctes, Unknown
from eval.sql.lookup import Found, Shared, look_up
from eval.sql.nodes import called_name
from eval.sql.sources import Origin, Output, Relation, Scope

_UNIT_FIRST = frozenset({"timestampdiff", "timestampadd", "get_format"})
"""MySQL and Spark functions whose first argument is a keyword, not a column."""


class ExpressionNames(ABC):
    def __init__(self, dialect: Dialect, schema: Schema | None) -> None:
        self.dialect = dialect
        self.schema = schema
        self.binding = Binding()

    @abstractmethod
    def query(self, node: exp.Expr, outer: Scope | None, ctes: Ctes | None, cte: Cte | None = None) -> Relation:
        """Resolve a query of any form and return the columns it offers."""

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

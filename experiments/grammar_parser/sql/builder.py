"""Build SQL: from a `plan.Select` to a sqlglot syntax tree in the database's dialect.

In: a plan, the vocabulary, the join graph. Out: an `exp.Expression`, or `Unreachable` when tables cannot be joined.
Nothing is concatenated as text: every name is an identifier, quoted when necessary, and every value is a literal node.
"""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass, replace

from sqlglot import exp

from agent.knowledge.stored_dates import UNIX, UNIX_MS
from agent.knowledge.vocabulary import Vocabulary
from agent.parser.date_functions import DateFunctions
from agent.parser.joins import Edge, JoinGraph, JoinPlan
from eval.errors import Text2SQLError
from experiments.grammar_parser.plan.algebra import (
    Aggregate,
    All,
    Among,
    Arithmetic,
    Column,
    Compare,
    Condition,
    Constant,
    DatePart,
    Either,
    Elapsed,
    Expression,
    Like,
    Missing,
    OneOf,
    Order,
    OverGroups,
    Related,
    Scalar,
    Select,
    Star,
    Within,
    own,
    tables_of,
)
from experiments.grammar_parser.sql.names import Names, named


class Unreachable(Text2SQLError):
    """No chain of foreign keys links these tables."""

    def __init__(self, tables: list[str]) -> None:
        super().__init__(f"no foreign keys tie together {', '.join(tables)}")
        self.tables = tables


@dataclass(frozen=True)
class _Scope:
    """One SELECT while its parts are built."""

    plan: Select
    joins: JoinPlan
    alone: bool
    """It reads one table, so that columns need no owner."""


class Builder:
    """Builds trees for one schema."""

    def __init__(self, vocabulary: Vocabulary, graph: JoinGraph, hints: frozenset[str] = frozenset()) -> None:
        self._vocabulary, self._graph, self._hints = vocabulary, graph, hints
        self._dates = DateFunctions(vocabulary.schema.dialect)
        self._names = Names(vocabulary)
        self.joins: list[JoinPlan] = []
        """The join plans made, the outermost first."""

    def build(self, plan: Select) -> exp.Expression:
        """The whole statement. Raises Unreachable."""
        tree = self._select(plan)
        if plan.combine is not None:
            other = self._select(plan.combine.other)
            combined = {"union": exp.union, "intersect": exp.intersect, "except": exp.except_}[plan.combine.how]
            return combined(tree, other, copy=False)
        return named(tree, plan, self._vocabulary)

    # -- one SELECT -----------------------------------------------------------------------------------------------

    def _select(self, plan: Select) -> exp.Select:
        scope = self._scope(plan)
        select = exp.Select().select(*(self._expression(e, scope) for e in plan.show), copy=False)
        if plan.distinct:
            select = select.distinct(copy=False)
        select = select.from_(self._names.table(scope.joins.root, scope.alone), copy=False)
        kind = "left" if plan.keep_empty else "inner"
        for table, edge in scope.joins.steps:
            select = select.join(
                self._names.table(table, False), on=self._names.joined(edge), join_type=kind, copy=False
            )
        for table, edge, role in self._roles(plan):
            other, on = self._names.other(table, edge, role)
            select = select.join(other, on=on, join_type="left" if edge.left == edge.right else "inner", copy=False)
        for condition in plan.where:
            select = select.where(self._condition(condition, scope), copy=False)
        if plan.group:
            select = select.group_by(*(self._expression(e, scope) for e in plan.group), copy=False)
        for condition in plan.having:
            select = select.having(self._condition(condition, scope), copy=False)
        if plan.per and plan.order and plan.limit:
            return self._ranked_within(select, scope)
        if plan.order:
            select = select.order_by(*self._ordered(plan.order, scope), copy=False)
        if plan.limit is not None:
            select = select.limit(plan.limit, copy=False)
        if plan.offset:
            select = select.offset(plan.offset, copy=False)
        return select

    def _scope(self, plan: Select) -> _Scope:
        named = (*tables_of((plan.show, plan.order, plan.having)), *plan.tables)
        needed = [*named, *tables_of((plan.group, plan.where, plan.per))]
        if plan.keep_empty and plan.tables:
            needed.insert(0, plan.tables[0])
        tables = list(dict.fromkeys(needed))
        joins = self._graph.plan(tables, frozenset(tables), self._hints) if tables else None
        if joins is None:
            raise Unreachable(tables)
        self.joins.append(joins)
        return _Scope(plan, joins, len(joins.tables) == 1 and not self._roles(plan))

    def _roles(self, plan: Select) -> list[tuple[str, Edge, str]]:
        """The further rows of a table that are joined by a certain foreign key: (table, edge, role)."""
        found: dict[tuple[str, str], Edge] = {}
        for node in own((plan.show, plan.where, plan.group, plan.having, plan.order, plan.per)):
            if isinstance(node, Column) and node.role and (node.table, node.role) not in found:
                holder, _, column = node.role.rpartition(".")
                edges = (e for e in self._graph.edges(holder) if e.left == holder and e.left_columns == (column,))
                edge = next((e for e in edges if e.right == node.table), None)
                if edge is None:
                    raise Unreachable([holder, node.table])
                found[node.table, node.role] = edge
        return [(table, edge, role) for (table, role), edge in found.items()]

    def _ordered(self, order: tuple[Order, ...], scope: _Scope) -> list[exp.Ordered]:
        """The terms of an order; NULL counts as the lowest value."""
        return [
            exp.Ordered(this=self._expression(o.by, scope), desc=o.descending, nulls_first=not o.descending)
            for o in order
        ]

    def _ranked_within(self, select: exp.Select, scope: _Scope) -> exp.Select:
        """The first rows of each group: a subquery numbers the rows, and the outer statement keeps the first ones."""
        plan = scope.plan
        if any(isinstance(e, Star) for e in plan.show):
            every = tuple(
                c
                for e in plan.show
                for c in ([Column(*w.key) for w in self._vocabulary.by_table[e.table]] if isinstance(e, Star) else [e])
            )
            plan = replace(plan, show=tuple(dict.fromkeys(every)))
            select.set("expressions", [self._expression(e, scope) for e in plan.show])
        place = exp.Window(
            this=exp.Anonymous(this="RANK", expressions=[]),
            partition_by=[self._expression(e, scope) for e in plan.per],
            order=exp.Order(expressions=self._ordered(plan.order, scope)),
        )
        inner = named(select, plan, self._vocabulary, every=True)
        columns = [exp.column(c.alias_or_name, quoted=c.args["alias"].quoted) for c in inner.expressions]
        inner = inner.select(exp.alias_(place, "place"), copy=False)
        kept = exp.LTE(this=exp.column("place"), expression=exp.Literal.number(plan.limit or 1))
        outer = exp.Select().select(*columns, copy=False)
        return outer.from_(inner.subquery("ranked", copy=False), copy=False).where(kept, copy=False)

    # -- expressions ----------------------------------------------------------------------------------------------

    def _expression(self, e: Expression, scope: _Scope) -> exp.Expr:
        match e:
            case Column():
                return self._moment(e, scope) if self._counted_date(e) else self._column(e, scope)
            case Star():
                return exp.Star() if scope.alone else exp.Column(this=exp.Star(), table=self._names.alias(e.table))
            case DatePart():
                return self._dates.part(self._moment(e.of, scope), self._declared(e.of), e.unit)
            case Elapsed():
                return self._elapsed(e, scope)
            case Arithmetic():
                return self._arithmetic(e, scope)
            case Constant():
                return _literal(e.value)
            case Aggregate():
                return self._aggregate(e, scope)
            case Scalar():
                return self._select(e.of).subquery(copy=False)
            case OverGroups():
                return self._over_groups(e, scope)

    def _column(self, c: Column, scope: _Scope) -> exp.Column:
        return self._names.column(c.key, scope.alone) if not c.role else self._names.column_of_other(c)

    def _moment(self, c: Column, scope: _Scope) -> exp.Expr:
        """The column; a date in a form of its own as the engine's own."""
        column, form = self._column(c, scope), self._vocabulary.columns[c.key].form
        return self._dates.moment(column, form) if form else column

    def _counted_date(self, c: Column) -> bool:
        return self._vocabulary.columns[c.key].form in (UNIX, UNIX_MS)

    def _declared(self, c: Column) -> str:
        word = self._vocabulary.columns[c.key]
        return "timestamp" if word.form else word.column.type

    def _elapsed(self, e: Elapsed, scope: _Scope) -> exp.Expr:
        start = self._moment(e.start, scope)
        if e.end is None:
            return self._dates.years_until(start, self._declared(e.start), e.today or dt.date.today())
        unit = "day" if e.unit == "year" else e.unit
        return exp.paren(self._dates.elapsed(start, self._moment(e.end, scope), unit), copy=False)

    def _arithmetic(self, e: Arithmetic, scope: _Scope) -> exp.Expr:
        left, right = (self._operand(x, scope) for x in (e.left, e.right))
        if e.sign == "/":
            real = exp.Mul(this=exp.Literal.number("1.0"), expression=left)
            return exp.Div(this=real, expression=exp.Nullif(this=right, expression=exp.Literal.number(0)))
        return {"+": exp.Add, "-": exp.Sub, "*": exp.Mul}[e.sign](this=left, expression=right)

    def _operand(self, e: Expression, scope: _Scope) -> exp.Expr:
        built = self._expression(e, scope)
        return exp.paren(built, copy=False) if isinstance(e, Arithmetic) else built

    def _aggregate(self, e: Aggregate, scope: _Scope) -> exp.Expr:
        if e.of is None:
            return self._count_rows(e, scope)
        inner = self._expression(e.of, scope)
        if isinstance(e.of, Column) and self._vocabulary.columns[e.of.key].form:
            inner = self._moment(e.of, scope)
        if e.where:
            inner = exp.Case(ifs=[exp.If(this=self._all(e.where, scope), true=inner)])
        if e.function == "count":
            return exp.Count(this=exp.Distinct(expressions=[inner]) if e.distinct else inner)
        if e.function == "median":
            return exp.Median(this=inner)
        return _AGGREGATES[e.function](this=inner)

    def _count_rows(self, e: Aggregate, scope: _Scope) -> exp.Expr:
        key = self._vocabulary.key_column(e.table)
        repeated = scope.joins.multiplies(e.table) and not self._counts_links(e.table, scope)
        of_key = key is not None and (scope.plan.keep_empty or repeated)
        if e.where:
            one: exp.Expr = self._names.column(key.key, scope.alone) if repeated and key else exp.Literal.number(1)
            case = exp.Case(ifs=[exp.If(this=self._all(e.where, scope), true=one)])
            return exp.Count(this=exp.Distinct(expressions=[case]) if repeated and key else case)
        if of_key and key is not None:
            column = self._names.column(key.key, scope.alone)
            return exp.Count(this=exp.Distinct(expressions=[column]) if repeated else column)
        return exp.Count(this=exp.Star())

    def _counts_links(self, table: str, scope: _Scope) -> bool:
        """Whether each row of the join is one row of the counted table, when grouped by the other side of a bridge."""
        others = {*tables_of(scope.plan.group)} - {table}
        bridges = {t for t in scope.joins.tables if self._vocabulary.tables[t].bridge}
        return bool(others) and set(scope.joins.tables) <= others | bridges | {table}

    def _over_groups(self, e: OverGroups, scope: _Scope) -> exp.Expr:
        figure = self._expression(e.of, scope)
        if e.kind == "share":
            total = exp.Window(this=exp.Sum(this=figure.copy()))
            real = exp.Mul(this=exp.Literal.number("100.0"), expression=figure)
            return exp.Div(this=real, expression=total)
        by = exp.Order(expressions=[exp.Ordered(this=self._expression(e.order, scope))]) if e.order else None
        if e.kind == "running":
            return exp.Window(this=exp.Sum(this=figure), order=by)
        before = exp.Window(this=exp.Lag(this=figure.copy()), order=by)
        change = exp.Sub(this=figure, expression=before)
        if e.kind == "change":
            return change
        real = exp.Mul(this=exp.Literal.number("100.0"), expression=exp.paren(change, copy=False))
        return exp.Div(this=real, expression=exp.Nullif(this=before.copy(), expression=exp.Literal.number(0)))

    # -- conditions -----------------------------------------------------------------------------------------------

    def _all(self, conditions: tuple[Condition, ...], scope: _Scope) -> exp.Expr:
        return exp.and_(*(self._condition(c, scope) for c in conditions), copy=False)

    def _condition(self, c: Condition, scope: _Scope) -> exp.Expr:
        match c:
            case Compare():
                return self._compare(c, scope)
            case OneOf():
                left = self._compared(c.left, scope, c.values)
                if len(c.values) == 1:
                    sign = exp.NEQ if c.negated else exp.EQ
                    return sign(this=left, expression=_literal(c.values[0]))
                among: exp.Expr = exp.In(this=left, expressions=[_literal(v) for v in c.values])
                return exp.Not(this=among) if c.negated else among
            case Like():
                like = exp.Like(this=self._expression(c.left, scope), expression=exp.Literal.string(c.pattern))
                return exp.Not(this=like) if c.negated else like
            case Missing():
                null = exp.Is(this=self._expression(c.left, scope), expression=exp.Null())
                return exp.Not(this=null) if c.negated else null
            case Within():
                return self._within(c, scope)
            case Related():
                return self._related(c, scope)
            case Among():
                inner = self._select(c.of).subquery(copy=False)
                among = exp.In(this=self._expression(c.left, scope), query=inner)
                return exp.Not(this=among) if c.negated else among
            case Either():
                return exp.paren(exp.or_(*(self._condition(x, scope) for x in c.of), copy=False), copy=False)
            case All():
                return exp.paren(self._all(c.of, scope), copy=False)

    def _compare(self, c: Compare, scope: _Scope) -> exp.Expr:
        values = (c.right.value,) if isinstance(c.right, Constant) else ()
        left = self._compared(c.left, scope, values) if values else self._expression(c.left, scope)
        return _COMPARISONS[c.operator](this=left, expression=self._expression(c.right, scope))

    def _compared(self, left: Expression, scope: _Scope, values: tuple[object, ...]) -> exp.Expr:
        """The left side of a comparison; a date in a form of its own stays as it is where no date is compared."""
        if not isinstance(left, Column):
            return self._expression(left, scope)
        dated = any(isinstance(v, dt.date) for v in values)
        return self._moment(left, scope) if dated else self._column(left, scope)

    def _within(self, c: Within, scope: _Scope) -> exp.Expr:
        left = self._compared(c.left, scope, (c.low,))
        low, high = _literal(c.low), _literal(c.high)
        if c.closed:
            within: exp.Expr = exp.Between(this=left, low=low, high=high)
        else:
            ends = (exp.GTE(this=left, expression=low), exp.LT(this=left.copy(), expression=high))
            within = exp.and_(*ends, copy=False)
        return exp.Not(this=exp.paren(within, copy=False)) if c.negated else within

    def _related(self, c: Related, scope: _Scope) -> exp.Expr:
        """`table.key [NOT] IN (SELECT foreign key FROM … related table …)`; where none may be related, on engines
        other than SQLite `NOT EXISTS`, which they join in one pass."""
        path = self._graph.plan([c.table, c.to], frozenset((c.table, c.to)), self._hints)
        if path is None or not path.steps:
            raise Unreachable([c.table, c.to])
        first_table, first = path.steps[0]
        if first.left == c.table:
            mine, theirs = first.left_columns, first.right_columns
        else:
            mine, theirs = first.right_columns, first.left_columns
        inner = Select((Column(first_table, theirs[0]),), (first_table, *(t for t, _ in path.steps[1:])), c.where)
        tree = self._select(inner)
        single = self.joins[-1].tables == (first_table,) and not self._roles(inner)
        left = self._names.column((c.table, mine[0]), scope.alone)
        if c.negated and self._vocabulary.schema.dialect != "sqlite" and c.table not in self.joins[-1].tables:
            tree.set("expressions", [exp.Literal.number(1)])
            for a, b in zip(mine, theirs, strict=True):
                outer = self._names.column((c.table, a), scope.alone)
                if scope.alone:
                    outer.set("table", exp.to_identifier(self._names.table(c.table, True).name))
                partner = self._names.column((first_table, b), single)
                tree = tree.where(exp.EQ(this=partner, expression=outer), copy=False)
            return exp.Not(this=exp.Exists(this=tree))
        target = self._names.column((first_table, theirs[0]), single)
        if c.negated:
            tree = tree.where(exp.Not(this=exp.Is(this=target, expression=exp.Null())), copy=False)
        member: exp.Expr = exp.In(this=left, query=tree.subquery(copy=False))
        return exp.Not(this=member) if c.negated else member


def _literal(value: object) -> exp.Expr:
    if isinstance(value, bool):
        return exp.Boolean(this=value)
    if isinstance(value, int | float):
        number = exp.Literal.number(abs(value))
        return exp.Neg(this=number) if value < 0 else number
    if isinstance(value, dt.date):
        return exp.Literal.string(value.isoformat())
    return exp.Literal.string(str(value))


_AGGREGATES: dict[str, type[exp.Expr]] = {"sum": exp.Sum, "avg": exp.Avg, "min": exp.Min, "max": exp.Max}
_COMPARISONS: dict[str, type[exp.Expr]] = {
    "=": exp.EQ,
    "<>": exp.NEQ,
    ">": exp.GT,
    ">=": exp.GTE,
    "<": exp.LT,
    "<=": exp.LTE,
}

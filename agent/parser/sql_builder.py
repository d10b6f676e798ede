"""Build SQL: from a `Query` to a sqlglot syntax tree in the database's dialect.

In: a `Query`, the join graph, the schema. Out: an `exp.Expr`, or `Unreachable` when tables cannot be joined. Nothing is
concatenated as text: every name is an identifier, quoted when necessary, and every value is a literal node.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from agent.knowledge.stored_dates import UNIX, UNIX_MS
from agent.knowledge.vocabulary import Vocabulary
from agent.parser import shapes
from agent.parser.interpretation import Clause, ColumnKey, Condition, Expression, Membership, Query
from agent.parser.joins import JoinGraph, JoinPlan
from agent.parser.sql_parts import DateFunctions, Names, as_number, identifier, name_columns, result_names
from eval.errors import Text2SQLError
from eval.schema import WRITTEN_DIALECTS, Dialect
from eval.sql import render
from eval.sql.traversal import every


class Unreachable(Text2SQLError):
    """No chain of foreign keys links these tables."""

    def __init__(self, tables: list[str]) -> None:
        super().__init__(f"no foreign keys tie together {', '.join(tables)}")
        self.tables = tables


_ONE_LINE = 100
"""The most characters of a statement on one line."""


def readable(tree: exp.Expression, dialect: Dialect) -> str:
    """The statement as text: on one line if it is short and reads one table, otherwise one clause and one column per
    line."""

    def text(pretty: bool) -> str:
        written = dialect in WRITTEN_DIALECTS
        return render(tree, dialect, pretty) if written else tree.sql(dialect=dialect, pretty=pretty)

    simple = len(every(tree, exp.Select, exp.Join)) == 1
    line = text(False) if simple else ""
    return line if line and len(line) <= _ONE_LINE else text(True)


@dataclass(frozen=True)
class _Scope:
    """One SELECT while its parts are built."""

    query: Query
    plan: JoinPlan
    alone: bool
    """It reads one table, so that columns need no owner."""


class TreeBuilder:
    def __init__(self, vocabulary: Vocabulary, graph: JoinGraph, hints: frozenset[str] = frozenset()) -> None:
        self._vocabulary = vocabulary
        self._graph = graph
        self._hints = hints
        self._dates = DateFunctions(vocabulary.schema.dialect)
        self._names = Names(vocabulary, graph)
        self.plans: list[JoinPlan] = []
        """The join plans made, the outermost last."""

    def build(self, query: Query) -> exp.Expression:
        """The whole statement. Raises Unreachable."""
        tree = self._select(query)
        if query.shape is not None:
            tree = shapes.shaped(tree, query)
        if query.whole is not None:
            tree = shapes.share_of(tree, self._select(query.whole))
        if query.intersect is None:
            return name_columns(tree, query, self._vocabulary)
        named = self._named_rows(query)
        if named is not None:  # the rows that are also among those of the other query, by their key
            inner = self._select(replace(query.intersect, select=[Expression(column=named)]))
            among = tree.where(exp.In(this=self._names.column(named), query=inner.subquery(copy=False)), copy=False)
            return among if query.group or query.aggregates() else among.distinct(copy=False)
        return exp.intersect(tree, self._select(query.intersect), copy=False)

    def _named_rows(self, query: Query) -> ColumnKey | None:
        """The key of the rows that the query counts, or whose names it shows: two rows with one name are not the same
        row. None where the values shown are what is asked for (`countries with both …`)."""
        only = query.select[0]
        if len(query.select) == 1 and only.function == "count" and only.table and not (only.column or query.group):
            counted = self._vocabulary.key_column(only.table)
            return counted.key if counted is not None else None
        shown = [e.column for e in query.select if e.column is not None and not (e.function or e.part or e.via)]
        tables = {c[0] for c in shown}
        if len(shown) != len(query.select) or len(tables) != 1 or (query.group and not query.each_once):
            return None
        table = next(iter(tables))
        names = {c.key for c in self._vocabulary.name_columns(table)}
        key = self._vocabulary.key_column(table)
        own = any(table in part.tables for part in query.restrictions())
        return key.key if key is not None and not own and names and set(shown) <= names else None

    def _select(self, query: Query) -> exp.Select:
        plan = self._plan(query)
        select = exp.Select()
        compared = (v for c in query.conditions() for v in c.values if isinstance(v, Expression))
        references = list(dict.fromkeys((e.column[0], e.via) for e in (*query.select, *compared) if e.via and e.column))
        alone = len(plan.tables) == 1 and not references
        scope = _Scope(query, plan, alone)
        counted = [self._expression(e, scope) for e in query.select]
        select = select.select(*counted, copy=False) if counted else select.select(exp.Star(), copy=False)
        if query.distinct:
            select = select.distinct(copy=False)
        select = select.from_(self._names.table(plan.root, alone), copy=False)
        shares = any(e.share for e in query.select)
        of_all = any(e.share and e.table == plan.root for e in query.select)
        for table, edge in plan.steps:
            # rows that may refer to nothing are part of all of which a share is told
            columns = (self._vocabulary.columns[edge.left, name].column for name in edge.left_columns)
            kept = query.keep_empty or (of_all and any(column.nullable for column in columns))
            _join(select, self._names.table(table, False), self._names.joined(edge), left=kept)
        for table, referring in references:
            other, on = self._names.other(table, referring)
            _join(select, other, on, left=True)
        for clause in query.base if shares else query.where:
            select = select.where(self._clause(clause, scope), copy=False)
        if query.group:
            select = select.group_by(*(self._expression(e, scope) for e in query.group), copy=False)
        for condition in query.having:
            select = select.having(self._condition(condition, scope), copy=False)
        if query.within and query.order and query.limit:
            return self._ranked_within(select, scope)
        if order := query.order or query.default_order:
            select = select.order_by(*self._ordered(order, scope), copy=False)
        if query.limit is not None:
            select = select.limit(query.limit, copy=False)
            if query.offset:
                select = select.offset(query.offset, copy=False)
        return select

    def _ordered(self, order: Sequence[tuple[Expression, bool]], scope: _Scope) -> list[exp.Ordered]:
        """The terms of an order; NULL counts as the lowest value."""
        return [
            exp.Ordered(this=self._expression(e, scope, ordered=True), desc=descending, nulls_first=not descending)
            for e, descending in order
        ]

    def _ranked_within(self, select: exp.Select, scope: _Scope) -> exp.Select:
        """The first rows of each group: a subquery numbers the rows, and the outer statement keeps the first ones."""
        query = scope.query
        ranks = self._ordered(query.order, scope)
        parts = [self._expression(e, scope) for e in query.within]
        place = exp.Window(
            this=exp.Anonymous(this="RANK", expressions=[]), partition_by=parts, order=exp.Order(expressions=ranks)
        )
        free = result_names(select, query, self._vocabulary)
        names = [identifier(name or f"column_{number}") for number, name in enumerate(free, 1)]
        for shown, name in zip(list(select.expressions), names, strict=True):
            shown.replace(exp.alias_(shown.copy(), name))
        inner = select.select(exp.alias_(place, "place"), copy=False)
        limit = exp.LTE(this=exp.column("place"), expression=exp.Literal.number(query.limit or 1))
        outer = exp.Select().select(*(exp.column(n) for n in names), copy=False)
        return outer.from_(inner.subquery("ranked", copy=False), copy=False).where(limit, copy=False)

    def _plan(self, query: Query) -> JoinPlan:
        needed: list[str] = [t for e in query.group for t in e.tables] if query.keep_empty else []
        if query.within:
            needed = [t for e in (*query.select, *query.ordered_by()) if e not in query.within for t in e.tables]
        needed.extend(t for e in query.expressions() for t in e.tables)
        needed.extend(query.tables)
        needed.extend(t for e in query.group for t in e.tables)
        needed.extend(t for clause in (*query.where, *query.base) for part in clause for t in part.tables)
        tables = list(dict.fromkeys(needed))
        if not tables:
            raise Unreachable([])
        plan = self._graph.plan(tables, frozenset(tables), self._hints)
        if plan is None:
            raise Unreachable(tables)
        self.plans.append(plan)
        return plan

    # -- expressions ----------------------------------------------------------------------------------------------

    def _expression(self, e: Expression, scope: _Scope, ordered: bool = False) -> exp.Expr:
        alone = scope.alone
        if e.function == "count":
            return self._count(e, scope)
        if e.column is None:
            assert e.table is not None
            return exp.Star() if alone else exp.Column(this=exp.Star(), table=self._names.alias(e.table))
        if e.via:
            return self._names.column_of_other(e.column, e.via)
        inner: exp.Expr = self._names.column(e.column, alone)
        word = self._vocabulary.columns[e.column]
        seconds = word.form in (UNIX, UNIX_MS)  # which nobody reads
        if e.part or e.function or ordered or e.since is not None or seconds:
            inner = self._moment(e.column, alone)
        if e.part:
            declared = "timestamp" if word.form else word.column.type
            return self._dates.part(inner, declared, e.part)
        if e.since is not None:
            inner = self._dates.elapsed(self._moment(e.since, alone), inner, e.unit)
        if e.factor is not None:
            inner = exp.Mul(this=inner, expression=self._moment(e.factor, alone))
        if e.less is not None:
            kept = exp.Sub(this=exp.Literal.number(1), expression=self._moment(e.less, alone))
            inner = exp.Mul(this=inner, expression=exp.paren(kept, copy=False))
        return _AGGREGATES[e.function](this=inner) if e.function else inner

    def _moment(self, key: ColumnKey, alone: bool) -> exp.Expr:
        """The column; a date in a form of its own as the engine's own, figures that are kept as text as numbers."""
        column, word = self._names.column(key, alone), self._vocabulary.columns[key]
        if word.figures is not None:
            return as_number(column, word.figures, self._vocabulary.schema.dialect)
        return self._dates.moment(column, word.form) if word.form else column

    def _count(self, e: Expression, scope: _Scope) -> exp.Expr:
        query, plan, alone = scope.query, scope.plan, scope.alone
        if e.share and query.where:
            condition = exp.and_(*(self._clause(clause, scope) for clause in query.where), copy=False)
            case = exp.Case(ifs=[exp.If(this=condition, true=exp.Literal.number(1))], default=exp.Literal.number(0))
            share = exp.Mul(this=exp.Literal.number("100.0"), expression=exp.Sum(this=case))
            return exp.Div(this=share, expression=exp.Count(this=exp.Star()))
        if e.column is not None:
            column = self._names.column(e.column, alone)
            return exp.Count(this=exp.Distinct(expressions=[column]) if e.distinct else column)
        own = self._vocabulary.key_column(e.table) if e.table is not None and query.keep_empty else None
        if own is not None:
            rows = self._names.column(own.key, alone)
            links = self._counts_links(own.table, scope) or not plan.multiplies(own.table)
            return exp.Count(this=rows if links else exp.Distinct(expressions=[rows]))
        if e.table is not None and plan.multiplies(e.table) and not self._counts_links(e.table, scope):
            key = self._vocabulary.key_column(e.table)
            if key is not None:
                return exp.Count(this=exp.Distinct(expressions=[self._names.column(key.key, alone)]))
        return exp.Count(this=exp.Star())

    def _counts_links(self, table: str, scope: _Scope) -> bool:
        """Whether each row of the join is one row of the counted table, when grouped by the other side of a bridge
        table."""
        others = {t for e in scope.query.group for t in e.tables} - {table}
        bridges = {t for t in scope.plan.tables if self._vocabulary.tables[t].bridge}
        return bool(others) and set(scope.plan.tables) <= others | bridges | {table}

    # -- conditions -----------------------------------------------------------------------------------------------

    def _clause(self, clause: Clause, scope: _Scope) -> exp.Expr:
        parts = [self._membership(p, scope) if isinstance(p, Membership) else self._condition(p, scope) for p in clause]
        return exp.or_(*parts, copy=False) if len(parts) > 1 else parts[0]

    def _compared(self, c: Condition, scope: _Scope) -> exp.Expr:
        """The left side of a condition; a date in a form of its own stays as it is where no date is compared, a text of
        figures where a text is."""
        if c.left.function or c.left.part:
            return self._expression(c.left, scope)
        assert c.left.column is not None
        figures = self._vocabulary.columns[c.left.column].figures is not None
        kinds = int | float | Expression if figures else dt.date | Expression
        missing = figures and c.operator in ("null", "not null")
        read = c.left.since is not None or any(isinstance(v, kinds) for v in c.values) or c.against or missing
        left = (self._moment if read else self._names.column)(c.left.column, scope.alone)
        if c.left.since is None:
            return left
        elapsed = self._dates.elapsed(self._moment(c.left.since, scope.alone), left, c.left.unit)
        return exp.paren(elapsed, copy=False)

    def _condition(self, c: Condition, scope: _Scope) -> exp.Expr:
        left = self._compared(c, scope)
        if c.operator == "null":
            return exp.Is(this=left, expression=exp.Null())
        if c.operator == "not null":
            return exp.Not(this=exp.Is(this=left, expression=exp.Null()))
        if c.against is not None:
            return _COMPARISONS[c.operator](this=left, expression=self._select(c.against).subquery(copy=False))
        values = [self._literal(v, scope.alone) for v in c.values]
        if c.operator in ("=", "<>") and c.left.column and self._vocabulary.columns[c.left.column].column.is_list:
            held = exp.EQ(this=values[0], expression=exp.Any(this=exp.Paren(this=left)))
            return held if c.operator == "=" else exp.Not(this=exp.Paren(this=held))
        if c.operator in ("between", "not between"):
            if c.half_open:
                within = exp.and_(
                    exp.GTE(this=left, expression=values[0]), exp.LT(this=left.copy(), expression=values[1]), copy=False
                )
                return within if c.operator == "between" else exp.Not(this=exp.Paren(this=within))
            between = exp.Between(this=left, low=values[0], high=values[1])
            return between if c.operator == "between" else exp.Not(this=between)
        if c.operator == "not like":
            return exp.Not(this=exp.Like(this=left, expression=values[0]))
        return _COMPARISONS[c.operator](this=left, expression=values[0])

    def _literal(self, value: object, alone: bool) -> exp.Expr:
        if isinstance(value, Expression):
            assert value.column is not None
            if not value.via:
                return self._moment(value.column, alone)
            return self._names.column_of_other(value.column, value.via)
        if isinstance(value, bool):
            return exp.Boolean(this=value)
        if isinstance(value, int | float):
            number = exp.Literal.number(abs(value))
            return exp.Neg(this=number) if value < 0 else number
        if isinstance(value, dt.date):
            return exp.Literal.string(value.isoformat())
        return exp.Literal.string(str(value))

    def _membership(self, m: Membership, scope: _Scope) -> exp.Expr:
        """`of.key [NOT] IN (SELECT foreign key FROM ... related table ...)`; on engines other than SQLite `NOT EXISTS`,
        which they join in one pass."""
        alone = scope.alone
        joined = scope.plan.branch(m.table) if scope.plan.root == m.of else None  # `ordered tea but not coffee`
        path = joined or self._graph.plan([m.of, m.table], frozenset((m.of, m.table)), self._hints)
        if path is None or not path.steps:
            raise Unreachable([m.of, m.table])
        first_table, first = path.steps[0]
        own, other = first.left_columns, first.right_columns
        if first.left != m.of:
            own, other = other, own
        inner_tables = [t for t, _ in path.steps] + [t for clause in m.where for part in clause for t in part.tables]
        if m.key is not None:  # `country [NOT] IN (SELECT country FROM places JOIN departures …)`
            inner = self._select(
                Query(select=[Expression(column=m.key)], tables=[m.of, *inner_tables], where=list(m.where))
            )
            if m.negated and self._vocabulary.columns[m.key].column.nullable:
                missing = exp.Is(this=self._names.column(m.key), expression=exp.Null())
                inner = inner.where(exp.Not(this=missing), copy=False)
            among = exp.In(this=self._names.column(m.key, alone), query=inner.subquery(copy=False))
            return exp.Not(this=among) if m.negated else among
        partner_key = Expression(column=(first_table, other[0]))
        inner = self._select(Query(select=[partner_key], tables=inner_tables, where=list(m.where)))
        if m.negated and self._vocabulary.schema.dialect != "sqlite" and m.of not in inner_tables:
            inner.set("expressions", [exp.Literal.number(1)])
            for a, b in zip(own, other, strict=True):
                outer = self._names.column((m.of, a), alone)
                if alone:
                    outer.set("table", identifier(self._vocabulary.tables[m.of].table.name))
                partner = self._names.column((first_table, b), len(set(inner_tables)) == 1)
                inner = inner.where(exp.EQ(this=partner, expression=outer), copy=False)
            return exp.Not(this=exp.Exists(this=inner))
        target = self._names.column((first_table, other[0]), len(set(inner_tables)) == 1)
        inner = inner.where(exp.Not(this=exp.Is(this=target, expression=exp.Null())), copy=False)
        left = self._names.column((m.of, own[0]), alone)
        membership: exp.Expr = exp.In(this=left, query=inner.subquery(copy=False))
        if not m.negated:
            return membership
        if first.left == m.of and self._vocabulary.columns[m.of, own[0]].column.nullable:
            none = exp.Is(this=left.copy(), expression=exp.Null())  # a row that refers to nothing has no match either
            return exp.paren(exp.or_(none, exp.Not(this=membership), copy=False), copy=False)
        return exp.Not(this=membership)


def _join(select: exp.Select, table: exp.Table, on: exp.Expr, *, left: bool) -> None:
    """Join a table to a SELECT in place; sqlglot's own builder parses a text to know the kind of join."""
    kind = {"side": "LEFT"} if left else {"kind": "INNER"}
    select.append("joins", exp.Join(this=table, on=on, **kind))


_AGGREGATES: dict[str, type[exp.Expr]] = {"sum": exp.Sum, "avg": exp.Avg, "min": exp.Min, "max": exp.Max}
_COMPARISONS: dict[str, type[exp.Expr]] = {
    "=": exp.EQ, "<>": exp.NEQ, ">": exp.GT, ">=": exp.GTE, "<": exp.LT, "<=": exp.LTE, "like": exp.Like,
}  # fmt: skip

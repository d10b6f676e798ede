"""The SQL tree: from a `Query` to a sqlglot syntax tree in the database's dialect.

In: a `Query`, the join graph, the schema. Out: an `exp.Expr`, or `Unreachable` where tables cannot be joined.
Nothing is pasted as text: every name is a quoted-where-needed identifier, every value a literal node.
"""

from __future__ import annotations

import datetime as dt
import re

from sqlglot import exp

from agent.models.offline.interpretation import Clause, ColumnKey, Condition, Expression, Membership, Query
from agent.models.offline.joins import Edge, JoinGraph, JoinPlan
from agent.models.offline.lexicon import word_set
from agent.models.offline.vocabulary import Vocabulary

_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")


class Unreachable(Exception):
    """No chain of foreign keys ties these tables together."""

    def __init__(self, tables: list[str]) -> None:
        super().__init__(f"no foreign keys tie together {', '.join(tables)}")
        self.tables = tables


class TreeBuilder:
    """Builds trees for one schema."""

    def __init__(self, vocabulary: Vocabulary, graph: JoinGraph, hints: frozenset[str] = frozenset()) -> None:
        self._vocabulary = vocabulary
        self._graph = graph
        self._hints = hints
        self.plans: list[JoinPlan] = []
        """The join plans made, the outermost last."""

    def build(self, query: Query) -> exp.Expression:
        """The whole statement. Raises Unreachable."""
        tree: exp.Expression = self._select(query)
        for other, wrap in ((query.intersect, exp.intersect), (query.minus, exp.except_)):
            if other is not None:
                tree = wrap(tree, self._select(other), copy=False)
        return tree

    def _select(self, query: Query) -> exp.Select:
        plan = self._plan(query)
        select = exp.Select()
        alone = len(plan.tables) == 1
        counted = [self._expression(e, plan, alone, query) for e in query.select]
        select = select.select(*counted, copy=False) if counted else select.select(exp.Star(), copy=False)
        if query.distinct:
            select = select.distinct(copy=False)
        select = select.from_(self._table(plan.root), copy=False)
        join = "left" if query.keep_empty else "inner"
        for table, edge in plan.steps:
            select = select.join(self._table(table), on=self._on(edge), join_type=join, copy=False)
        shares = any(e.share for e in query.select)
        for clause in () if shares else query.where:
            select = select.where(self._clause(clause, alone), copy=False)
        if query.group:
            select = select.group_by(*(self._expression(e, plan, alone, query) for e in query.group), copy=False)
        for condition in query.having:
            select = select.having(self._condition(condition, alone, plan, query), copy=False)
        if query.order:
            select = select.order_by(
                *(
                    exp.Ordered(
                        this=self._expression(e, plan, alone, query), desc=descending, nulls_first=not descending
                    )
                    for e, descending in query.order
                ),
                copy=False,
            )
        if query.limit is not None:
            select = select.limit(query.limit, copy=False)
            if query.offset:
                select = select.offset(query.offset, copy=False)
        return select

    def _plan(self, query: Query) -> JoinPlan:
        needed: list[str] = [t for e in query.group for t in e.tables] if query.keep_empty else []
        for e in (*query.select, *(e for e, _ in query.order), *(c.left for c in query.having)):
            needed.extend(e.tables)
        needed.extend(query.tables)
        needed.extend(t for e in query.group for t in e.tables)
        for clause in query.where:
            for part in clause:
                needed.extend(part.tables)
        tables = list(dict.fromkeys(needed))
        if not tables:
            raise Unreachable([])
        plan = self._graph.plan(tables, frozenset(tables), self._hints)
        if plan is None:
            raise Unreachable(tables)
        self.plans.append(plan)
        return plan

    # -- names ----------------------------------------------------------------------------------------------------

    def _identifier(self, name: str) -> exp.Identifier:
        return exp.to_identifier(name, quoted=not _PLAIN.match(name) or self._reserved(name) or name != name.lower())

    def _reserved(self, name: str) -> bool:
        return name.lower() in _RESERVED

    def _table(self, name: str) -> exp.Table:
        table = self._vocabulary.tables[name].table
        return exp.Table(
            this=self._identifier(table.name),
            db=self._identifier(table.namespace) if table.namespace else None,
        )

    def _column(self, key: ColumnKey, alone: bool) -> exp.Column:
        return exp.Column(this=self._identifier(key[1]), table=None if alone else self._identifier(key[0]))

    def _on(self, edge: Edge) -> exp.Expr:
        pairs = [
            exp.EQ(this=self._column((edge.left, a), False), expression=self._column((edge.right, b), False))
            for a, b in zip(edge.left_columns, edge.right_columns, strict=True)
        ]
        return exp.and_(*pairs, copy=False)

    # -- expressions ----------------------------------------------------------------------------------------------

    def _expression(self, e: Expression, plan: JoinPlan, alone: bool, query: Query) -> exp.Expr:
        if e.function == "count":
            return self._count(e, plan, alone, query)
        if e.column is None:
            assert e.table is not None
            return exp.Star() if alone else exp.Column(this=exp.Star(), table=self._identifier(e.table))
        inner: exp.Expr = self._column(e.column, alone)
        if e.part:
            return self._date_part(e.column, inner, e.part)
        if e.factor is not None:
            inner = exp.Mul(this=inner, expression=self._column(e.factor, alone))
        if not e.function:
            return inner
        return _AGGREGATES[e.function](this=inner)

    def _date_part(self, key: ColumnKey, column: exp.Expr, part: str) -> exp.Expr:
        dialect = self._vocabulary.schema.dialect
        if dialect in ("postgres", "duckdb") and not re.search(
            "date|time", self._vocabulary.columns[key].column.type, re.IGNORECASE
        ):
            column = exp.cast(column, exp.DataType.Type.TIMESTAMP)
        function, shape = _DATE_FORMATS[dialect]
        pattern = exp.Literal.string(shape[part])
        arguments = [pattern, column] if dialect == "sqlite" else [column, pattern]
        return exp.Anonymous(this=function, expressions=arguments)

    def _count(self, e: Expression, plan: JoinPlan, alone: bool, query: Query) -> exp.Expr:
        if e.share and query.where:
            held = exp.and_(*(self._clause(clause, alone) for clause in query.where), copy=False)
            case = exp.Case(ifs=[exp.If(this=held, true=exp.Literal.number(1))], default=exp.Literal.number(0))
            share = exp.Mul(this=exp.Literal.number("100.0"), expression=exp.Sum(this=case))
            return exp.Div(this=share, expression=exp.Count(this=exp.Star()))
        if e.column is not None:
            column = self._column(e.column, alone)
            return exp.Count(this=exp.Distinct(expressions=[column]) if e.distinct else column)
        own = self._vocabulary.key_column(e.table) if e.table is not None and query.keep_empty else None
        if own is not None:
            rows = self._column(own.key, alone)
            links = self._counts_links(own.table, plan, query) or not plan.multiplies(own.table)
            return exp.Count(this=rows if links else exp.Distinct(expressions=[rows]))
        if e.table is not None and plan.multiplies(e.table) and not self._counts_links(e.table, plan, query):
            key = self._vocabulary.key_column(e.table)
            if key is not None:
                return exp.Count(this=exp.Distinct(expressions=[self._column(key.key, alone)]))
        return exp.Count(this=exp.Star())

    def _counts_links(self, table: str, plan: JoinPlan, query: Query) -> bool:
        """Grouped by the other side of a bridge, each row of the join is one row of the counted table."""
        if not query.group:
            return False
        others = {t for e in query.group for t in e.tables} - {table}
        bridges = {t for t in plan.tables if self._vocabulary.tables[t].bridge}
        return bool(others) and set(plan.tables) <= others | bridges | {table}

    # -- conditions -----------------------------------------------------------------------------------------------

    def _clause(self, clause: Clause, alone: bool) -> exp.Expr:
        parts = [self._membership(p, alone) if isinstance(p, Membership) else self._condition(p, alone) for p in clause]
        return exp.or_(*parts, copy=False) if len(parts) > 1 else parts[0]

    def _condition(
        self, c: Condition, alone: bool, plan: JoinPlan | None = None, query: Query | None = None
    ) -> exp.Expr:
        if plan is not None and query is not None:
            left = self._expression(c.left, plan, alone, query)
        else:
            assert c.left.column is not None
            left = self._column(c.left.column, alone)
        if c.operator == "null":
            return exp.Is(this=left, expression=exp.Null())
        if c.operator == "not null":
            return exp.Not(this=exp.Is(this=left, expression=exp.Null()))
        if c.against is not None:
            return _COMPARISONS[c.operator](this=left, expression=self._select(c.against).subquery(copy=False))
        values = [self._literal(v, alone) for v in c.values]
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

    def _literal(self, value: object, alone: bool = True) -> exp.Expr:
        if isinstance(value, Expression):
            assert value.column is not None
            return self._column(value.column, alone)
        if isinstance(value, bool):
            return exp.Boolean(this=value)
        if isinstance(value, int | float):
            number = exp.Literal.number(abs(value))
            return exp.Neg(this=number) if value < 0 else number
        if isinstance(value, dt.date):
            return exp.Literal.string(value.isoformat())
        return exp.Literal.string(str(value))

    def _membership(self, m: Membership, alone: bool) -> exp.Expr:
        """`of.key [NOT] IN (SELECT foreign key FROM ... related table ...)`."""
        path = self._graph.plan([m.of, m.table], frozenset((m.of, m.table)), self._hints)
        if path is None or not path.steps:
            raise Unreachable([m.of, m.table])
        first_table, first = path.steps[0]
        own, other = (
            (first.left_columns, first.right_columns)
            if first.left == m.of
            else (first.right_columns, first.left_columns)
        )
        inner_tables = [first_table, *(t for t, _ in path.steps[1:])]
        for clause in m.where:
            for part in clause:
                inner_tables.extend(part.tables)
        inner_query = Query(
            select=[Expression(column=(first_table, other[0]))], tables=inner_tables, where=list(m.where)
        )
        inner = self._select(inner_query)
        target = self._column((first_table, other[0]), len(set(inner_tables)) == 1)
        inner = inner.where(exp.Not(this=exp.Is(this=target, expression=exp.Null())), copy=False)
        left = self._column((m.of, own[0]), alone)
        found: exp.Expr = exp.In(this=left, query=inner.subquery(copy=False))
        return exp.Not(this=found) if m.negated else found


_PERCENT = {"year": "%Y", "month": "%Y-%m", "day": "%Y-%m-%d"}
_DATE_FORMATS = {
    "sqlite": ("STRFTIME", _PERCENT),
    "duckdb": ("STRFTIME", _PERCENT),
    "mysql": ("DATE_FORMAT", _PERCENT),
    "postgres": ("TO_CHAR", {"year": "YYYY", "month": "YYYY-MM", "day": "YYYY-MM-DD"}),
}
_AGGREGATES: dict[str, type[exp.Expr]] = {"sum": exp.Sum, "avg": exp.Avg, "min": exp.Min, "max": exp.Max}
_COMPARISONS: dict[str, type[exp.Expr]] = {
    "=": exp.EQ, "<>": exp.NEQ, ">": exp.GT, ">=": exp.GTE, "<": exp.LT, "<=": exp.LTE, "like": exp.Like,
}  # fmt: skip
_RESERVED = word_set(
    "add all alter analyze and any as asc between both by case cast check collate column constraint create cross "
    "current current_date current_time current_timestamp database default delete desc describe distinct div drop else "
    "end escape except exists explain false fetch filter for foreign from full function grant group groups having if "
    "in index inner insert interval into is join key keys lateral leading left like limit lock match natural no not "
    "null of offset on or order outer over partition percent primary procedure range rank read references right row "
    "rows select session set show some system table then to trailing trigger true union unique update user using "
    "values view when where window with year month day date time timestamp usage role position value comment"
)

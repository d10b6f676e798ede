"""What is behind one figure of an answer: its rows, the same by another column, only this, without this.

In: the query of an answer, its database, and the rows of its result that were pointed at, with the column. Out: queries
made on its tree; nothing is asked of a model. Where a query is grouped by what it does not show, its hidden keys are
looked up first, so that two groups of one name are not mixed.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Literal

from sqlglot import exp

from agent.knowledge.values import ValueIndex, value_index
from agent.knowledge.vocabulary import ColumnWord, Vocabulary
from agent.parser.sql_parts import DateFunctions
from agent.statements.resolved import Resolved, tables_of, words_of
from eval.databases.base import Database
from eval.databases.types import Limits
from eval.databases.values import JSON, json_rows
from eval.errors import InputError
from eval.schema import ForeignKey, Schema
from eval.sql import ParsedQuery, check, parsed_from_tree, render
from eval.sql.bounds import with_headroom
from eval.sql.sources import quoted_column, quoted_name, table_source
from eval.sql.traversal import group_keys

Kind = Literal["rows", "by", "only", "without"]
MOST_COLUMNS = 24
"""Columns that are offered to group by."""
_FEW = 40
"""Different values of a column that one groups by gladly."""
_LISTED = 3
_GROUPABLE = ("text", "name", "flag", "year", "date")


class NotDrillable(InputError):
    """There is no way from this figure to what is behind it; the message says why."""


@dataclass(frozen=True, slots=True)
class Drill:
    kind: Kind
    label: str
    """What it shows, for a list of choices."""
    sql: str


@dataclass(frozen=True, slots=True)
class _Key:
    """A value that tells the rows of a result apart."""

    node: exp.Expr
    name: str
    """Of its column in the result; empty for one that is not shown."""
    cells: tuple[JSON, ...]
    """Of each row that was pointed at."""


@with_headroom
def drills(
    parsed: ParsedQuery,
    database: Database,
    names: Sequence[str],
    rows: Sequence[Sequence[JSON]],
    column: int | None,
    limits: Limits | None = None,
) -> list[Drill]:
    """The ways on from some rows of a result, whose columns have these names; `column`: the figure or cell that was
    pointed at. Runs one query where the groups have hidden keys. Raises NotDrillable, DatabaseError."""
    schema = database.schema()
    select = parsed.tree
    if check(parsed, schema).statement is None:
        raise NotDrillable("This query may not be run.")
    if not isinstance(select, exp.Select):
        raise NotDrillable("This query puts several results together, so one figure has no rows of its own.")
    if any(len(row) != len(names) for row in rows):
        raise NotDrillable("These rows are not rows of this result.")
    ways = _Ways(parsed, schema, words_of(database, schema), value_index(database, schema), names, rows, column)
    ways.find_keys(database, limits)
    return [drill for drill in ways.all() if drill is not None]


class _Ways:
    def __init__(
        self,
        parsed: ParsedQuery,
        schema: Schema,
        words: Vocabulary,
        index: ValueIndex,
        names: Sequence[str],
        rows: Sequence[Sequence[JSON]],
        column: int | None,
    ) -> None:
        assert isinstance(parsed.tree, exp.Select)
        self._select, self._dialect, self._schema = parsed.tree, parsed.dialect, schema
        self._words, self._index, self._names, self._rows = words, index, names, rows
        self._tables = tables_of(self._select, schema)
        shown = [one.unalias() for one in self._select.expressions]
        starred = any(one.is_star for one in shown) or len(shown) != len(names)
        self._shown: list[exp.Expr] = [quoted_column(name) for name in names] if starred else shown
        self._grouped = bool(self._select.args.get("group")) or any(_aggregates(one) for one in shown)
        self._column = column if column is not None and 0 <= column < len(self._shown) else None
        figures = [one for one in self._shown if _aggregates(one) and not one.find(exp.Window)]
        pointed = self._shown[self._column] if self._column is not None else None
        self._figure = next((one for one in figures if one is pointed), figures[0] if figures else None)
        """The aggregate that was pointed at; the first one where it was a name."""
        self._keys: list[_Key] = []

    def find_keys(self, database: Database, limits: Limits | None) -> None:
        if not self._rows:
            return
        if not self._grouped:
            cell = self._column
            self._keys = [self._key_at(cell)] if cell is not None and not self._shown[cell].find(exp.Window) else []
            return
        group = self._select.args.get("group")
        if group is not None and group.find(exp.Rollup, exp.Cube, exp.GroupingSets):
            raise NotDrillable("The rows of this query are groups of several sizes, so they have no rows of their own.")
        every = group is not None and group.args.get("all")
        keys = [one for one in self._shown if not _aggregates(one)] if every else group_keys(self._select)
        places = {i: self._shown.index(key) for i, key in enumerate(keys) if key in self._shown}
        hidden = [key for i, key in enumerate(keys) if i not in places]
        self._keys = [self._key_at(place) for place in dict.fromkeys(places.values())]
        if hidden:
            self._look_up(hidden, database, limits)

    def _key_at(self, place: int) -> _Key:
        cells = tuple(row[place] for row in self._rows)
        if any(isinstance(cell, list | dict) for cell in cells):
            raise NotDrillable("A list or an object cannot be compared with.")
        return _Key(self._shown[place], self._names[place], cells)

    def _look_up(self, hidden: Sequence[exp.Expr], database: Database, limits: Limits | None) -> None:
        """The keys that are not shown, of the groups that show the same as the rows that were pointed at."""
        query = self._select.copy()
        for part in ("order", "limit", "offset", "distinct"):
            query.set(part, None)
        wide = query.select(*(exp.alias_(key.copy(), f"key{i}_") for i, key in enumerate(hidden)), copy=False)
        verdict = check(parsed_from_tree(wide, self._dialect), self._schema)
        if verdict.statement is None:
            raise NotDrillable("The groups of this query have keys that cannot be looked up.")
        result = database.execute(verdict.statement, limits=limits)
        if not result.ok:
            raise NotDrillable(f"The groups of this query could not be looked up: {result.error}")
        width = len(self._names)
        found = [row for row in json_rows(result.rows) if any(_alike(row[:width], given) for given in self._rows)]
        if not found:
            raise NotDrillable("The data has changed since: this row is not in the result any more.")
        shown = [(key.node, key.name) for key in self._keys]
        places = [self._shown.index(node) for node, _ in shown]
        self._keys = [
            *(_Key(node, name, tuple(row[p] for row in found)) for (node, name), p in zip(shown, places, strict=True)),
            *(_Key(key, "", tuple(row[width + i] for row in found)) for i, key in enumerate(hidden)),
        ]

    # --- the ways ---

    def all(self) -> Iterator[Drill | None]:
        if self._grouped:
            yield self._behind()
        for column, key in self._other_columns():
            yield self._by(column, key)
        for one in self._keys:
            shown = ", ".join(dict.fromkeys(_said(cell) for cell in one.cells))
            few = len(set(one.cells)) <= _LISTED
            noun = shown if few and shown else f"these {len(set(one.cells))}"
            if one.name:
                yield self._drill("only", f"Only {one.name} {noun}", self._select.copy().where(_among([one])))
                yield self._drill("without", f"Without {one.name} {noun}", self._select.copy().where(_not_among(one)))

    def _behind(self) -> Drill | None:
        query = self._over_rows(*(_enters(self._figure) if self._figure is not None else ()))
        query.set("expressions", self._row_columns())
        one = self._figure
        if isinstance(one, exp.Sum | exp.Max | exp.Min | exp.Avg) and isinstance(one.this, exp.Column):
            query = query.order_by(exp.Ordered(this=one.this.copy(), desc=not isinstance(one, exp.Min)))
        return self._drill("rows", "The rows behind it", query)

    def _row_columns(self) -> list[exp.Expr]:
        """The columns of the rows themselves: all of the finest table, and of the others what the query names."""
        if len(self._tables) < 2:
            return [exp.Star()]
        keys = [(table, key.ref_table) for table in self._tables.values() for key in table.foreign_keys]
        finest = [
            name
            for name, table in self._tables.items()
            if not any(to == table.name for other, to in keys if other is not table)
        ]
        whole = [one for one in self._sources() if len(finest) != 1 or one.name.casefold() == finest[0]]
        columns: list[exp.Expr] = [exp.Column(this=exp.Star(), table=one.copy()) for one in whole]
        if len(finest) == 1:
            where = self._select.args.get("where")
            named = chain(
                *(key.node.find_all(exp.Column) for key in self._keys), where.find_all(exp.Column) if where else ()
            )
            columns += [one.copy() for one in named if one.table and one.table.casefold() != finest[0]]
        return list(dict.fromkeys(columns))

    def _sources(self) -> list[exp.Identifier]:
        """The names of the tables in FROM, as they stand there."""
        joins = self._select.args.get("joins") or []
        nodes = [self._select.args["from_"].this, *(join.this for join in joins)]
        return [node.args["alias"].this if node.args.get("alias") else node.this for node in nodes]

    def _other_columns(self) -> list[tuple[ColumnWord, ForeignKey | None]]:
        """What one may group by besides: columns of the tables of the query and of those that their rows refer to, the
        ones with few values first."""
        within = {table.name: None for table in self._tables.values()}
        above = {
            key.ref_table: key
            for table in self._tables.values()
            for key in table.foreign_keys
            if len(key.columns) == 1 and key.ref_table not in within
        }
        used = {node.name for key in self._keys for node in key.node.find_all(exp.Column)}
        found = [
            (word, key)
            for table, key in (within | above).items()
            for word in self._words.by_table.get(table, ())
            if word.role in _GROUPABLE and not word.primary and not word.foreign and not word.column.is_list
            if word.name not in used or key is not None
        ]
        return sorted(found, key=lambda pair: (pair[1] is not None, self._many(pair[0])))[:MOST_COLUMNS]

    def _many(self, word: ColumnWord) -> int:
        """0 for a column with a handful of values or a date, 1 for one whose values are not known, 2 for a name."""
        if word.role in ("flag", "year", "date"):
            return 0
        values = self._index.values(word.table, word.name)
        return 0 if 1 < len(values) <= _FEW else 1 if len(values) < 2 else 2

    def _by(self, word: ColumnWord, key: ForeignKey | None) -> Drill | None:
        child = next((table.name for table in self._tables.values() if key in table.foreign_keys), None)
        start = word.table if key is None else child
        found = [one for one in self._sources() if self._tables[one.name.casefold()].name == start]
        if len(found) != 1:  # the table does not stand in FROM, or stands there twice
            return None
        source = found[0]
        figure = exp.Count(this=exp.Star()) if self._figure is None else self._figure.copy()
        called = next((n for n, one in zip(self._names, self._shown, strict=True) if one is self._figure), "rows")
        query = self._over_rows()
        query.set("expressions", [exp.alias_(figure, called, quoted=True)])
        if key is not None:
            # a name may stand in both tables
            query = Resolved(parsed_from_tree(query, self._dialect), self._schema).qualified(query)
            above = exp.alias_(
                table_source(self._words.tables[key.ref_table].table), key.ref_table, table=True, quoted=True
            )
            ends = quoted_column(key.columns[0], source), quoted_column(key.ref_columns[0], quoted_name(key.ref_table))
            query = query.join(above, on=exp.EQ(this=ends[0], expression=ends[1]), join_type="left")
            source = quoted_name(key.ref_table)
        column: exp.Expr = quoted_column(word.name, source)
        name = word.name
        if word.role == "date":
            dates = DateFunctions(self._dialect)
            moment = dates.moment(column, word.form) if word.form else column
            column = dates.part(moment, "timestamp" if word.form else word.column.type, "month")
            name = f"month of {word.name}"
        query.set("expressions", [exp.alias_(column, name, quoted=True), *query.expressions])
        query.set("group", exp.Group(expressions=[column.copy()]))
        largest = exp.Ordered(this=exp.Literal.number(1 if word.role == "date" else 2), desc=word.role != "date")
        return self._drill("by", f"By {name if key is None else f'{key.ref_table} {name}'}", query.order_by(largest))

    def _over_rows(self, *further: exp.Expr) -> exp.Select:
        """The query before its rows are grouped: of the rows that were pointed at, those that enter."""
        query = self._select.copy()
        for part in ("group", "having", "order", "limit", "offset", "distinct", "qualify", "windows"):
            query.set(part, None)
        tests = [*([_among(self._keys)] if self._keys else []), *further]
        return query.where(*(test.copy() for test in tests)) if tests else query

    def _drill(self, kind: Kind, label: str, query: exp.Select) -> Drill | None:
        if check(parsed_from_tree(query, self._dialect), self._schema).statement is None:
            return None
        return Drill(kind, label, render(query, self._dialect))


def _aggregates(node: exp.Expr) -> list[exp.Expr]:
    """The aggregates of an expression, those of its subqueries and windows aside."""
    return [
        one
        for one in node.find_all(exp.AggFunc)
        if one.find_ancestor(exp.Query, exp.Window) in (None, node.parent_select)
    ]


def _enters(figure: exp.Expr) -> list[exp.Expr]:
    """Which rows of its group a figure is made of, where it is one aggregate: those with a value, those that pass its
    FILTER or its CASE."""
    aggregates = _aggregates(figure)
    if len(aggregates) != 1:
        return []
    (one,) = aggregates
    passing = [one.parent.expression.this] if isinstance(one.parent, exp.Filter) else []
    of = one.this
    if isinstance(one, exp.CountIf):
        return [*passing, of]
    if isinstance(of, exp.Distinct):
        return [*passing, *(_present(each) for each in of.expressions)]
    if not isinstance(of, exp.Expr) or isinstance(of, exp.Star | exp.Literal):
        return passing
    counted = isinstance(one, exp.Count | exp.Sum)
    if counted and isinstance(of, exp.Case | exp.If) and (test := _only_case(of)) is not None:
        return [*passing, test]
    if isinstance(one, exp.Sum) and isinstance(of.unnest(), exp.Predicate):
        return [*passing, of]
    return [*passing, _present(of)]


def _only_case(node: exp.Case | exp.If) -> exp.Expr | None:
    """The condition of a CASE that counts nothing, or nothing but zero, where it does not hold."""
    branches = [node] if isinstance(node, exp.If) else node.args["ifs"]
    default = node.args.get("false") if isinstance(node, exp.If) else node.args.get("default")
    empty = (
        default is None or isinstance(default, exp.Null) or (isinstance(default, exp.Literal) and default.name == "0")
    )
    if len(branches) != 1 or not empty:
        return None
    test: exp.Expr = branches[0].this
    if isinstance(node, exp.Case) and node.this is not None:
        return exp.EQ(this=node.this.copy(), expression=test.copy())
    return test.copy()


def _present(node: exp.Expr) -> exp.Expr:
    return exp.Not(this=exp.Is(this=exp.paren(node), expression=exp.Null()))


def _among(keys: Sequence[_Key]) -> exp.Expr:
    """That a row is of one of the groups that were pointed at."""
    if len(keys) == 1:
        return _one_of(keys[0].node, keys[0].cells)
    rows = list(dict.fromkeys(zip(*(key.cells for key in keys), strict=True)))
    groups = [exp.and_(*(_one_of(key.node, [c]) for key, c in zip(keys, row, strict=True))) for row in rows]
    return exp.or_(*groups)


def _one_of(node: exp.Expr, cells: Sequence[JSON]) -> exp.Expr:
    given = list(dict.fromkeys(literal(cell) for cell in cells if cell is not None))
    tests: list[exp.Expr] = []
    if len(given) == 1:
        tests.append(exp.EQ(this=node.copy(), expression=given[0]))
    elif given:
        tests.append(exp.In(this=node.copy(), expressions=given))
    if None in cells:
        tests.append(exp.Is(this=node.copy(), expression=exp.Null()))
    return exp.or_(*tests)


def _not_among(key: _Key) -> exp.Expr:
    """The rows of all other groups; that of NULL is one."""
    given = [cell for cell in key.cells if cell is not None]
    tests = [exp.not_(_one_of(key.node, given))] if given else []
    empty = exp.Is(this=key.node.copy(), expression=exp.Null())
    return exp.or_(*tests, empty) if len(given) == len(key.cells) else exp.and_(*tests, exp.not_(empty))


def literal(cell: JSON) -> exp.Expr:
    """A cell of a JSON row as it is written in SQL."""
    if isinstance(cell, bool):
        return exp.Boolean(this=cell)
    if isinstance(cell, int | float):
        number = exp.Literal.number(repr(abs(cell)))
        return exp.Neg(this=number) if cell < 0 else number
    return exp.Literal.string(str(cell))


def _alike(row: Sequence[JSON], given: Sequence[JSON]) -> bool:
    """Whether two rows show the same; sums may differ in their last digits from one run to the next."""
    return all(
        math.isclose(one, other, rel_tol=1e-9)
        if isinstance(one, float) and isinstance(other, int | float)
        else one == other
        for one, other in zip(row, given, strict=True)
    )


def _said(cell: JSON) -> str:
    text = "NULL" if cell is None else str(cell)
    return text if len(text) <= 40 else f"{text[:39]}…"

"""A query of fewer rows: the filters of a board, bound to the tables that the query reads.

In: a query, its database, and filters: a period, values or bounds of columns. Out: the query with a condition wherever
it reads the table of such a column, or a table whose rows refer to it by keys; and which filters found such a place. A
table that an outer join may leave without a partner is narrowed before it is joined.
"""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal

from sqlglot import exp

from agent.knowledge.vocabulary import ColumnWord, Vocabulary
from agent.parser.periods import days_later, period_at
from agent.parser.sql_parts import DateFunctions, as_number
from agent.statements.resolved import words_of
from eval.databases.base import Database
from eval.errors import InputError
from eval.language.tokens import tokenize
from eval.schema import Dialect, ForeignKey, Schema
from eval.sql import ParsedQuery, parsed_from_tree
from eval.sql.bounds import with_headroom
from eval.sql.scopes import bind
from eval.sql.sources import Source, quoted_column, table_source
from eval.sql.table_places import narrow

FilterKind = Literal["date", "value", "number"]
Value = str | None
MOST_KEYS = 3
"""Keys in a row from the rows of a query to those that a filter is about."""
_KINDS: dict[str, FilterKind] = {"date": "date", "number": "number"}
_KINDS |= dict.fromkeys(("flag", "year", "text", "name"), "value")


class BadFilter(InputError):
    """A value that a filter cannot take."""


@dataclass(frozen=True, slots=True)
class Filter:
    kind: FilterKind
    columns: tuple[tuple[str, str], ...]
    """(table, column), of which the first that a query knows is meant."""
    value: tuple[Value, ...]
    """date: a period in words (`last 30 days`, `2024`), or the first and the last day, either of them None; value: the
    values, None for NULL; number: the least and the most, either of them None."""


@with_headroom
def filtered(
    parsed: ParsedQuery, database: Database, filters: Sequence[Filter], today: dt.date
) -> tuple[ParsedQuery, list[bool]]:
    """The query with the filters, and which of them it has a place for. Raises BadFilter, DatabaseError."""
    schema = database.schema()
    words = words_of(database, schema)
    done = []
    for one in filters:
        bound = next((b for key in one.columns if (b := _bound(parsed, schema, words, key, one, today))), None)
        parsed = bound or parsed
        done.append(bound is not None)
    return parsed, done


@with_headroom
def filterable(parsed: ParsedQuery, database: Database) -> Iterator[tuple[str, str, FilterKind]]:
    """The columns that a filter of this query may be about: (table, column, kind). Raises DatabaseError."""
    schema = database.schema()
    words = words_of(database, schema)
    for table in _reached(parsed, schema):
        for word in words.by_table.get(table, ()):
            if word.role in _KINDS and not word.primary and not word.foreign and not word.column.is_list:
                yield table, word.name, _KINDS[word.role]


def _bound(
    parsed: ParsedQuery, schema: Schema, words: Vocabulary, key: tuple[str, str], given: Filter, today: dt.date
) -> ParsedQuery | None:
    word = words.columns.get(key)
    if parsed.tree is None or word is None or not _can_be(word, given.kind):
        return None
    tree = parsed.tree.copy()
    found = False
    for clause in bind(tree, parsed.dialect, schema).froms:
        ways = [
            (source, way) for source in clause.scope.sources if (way := _way(source, word.table, schema)) is not None
        ]
        shortest = min((len(way) for _, way in ways), default=0)
        for source, way in ways:
            if len(way) == shortest:
                found = True
                test = _Test(word, given, today, parsed.dialect)
                narrow(clause, source, partial(test.on, way=way, schema=schema))
    return parsed_from_tree(tree, parsed.dialect) if found else None


def _can_be(word: ColumnWord, kind: FilterKind) -> bool:
    """A column may have become another since the filter was made."""
    if kind == "date":
        return word.role in ("date", "year")
    return kind == "value" or word.numeric or word.figures is not None


@dataclass(frozen=True, slots=True)
class _Test:
    word: ColumnWord
    given: Filter
    today: dt.date
    dialect: Dialect

    def on(self, qualifier: str | None, way: Sequence[ForeignKey], schema: Schema) -> exp.Expr:
        """The condition on the rows of a table, from which the keys lead to the column's."""
        if not way:
            return self._of(quoted_column(self.word.name, qualifier))
        key, *further = way
        above = schema.table(key.ref_table)
        assert above is not None
        keys = exp.select(quoted_column(key.ref_columns[0])).from_(table_source(above))
        keys = keys.where(self.on(None, further, schema), copy=False)
        return exp.In(this=quoted_column(key.columns[0], qualifier), query=keys.subquery(copy=False))

    def _of(self, column: exp.Column) -> exp.Expr:
        if self.given.kind == "date":
            return self._in_period(column)
        if self.given.kind == "number":
            return self._between(column)
        number = self.word.numeric
        given = [_number(one) if number else exp.Literal.string(one) for one in self.given.value if one is not None]
        tests: list[exp.Expr] = [exp.In(this=column, expressions=given)] if given else []
        if None in self.given.value:
            tests.append(exp.Is(this=column.copy(), expression=exp.Null()))
        return exp.paren(exp.or_(*tests, copy=False), copy=False)

    def _in_period(self, column: exp.Column) -> exp.Expr:
        start, end = period(self.given.value, self.today)
        if self.word.role == "year":
            years = [start and start.year, end and days_later(end, -1).year]
            return _bounds(column, *(exp.Literal.number(year) if year else None for year in years))
        moment = DateFunctions(self.dialect).moment(column, self.word.form) if self.word.form else column
        first, after = (exp.Literal.string(day.isoformat()) if day else None for day in (start, end))
        return _bounds(moment, first, after, open_end=True)

    def _between(self, column: exp.Column) -> exp.Expr:
        figures = self.word.figures
        number = as_number(column, figures, self.dialect) if figures is not None else column
        low, high = (_number(one) if one else None for one in (*self.given.value, None, None)[:2])
        return _bounds(number, low, high)


def _bounds(of: exp.Expr, low: exp.Expr | None, high: exp.Expr | None, *, open_end: bool = False) -> exp.Expr:
    tests: list[exp.Expr] = [exp.GTE(this=of, expression=low)] if low else []
    if high:
        tests.append((exp.LT if open_end else exp.LTE)(this=of.copy(), expression=high))
    if not tests:
        raise BadFilter("A filter without bounds.")
    return exp.and_(*tests, copy=False)


def _number(text: str) -> exp.Expr:
    text = text.strip()
    try:
        is_number = math.isfinite(float(text))
    except ValueError:
        is_number = False
    if not is_number:
        raise BadFilter(f"{text!r} is no number.")
    written = exp.Literal.number(text.lstrip("+-"))
    return exp.Neg(this=written) if text.startswith("-") else written


def period(value: Sequence[Value], today: dt.date) -> tuple[dt.date | None, dt.date | None]:
    """The first day and the day after the last one of a date filter's value. Raises BadFilter."""
    if len(value) == 1 and value[0]:
        tokens = tokenize(value[0])
        found = period_at(tokens, 0, today) if tokens else None
        if found is None or found.tokens != len(tokens):
            raise BadFilter(f"{value[0]!r} is no period: say `last 30 days`, `this month`, `2024`.")
        return found.start, found.end
    try:
        first, last = (dt.date.fromisoformat(one) if one else None for one in value)
    except ValueError:
        raise BadFilter("A day is written as 2024-12-31.") from None
    return first, days_later(last, 1) if last else None


# --- where the condition goes ---


def _way(source: Source, table: str, schema: Schema) -> tuple[ForeignKey, ...] | None:
    """The keys that lead from the rows of a source to those of a table, none where it is that table; None where none
    lead there, or two equally short ways do."""
    if source.relation.table is None or not isinstance(source.node, exp.Table):
        return None
    ways: list[tuple[ForeignKey, ...]] = [()]
    for _ in range(MOST_KEYS + 1):
        there = [way for way in ways if (way[-1].ref_table if way else source.relation.table.name) == table]
        if there:
            return there[0] if len(there) == 1 else None
        ways = [
            (*way, key)
            for way in ways
            for key in _keys(way[-1].ref_table if way else source.relation.table.name, schema)
        ]
    return None


def _keys(table: str, schema: Schema) -> list[ForeignKey]:
    found = schema.table(table)
    return [k for k in found.foreign_keys if len(k.columns) == 1 and k.ref_table != table] if found else []


def _reached(parsed: ParsedQuery, schema: Schema) -> dict[str, None]:
    """The tables that a filter of the query may be about, its own first."""
    if parsed.tree is None:
        return {}
    sources = [one for clause in bind(parsed.tree, parsed.dialect, schema).froms for one in clause.scope.sources]
    own = [source for source in sources if source.relation.table is not None and isinstance(source.node, exp.Table)]
    reached = dict.fromkeys(source.relation.table.name for source in own if source.relation.table)
    edge = list(reached)
    for _ in range(MOST_KEYS):
        edge = [key.ref_table for table in edge for key in _keys(table, schema) if key.ref_table not in reached]
        reached |= dict.fromkeys(edge)
    return {t: None for t in reached if any(_way(source, t, schema) is not None for source in own)}

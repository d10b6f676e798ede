"""Which rows an answer leaves out, counted by one further statement: those that do not enter it, or enter it though
they are marked as deleted; and by another, those that are level with the last one of a cut list (`top 3`, where the
fourth has as many as the third).

In: the query of an answer, its database and the words of its schema. Out: what is to be counted; then, with the
numbers, sentences, each with the query that takes the rows in or leaves them out.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Literal

from sqlglot import exp

from agent.knowledge.semantics.hidden_rows import BESIDE, HiddenRows, plain_column
from agent.knowledge.value_words import holds_currencies
from agent.knowledge.vocabulary import ColumnWord, Vocabulary, split_name
from agent.state import Choice, LeftOut, Term
from agent.statements.resolved import Resolved, tables_of
from eval.databases.base import Database
from eval.databases.types import Limits
from eval.language.tokens import tokenize
from eval.schema import Dialect, Schema, Table
from eval.sql import ParsedQuery, check, parsed_from_tree, render
from eval.sql.bounds import with_headroom
from eval.sql.sources import quoted_name
from eval.sql.traversal import conjuncts, group_keys
from eval.statement import ReadStatement

log = logging.getLogger(__name__)

LIMITS = Limits(seconds=2.0, rows=1)
"""Of the statement that counts: what takes longer is not told."""
MUCH = 0.1
"""Share of the rows that, left out, raises the question whether another date is meant."""

_Kind = Literal["unknown", "figure", "group", "partner", "deleted", "currency"]
ENTERS = {exp.Sum: "the sum", exp.Avg: "the average", exp.Min: "the smallest", exp.Max: "the largest"}
_DELETED = frozenset({"deleted", "removed", "voided", "discarded"})
_PLURAL = {"are": "are", "do": "do", "make": "make"}
_PLAIN = ("", "INNER", "OUTER")


@dataclass(frozen=True, slots=True)
class Count:
    """Rows to be counted, and what is said of them."""

    kind: _Kind
    counted: exp.Expr
    """A COUNT over the rows of the query, or a query that counts others."""
    text: str
    """With `{rows}` for their number, and verbs to be put into its form."""
    choice: Choice | None = None
    date: ColumnWord | None = None
    """The date whose absence leaves them out."""


@with_headroom
def counting(
    parsed: ParsedQuery, schema: Schema, words: Vocabulary, hidden: Sequence[HiddenRows] = ()
) -> tuple[ReadStatement, list[Count]] | None:
    """The statement that counts what the query leaves out, with what its columns say; the last counts the rows that the
    query keeps. None where there is nothing to ask for. Only a SELECT from tables is looked through: not what it makes
    of subqueries."""
    select = parsed.tree
    if not isinstance(select, exp.Select) or not (sources := tables_of(select, schema)):
        return None
    looking = _Counting(parsed, sources, schema, words, hidden)
    counts = list(looking.all())
    if not counts:
        return None
    counts.append(Count("unknown", looking.kept(), ""))
    over_rows = any(not isinstance(one.counted, exp.Subquery) for one in counts)
    statement = exp.select(*(exp.alias_(one.counted, f"n{i}") for i, one in enumerate(counts)))
    if over_rows:
        statement.set("from_", select.args["from_"].copy())
        statement.set("joins", [join.copy() for join in select.args.get("joins") or ()])
    verdict = check(parsed_from_tree(statement, parsed.dialect), schema)
    return None if verdict.statement is None else (verdict.statement, counts)


async def left_out(
    asked: tuple[ReadStatement, list[Count]],
    question: str,
    words: Vocabulary,
    database: Database,
    *,
    seconds: float = LIMITS.seconds,
) -> list[LeftOut]:
    """What is left out, counted now; nothing where counting fails or takes too long. Cancelling stops it. Where much
    is left out for want of a date that the question does not name, another may be meant."""
    statement, counts = asked
    result = await database.execute_async(statement, limits=Limits(seconds=min(LIMITS.seconds, seconds), rows=1))
    if not result.ok or not result.rows:
        log.info("what is left out was not counted: %s", result.error)
        return []
    told = []
    named = {name for token in tokenize(question) for name in words.affinities(token.lower)}
    *numbers, kept = (number if isinstance(number, int) else 0 for number in result.rows[0])
    for one, number in zip(counts, numbers, strict=False):
        if number > 0:
            verbs = {"are": "is", "do": "does", "make": "makes"} if number == 1 else {}
            said = one.text.format(rows=f"{number:,} row{'s' * (number != 1)}", **(_PLURAL | verbs))
            others = [one.choice] if one.choice else []
            meant = one.date is not None and words.tables[one.date.table].table.meant_date == one.date.key
            unnamed = one.date is not None and not meant and not named & (set(one.date.words) - BESIDE)
            is_open = (unnamed and number > MUCH * (number + kept)) or one.kind == "currency"
            told.append(LeftOut(kind=one.kind, count=number, text=said, open=is_open, others=others))
    return told


class _Counting:
    """Looks for rows that a SELECT of tables leaves out. Of tables that may have no partner in a row (LEFT JOIN) an
    empty column says nothing."""

    def __init__(
        self,
        parsed: ParsedQuery,
        sources: dict[str, Table],
        schema: Schema,
        words: Vocabulary,
        hidden: Sequence[HiddenRows],
    ) -> None:
        assert isinstance(parsed.tree, exp.Select)
        self._hidden = {rows.table.name: rows for rows in hidden}
        self._select = parsed.tree
        self._sources = sources
        self._names = Resolved(parsed, schema)
        self._words = words
        where = parsed.tree.args.get("where")
        self._tests = conjuncts(where and where.this)
        self._joins = parsed.tree.args.get("joins") or []
        outer = {join.this.alias_or_name.casefold() for join in self._joins if (join.side or "").upper() == "LEFT"}
        self._kept = {name: table for name, table in sources.items() if name not in outer}

    def all(self) -> Iterator[Count]:
        if all((j.side or "").upper() in ("", "LEFT") and (j.kind or "").upper() in _PLAIN for j in self._joins):
            # rows for which a condition is neither true nor false, since its column is empty
            by_column: dict[str, list[exp.Expr]] = {}
            for test in self._tests:
                if name := self._empty(test):
                    by_column.setdefault(name, []).append(test)
            for name, tests in by_column.items():
                if any(test.find(exp.Is, exp.Coalesce, exp.NullSafeEQ, exp.NullSafeNEQ) for test in tests):
                    continue
                others = [one for one in self._tests if all(one is not test for test in tests)]
                widened = self._with_tests(others, exp.or_(exp.and_(*tests), _is_null(tests[0]), copy=False))
                text = f"{{rows}} without {name} {{are}} not included"
                unknown = _rows(*others, _is_null(tests[0]), *self._enter_figures())
                key = self._names.column(next(tests[0].find_all(exp.Column)))
                word = self._words.columns.get(key) if key else None
                date = word if word is not None and word.role == "date" else None
                yield Count("unknown", unknown, text, Choice(label="Include them", sql=widened), date)
            yield from self._figures()
            yield from self._groups()
            yield from self._deleted()
            yield from self._currencies()
            yield from self._alone()

    def kept(self) -> exp.Count:
        return _rows(*self._tests, *self._enter_figures())

    def _enter_figures(self) -> list[exp.Expr]:
        """That a row has what is summed or compared: where nothing else is shown of it, it is not missed without."""
        aggregates: list[exp.Expr] = [one for shown in self._select.expressions for one in shown.find_all(exp.AggFunc)]
        of = [one.this for one in aggregates if type(one) in ENTERS and not one.this.find(exp.Query)]
        if len(of) != len(aggregates):
            return []
        return [exp.Not(this=_is_null(one)) for one in of]

    def _figures(self) -> Iterator[Count]:
        """Rows that a figure passes over, since it is of a column that is empty."""
        said = dict[str, exp.Expr]()
        for figure in (one for shown in self._select.expressions for one in shown.find_all(exp.Count, *ENTERS)):
            of = figure.this
            of = of.expressions[0] if isinstance(of, exp.Distinct) and len(of.expressions) == 1 else of
            inside = figure.find_ancestor(exp.Window, exp.Query) is self._select
            if (
                inside
                and isinstance(of, exp.Expr)
                and not of.find(exp.Coalesce, exp.Case)
                and (name := self._empty(of))
            ):
                noun = ENTERS.get(type(figure))
                does = f"{{do}} not enter {noun}" if noun else "{are} not counted"
                said.setdefault(f"{{rows}} without {name} {does}", of)
        for text, of in said.items():
            yield Count("figure", _rows(*self._tests, _is_null(of)), text)

    def _groups(self) -> Iterator[Count]:
        for key in group_keys(self._select):
            if name := self._empty(key):
                text = f"{{rows}} without {name} {{make}} a group"
                yield Count("group", _rows(*self._tests, _is_null(key)), text)

    def _deleted(self) -> Iterator[Count]:
        """Rows that a column marks as deleted, or that a team hides, where the query does not mention that column."""
        mentioned = {self._names.column(node) for node in self._select.find_all(exp.Column)}
        for source, table in self._kept.items():
            taught = self._hidden.get(table.name)
            for rows in [taught] if taught else _deleted_rows(table, self._names.dialect):
                columns = [node.name for node in rows.marked.find_all(exp.Column)]
                if any((table.name, name) in mentioned for name in columns):
                    continue
                said = f"otherwise left out ({rows.called})"
                if not taught:
                    said = f"marked as deleted ({columns[0]})"
                kept = rows.kept(source)
                teaches = None if taught else Term(kind="hidden", term=table.name, means=rows.text)
                without = Choice(label="Without them", sql=self._with_tests(self._tests, kept), teaches=teaches)
                counted = _rows(*self._tests, exp.Not(this=exp.paren(kept)))
                yield Count("deleted", counted, f"{{rows}} {said} {{are}} included", without)

    def _currencies(self) -> Iterator[Count]:
        """Amounts in several currencies that are added up or averaged: the number of currencies beyond the first."""
        figures = [one for f in self._select.find_all(exp.Sum, exp.Avg) for one in f.find_all(exp.Column)]
        added = {self._names.source(one) for one in figures}
        mentioned = {self._names.column(node) for node in self._select.find_all(exp.Column)}
        for source, table in self._sources.items():
            for column in table.columns if source in added else ():
                if (table.name, column.name) in mentioned or not holds_currencies(column.name):
                    continue
                node = exp.Column(this=quoted_name(column.name), table=quoted_name(source))
                passing: exp.Expr = node
                if self._tests:
                    passing = exp.Case(ifs=[exp.If(this=exp.and_(*self._tests), true=node)])
                further = exp.Sub(
                    this=exp.Count(this=exp.Distinct(expressions=[passing])), expression=exp.Literal.number(1)
                )
                grouped = self._select.copy().select(node.copy(), append=True).group_by(node.copy())
                apart = Choice(label="One row a currency", sql=render(grouped, self._names.dialect))
                yield Count("currency", further, f"amounts in several currencies ({column.name}) are added up", apart)

    def _alone(self) -> Iterator[Count]:
        """Rows that an inner join drops, since the row that they refer to is not there. Where a condition is about that
        row, they could not pass it."""
        tables = {one.alias_or_name.casefold(): one for one in self._select.find_all(exp.Table)}
        about = [{self._names.source(one) for one in test.find_all(exp.Column)} for test in self._tests]
        for join in self._joins:
            on = join.args.get("on")
            if join.side or not isinstance(on, exp.EQ):
                continue
            ends = [node for node in (on.this, on.expression) if isinstance(node, exp.Column)]
            for node, other in zip(ends, ends[::-1], strict=True):
                child, parent, key = self._names.source(node), self._names.source(other), self._names.column(node)
                if key is None or child == parent or not {child, parent} <= self._sources.keys():
                    continue
                refers = any(
                    k.columns == (key[1],) and k.ref_table == self._sources[parent].name
                    for k in self._sources[child].foreign_keys
                )
                if not refers or any(of != {child} for of in about):
                    continue
                partner = exp.select(exp.Literal.number(1)).from_(tables[parent].copy()).where(on.copy())
                tests = [*(one.copy() for one in self._tests), exp.Not(this=exp.Exists(this=partner))]
                counted = exp.select(exp.Count(this=exp.Star())).from_(tables[child].copy()).where(*tests)
                noun = " ".join(self._words.tables[self._sources[parent].name].words)
                text = f"{{rows}} of {self._sources[child].name} without a {noun} {{are}} not included"
                yield Count("partner", counted.subquery(), text)

    def _empty(self, node: exp.Expr) -> str:
        """The one column that decides whether this is NULL, where it may be; "" where there is none, or several."""
        if isinstance(node, exp.Star | exp.Literal) or node.find(exp.Query, exp.Window):
            return ""
        columns = list(node.find_all(exp.Column))
        if any(self._names.source(one) not in self._kept for one in columns):
            return ""
        keys = {self._names.column(one) for one in columns}
        key = keys.pop() if len(keys) == 1 else None
        column = next((t.column(key[1]) for t in self._kept.values() if key and t.name == key[0]), None)
        return column.name if column is not None and column.nullable and not column.primary_key else ""

    def _with_tests(self, tests: Sequence[exp.Expr], further: exp.Expr) -> str:
        changed = self._select.copy()
        changed.set("where", exp.Where(this=exp.and_(*tests, further)))
        return render(changed, self._names.dialect)


def _is_null(node: exp.Expr) -> exp.Is:
    return exp.Is(this=exp.paren(node), expression=exp.Null())


def _rows(*tests: exp.Expr) -> exp.Count:
    """COUNT of the rows that pass."""
    if not tests:
        return exp.Count(this=exp.Star())
    passing = exp.and_(*tests)
    return exp.Count(this=exp.Case(ifs=[exp.If(this=passing, true=exp.Literal.number(1))]))


def _deleted_rows(table: Table, dialect: Dialect) -> Iterator[HiddenRows]:
    """The rows that a column marks as deleted."""
    for column in table.columns:
        if marks_deleted(column.name):
            node = plain_column(column.name, table.name)
            marked: exp.Expr = exp.Not(this=exp.Is(this=node, expression=exp.null()))
            if "BOOL" in column.type.upper():
                marked = node
            elif any(kind in column.type.upper() for kind in ("INT", "BIT", "NUM")):
                marked = exp.NEQ(this=node, expression=exp.Literal.number(0))
            yield HiddenRows(table, marked, dialect)


def marks_deleted(name: str) -> bool:
    parts = {part.casefold() for part in split_name(name)}
    return bool(parts & _DELETED) and parts <= _DELETED | BESIDE


# Rows that are level with the last one

MOST = 20
"""Further rows that are looked at."""


@with_headroom
def next_keys(parsed: ParsedQuery, schema: Schema, rows: int) -> ReadStatement | None:
    """The order keys of the last of the `rows` that a query gave, and of those behind it; None where no list is cut."""
    select = parsed.tree
    if not isinstance(select, exp.Select) or _limit(select) != rows or select.args.get("offset"):
        return None
    order = select.args.get("order")
    if order is None or select.args.get("distinct") or select.find(exp.Window) or _unique(select, schema):
        return None
    shown = {one.alias.casefold(): one.this for one in select.expressions if isinstance(one, exp.Alias)}
    keys, ordered = [], []
    for at, term in enumerate(order.expressions):
        key = term.this
        if isinstance(key, exp.Literal) and key.is_int and int(key.name) <= len(select.expressions):
            key = select.expressions[int(key.name) - 1].unalias()
        elif isinstance(key, exp.Column) and not key.table:
            key = shown.get(key.name.casefold(), key)
        keys.append(exp.alias_(key.copy(), f"k{at}"))
        ordered.append(term.copy())
        ordered[-1].set("this", key.copy())
    kept = {part: select.args.get(part) for part in ("from_", "where", "group", "having", "with_")}
    behind = exp.Select(**{part: value.copy() for part, value in kept.items() if isinstance(value, exp.Expr)})
    behind.set("joins", [join.copy() for join in select.args.get("joins") or ()])
    behind = behind.select(*keys).order_by(*ordered).limit(MOST + 1).offset(rows - 1)
    return check(parsed_from_tree(behind, parsed.dialect), schema).statement


async def ties(parsed: ParsedQuery, schema: Schema, rows: int, database: Database, *, seconds: float) -> list[LeftOut]:
    """What is said of them; nothing where there are none, or where looking fails or takes too long."""
    statement = next_keys(parsed, schema, rows)
    if statement is None:
        return []
    result = await database.execute_async(statement, limits=Limits(seconds=seconds, rows=MOST + 1))
    if not result.ok or not result.rows:
        log.info("ties were not looked for: %s", result.error)
        return []
    last, *behind = result.rows
    level = len(list(takewhile(lambda keys: keys == last, behind)))
    if not level:
        return []
    many = f"{level} or more" if level == MOST else str(level)
    text = f"{many} further row{'s are' if level > 1 else ' is'} level with the last one shown"
    assert isinstance(parsed.tree, exp.Select)
    longer = render(parsed.tree.copy().limit(rows + level), parsed.dialect)
    return [LeftOut(kind="tie", count=level, text=text, others=[Choice(label="Show them", sql=longer)])]


def _limit(select: exp.Select) -> int | None:
    limit = select.args.get("limit")
    number = limit.expression if isinstance(limit, exp.Limit) else limit.args.get("count") if limit else None
    return int(number.name) if isinstance(number, exp.Literal) and number.is_int else None


def _unique(select: exp.Select, schema: Schema) -> bool:
    """Whether rows of one table are ordered by its key, so that none are level."""
    start = select.args.get("from_")
    table = schema.table(start.this.name) if start is not None and isinstance(start.this, exp.Table) else None
    if table is None or select.args.get("joins") or len(table.primary_key) != 1:
        return False
    (key,) = table.primary_key
    return any(term.this.name.casefold() == key.casefold() for term in select.args["order"].expressions)

"""How an answer was read, and which rows it leaves out: made from the query that ran, whoever wrote it.

In: the query of an answer, its database and the words of its schema. Out: its clauses in words, each with the queries
that another date or another figure would make of it; and, counted by one further statement, the rows that do not enter
the answer, or enter it though they are marked as deleted.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from sqlglot import exp

from agent.knowledge.semantics.expansion import model_view_of
from agent.knowledge.semantics.hidden_rows import BESIDE, HiddenRows, counted_again, plain_column
from agent.knowledge.semantics.model import SemanticModel
from agent.knowledge.value_forms import holds_currencies
from agent.knowledge.values import value_index
from agent.knowledge.vocabulary import ColumnWord, Vocabulary, split_name, vocabulary
from agent.parser.coverage import RELATIONAL
from agent.state import Choice, LeftOut, ReadingPart, Term
from agent.statements.ties import ties
from eval.databases.base import Database
from eval.databases.types import Limits
from eval.language.lexicon import word_set
from eval.language.tokens import tokenize
from eval.schema import Dialect, ForeignKey, Schema, Table
from eval.scoring import Case
from eval.scoring.contradictions.said import passed_over
from eval.scoring.evidence.question_reading import Reading as Evidence
from eval.sql import ParsedQuery, check, parsed_from_tree, render
from eval.sql.in_words import group_keys, pieces
from eval.sql.quoted_names import quoted_name, table_source
from eval.sql.scopes import bind
from eval.sql.stack import with_headroom
from eval.statement import ReadStatement
from eval.threads import in_turn

log = logging.getLogger(__name__)

LIMITS = Limits(seconds=2.0, rows=1)
"""Of the statement that counts: what takes longer is not told."""
SLOW_MS = 1_000
"""A query that took longer is not followed by counts of what it leaves out."""
MUCH = 0.1
"""Share of the rows that, left out, raises the question whether another date is meant."""
CHOICES = 4
"""Other columns that are offered for one."""

_Kind = Literal["unknown", "figure", "group", "partner", "deleted", "currency"]
_ENTERS = {exp.Sum: "the sum", exp.Avg: "the average", exp.Min: "the smallest", exp.Max: "the largest"}
_DELETED = frozenset({"deleted", "removed", "voided", "discarded"})
_PLURAL = {"are": "are", "do": "do", "make": "make"}
_PLAIN = ("", "INNER", "OUTER")


@dataclass(frozen=True, slots=True)
class _Count:
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
def reading(
    parsed: ParsedQuery, schema: Schema, words: Vocabulary, hidden: Sequence[HiddenRows] = ()
) -> list[ReadingPart]:
    """The clauses of a query in words. A date or figure of the outermost SELECT has the columns beside it to choose
    from, each with the query that it makes; so has what it leaves out of the rows that are `hidden`."""
    others = _others(parsed, schema, words) if isinstance(parsed.tree, exp.Select) else {}
    shown, without = parsed, list[ReadingPart]()
    for rows in hidden:
        if parsed.tree is not None and shown.tree is not None and (whole := counted_again(parsed.tree, rows)):
            choice = Choice(label="Include them", sql=render(whole, parsed.dialect))
            without.append(ReadingPart(kind="rows", text=f"without {rows.called}", others=[choice]))
            shown = parsed_from_tree(counted_again(shown.tree, rows) or whole, parsed.dialect)
    names = Resolved(shown, schema)
    said = [
        ReadingPart(kind=kind, text=text, others=others.pop(kind, []))
        for kind, text in pieces(shown, _by_key(names, schema), names.is_text)
    ]
    end = next((i for i, part in enumerate(said) if part.kind in ("groups", "set", "order", "limit")), len(said))
    return [*said[:end], *without, *said[end:]]


def not_used(case: Case) -> list[ReadingPart]:
    """The words of the question that a model's query passes over, as far as the engine's own reading tells: those that
    it found nowhere, either."""
    words = [word for word in passed_over(Evidence(case)) if word.lower() not in _LIGHT]
    named = " and ".join(f"“{word}”" for word in words)
    return [ReadingPart(kind="unused", text=f"not used: {named}")] if words else []


_LIGHT = RELATIONAL | word_set(
    "through owned own once times time considered gone instead down indicate same exact exactly anything anyone type "
    "kind sort word doing manage"
)
"""Words that say nothing of which data is meant."""


def _by_key(names: Resolved, schema: Schema) -> Callable[[exp.Expr], bool]:
    """Tells joins that need no words: they follow the only key between a table and those before it."""

    def by_key(on: exp.Expr) -> bool:
        join = on.parent
        if not isinstance(on, exp.EQ) or not isinstance(join, exp.Join) or not isinstance(join.parent, exp.Select):
            return False
        before = [join.parent.args["from_"], *join.parent.args["joins"][: join.index]]
        own, *others = (
            (
                one.this.alias_or_name.casefold(),
                schema.table(one.this.name) if isinstance(one.this, exp.Table) else None,
            )
            for one in (join, *before)
        )
        ways = [way for other in others for ends in ((own, other), (other, own)) for way in _keys(*ends)]
        ends = {(names.source(end), (names.column(end) or ("", ""))[1]) for end in (on.this, on.expression)}
        return len(ways) == 1 and ways[0] == ends

    return by_key


def _keys(child: tuple[str, Table | None], parent: tuple[str, Table | None]) -> list[set[tuple[str, str]]]:
    """The ends of each key by which one source refers to another: their names with their columns."""
    (name, table), (other_name, other) = child, parent
    return [
        {*((name, column) for column in key.columns), *((other_name, column) for column in key.ref_columns)}
        for key in (table.foreign_keys if table and other else ())
        if other and key.ref_table == other.name
    ]


def words_of(database: Database, schema: Schema) -> Vocabulary:
    """The vocabulary of a schema with the forms in which the database stores dates and figures."""
    return vocabulary(schema, value_index(database, schema).stored_forms)


async def as_read(
    question: str, case: Case, database: Database, *, seconds: float, semantics: SemanticModel | None = None
) -> tuple[list[ReadingPart], list[LeftOut]]:
    """What the query of a case that ran says, and what it leaves out. Raises DatabaseError; cancelling stops it."""
    slow = case.result is None or case.result.execution_time_ms >= SLOW_MS or seconds <= 0

    def looked_at() -> tuple[list[ReadingPart], tuple[ReadStatement, list[_Count]] | None, Vocabulary]:
        words = words_of(database, case.schema) if case.result else vocabulary(case.schema)
        hidden = model_view_of(semantics, case.schema).hidden if semantics else ()
        said = reading(case.parsed, case.schema, words, hidden)
        return said, None if slow else counting(case.parsed, case.schema, words, hidden), words

    said, asked, words = await in_turn(looked_at)
    missing = await left_out(asked, question, words, database, seconds=seconds) if asked else []
    if not slow and case.result is not None:
        limit = min(LIMITS.seconds, seconds)
        missing += await ties(case.parsed, case.schema, len(case.result.rows), database, seconds=limit)
    return said, missing


@with_headroom
def counting(
    parsed: ParsedQuery, schema: Schema, words: Vocabulary, hidden: Sequence[HiddenRows] = ()
) -> tuple[ReadStatement, list[_Count]] | None:
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
    counts.append(_Count("unknown", looking.kept(), ""))
    over_rows = any(not isinstance(one.counted, exp.Subquery) for one in counts)
    statement = exp.select(*(exp.alias_(one.counted, f"n{i}") for i, one in enumerate(counts)))
    if over_rows:
        statement.set("from_", select.args["from_"].copy())
        statement.set("joins", [join.copy() for join in select.args.get("joins") or ()])
    verdict = check(parsed_from_tree(statement, parsed.dialect), schema)
    return None if verdict.statement is None else (verdict.statement, counts)


async def left_out(
    asked: tuple[ReadStatement, list[_Count]],
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


class Resolved:
    """The real columns behind the names of a query."""

    def __init__(self, parsed: ParsedQuery, schema: Schema) -> None:
        assert parsed.tree is not None
        self.dialect = parsed.dialect
        self._found = bind(parsed.tree, parsed.dialect, schema).columns

    def column(self, node: exp.Expr) -> tuple[str, str] | None:
        found = self._found.get(id(node))
        return found.origin if found else None

    def is_text(self, node: exp.Expr) -> bool:
        """Whether what stands in double quotes is no name."""
        found = self._found.get(id(node))
        return found is not None and found.is_string

    def source(self, node: exp.Expr) -> str:
        """The name of its source in FROM."""
        found = self._found.get(id(node))
        return found.source.name.casefold() if found and found.source else ""

    def qualifier(self, node: exp.Expr) -> exp.Identifier | None:
        """That name, as it stands in front of a column."""
        found = self._found.get(id(node))
        return quoted_name(found.source.name) if found and found.source else None

    def qualified(self, query: exp.Select) -> exp.Select:
        """A copy of the query, with the name of its source in front of each column."""
        changed = query.copy()
        for before, node in zip(query.find_all(exp.Column), changed.find_all(exp.Column), strict=True):
            if not node.table and (own := self.qualifier(before)) is not None:
                node.set("table", own)
        return changed


def tables_of(select: exp.Select, schema: Schema) -> dict[str, Table]:
    """The tables of a SELECT by their names in it; empty where it reads from anything else."""
    joins = select.args.get("joins") or []
    start = select.args.get("from_")
    if start is None or select.args.get("laterals") or any(join.method for join in joins):
        return {}
    made = {one.alias.casefold() for one in (select.args["with_"].expressions if select.args.get("with_") else ())}
    sources: dict[str, Table] = {}
    for node in (start.this, *(join.this for join in joins)):
        table = schema.table(node.name, node.db or None) if isinstance(node, exp.Table) else None
        if table is None or node.name.casefold() in made:
            return {}
        sources[node.alias_or_name.casefold()] = table
    return sources


# --- other choices ---


def _others(parsed: ParsedQuery, schema: Schema, words: Vocabulary) -> dict[str, list[Choice]]:
    """By kind of clause: the same query with another date, or with another figure in place of its own."""
    select = parsed.tree
    assert isinstance(select, exp.Select)
    if not (sources := tables_of(select, schema)):
        return {}
    named = {table.name for table in sources.values()}
    names = Resolved(parsed, schema)
    offered: dict[str, list[Choice]] = {}
    for clause, kind, wanted in (
        (select.args.get("where"), "rows", "date"),
        *((key, "groups", "date") for key in group_keys(select)),
        *((shown, "shown", "number") for shown in select.expressions),
    ):
        for node in clause.find_all(exp.Column) if clause is not None else ():
            key = names.column(node)
            word = words.columns.get(key) if key else None
            figure = wanted == "number"
            if word is None or word.role != wanted or (figure and not node.find_ancestor(*_ENTERS)):
                continue
            if kind not in offered and not (kind == "groups" and "rows" in offered):
                beside = [(other, None) for other in words.by_table[word.table] if _stands_for(other, word)]
                ways = [*beside, *([] if figure else _above(word, named, schema, words))]
                offered[kind] = [
                    Choice(
                        label=f"{other.table}.{other.name}" if key else other.name,
                        sql=_with_column(parsed, word, other, names, key, words.tables[other.table].table),
                        teaches=Term(
                            kind="amount" if figure else "date", term=word.table, means=f"{other.table}.{other.name}"
                        ),
                    )
                    for other, key in ways[:CHOICES]
                ]
    return offered


def _above(
    word: ColumnWord, named: Collection[str], schema: Schema, words: Vocabulary
) -> list[tuple[ColumnWord, ForeignKey]]:
    """Those of the tables that its rows refer to, beside the named ones, each with the key that leads there."""
    table = schema.table(word.table)
    return [
        (other, key)
        for key in (table.foreign_keys if table else ())
        if len(key.columns) == 1 and key.ref_table not in named
        for other in words.by_table[key.ref_table]
        if _stands_for(other, word)
    ]


def _stands_for(other: ColumnWord, word: ColumnWord) -> bool:
    alike = other.role == word.role and other.form == word.form and other.numeric == word.numeric
    marks = other.role == "date" and _marks_deleted(other.name)
    return alike and other.key != word.key and other.column.type == word.column.type and not other.foreign and not marks


def _with_column(
    parsed: ParsedQuery, word: ColumnWord, other: ColumnWord, names: Resolved, key: ForeignKey | None, above: Table
) -> str:
    """The query with one column in place of another, which a key leads to where it is in a table `above`."""
    select = parsed.tree
    assert isinstance(select, exp.Select)
    changed = names.qualified(select) if key else select.copy()  # a name may stand in both tables
    source: exp.Expr | None = None
    for before, node in zip(select.find_all(exp.Column), changed.find_all(exp.Column), strict=True):
        own = node.args.get("table") or names.qualifier(before)
        if own is not None and names.column(before) == word.key:
            source = own
            table = quoted_name(key.ref_table) if key else own
            node.replace(exp.Column(this=quoted_name(other.name), table=table.copy()))
    if key and source is not None:
        child = exp.Column(this=quoted_name(key.columns[0]), table=source.copy())
        parent = exp.Column(this=quoted_name(key.ref_columns[0]), table=quoted_name(key.ref_table))
        changed = changed.join(table_source(above), on=exp.EQ(this=child, expression=parent))
    return render(changed, parsed.dialect)


# --- what is left out ---


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
        self._tests = list(where.this.flatten()) if where and isinstance(where.this, exp.And) else []
        if where and not self._tests:
            self._tests = [where.this]
        self._joins = parsed.tree.args.get("joins") or []
        outer = {join.this.alias_or_name.casefold() for join in self._joins if (join.side or "").upper() == "LEFT"}
        self._kept = {name: table for name, table in sources.items() if name not in outer}

    def all(self) -> Iterator[_Count]:
        if all((j.side or "").upper() in ("", "LEFT") and (j.kind or "").upper() in _PLAIN for j in self._joins):
            yield from self._unknown()
            yield from self._figures()
            yield from self._groups()
            yield from self._deleted()
            yield from self._currencies()
            yield from self._alone()

    def _unknown(self) -> Iterator[_Count]:
        """Rows for which a condition is neither true nor false, since its column is empty."""
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
            yield _Count("unknown", unknown, text, Choice(label="Include them", sql=widened), date)

    def kept(self) -> exp.Count:
        return _rows(*self._tests, *self._enter_figures())

    def _enter_figures(self) -> list[exp.Expr]:
        """That a row has what is summed or compared: where nothing else is shown of it, it is not missed without."""
        aggregates: list[exp.Expr] = [one for shown in self._select.expressions for one in shown.find_all(exp.AggFunc)]
        of = [one.this for one in aggregates if type(one) in _ENTERS and not one.this.find(exp.Query)]
        if len(of) != len(aggregates):
            return []
        return [exp.Not(this=_is_null(one)) for one in of]

    def _figures(self) -> Iterator[_Count]:
        """Rows that a figure passes over, since it is of a column that is empty."""
        said = dict[str, exp.Expr]()
        for figure in (one for shown in self._select.expressions for one in shown.find_all(exp.Count, *_ENTERS)):
            of = figure.this
            of = of.expressions[0] if isinstance(of, exp.Distinct) and len(of.expressions) == 1 else of
            inside = figure.find_ancestor(exp.Window, exp.Query) is self._select
            if (
                inside
                and isinstance(of, exp.Expr)
                and not of.find(exp.Coalesce, exp.Case)
                and (name := self._empty(of))
            ):
                noun = _ENTERS.get(type(figure))
                does = f"{{do}} not enter {noun}" if noun else "{are} not counted"
                said.setdefault(f"{{rows}} without {name} {does}", of)
        for text, of in said.items():
            yield _Count("figure", _rows(*self._tests, _is_null(of)), text)

    def _groups(self) -> Iterator[_Count]:
        for key in group_keys(self._select):
            if name := self._empty(key):
                text = f"{{rows}} without {name} {{make}} a group"
                yield _Count("group", _rows(*self._tests, _is_null(key)), text)

    def _deleted(self) -> Iterator[_Count]:
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
                yield _Count("deleted", counted, f"{{rows}} {said} {{are}} included", without)

    def _currencies(self) -> Iterator[_Count]:
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
                yield _Count("currency", further, f"amounts in several currencies ({column.name}) are added up", apart)

    def _alone(self) -> Iterator[_Count]:
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
                yield _Count("partner", counted.subquery(), text)

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
        if _marks_deleted(column.name):
            node = plain_column(column.name, table.name)
            marked: exp.Expr = exp.Not(this=exp.Is(this=node, expression=exp.null()))
            if "BOOL" in column.type.upper():
                marked = node
            elif any(kind in column.type.upper() for kind in ("INT", "BIT", "NUM")):
                marked = exp.NEQ(this=node, expression=exp.Literal.number(0))
            yield HiddenRows(table, marked, dialect)


def _marks_deleted(name: str) -> bool:
    parts = {part.casefold() for part in split_name(name)}
    return bool(parts & _DELETED) and parts <= _DELETED | BESIDE

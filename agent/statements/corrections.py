"""What a correction changed: the one thing in which a corrected query differs from the query that ran, as a term.

In: a question, the query that ran, the corrected one, the database. Out: a term, or None where they differ in several
things or in something that no word of the question and no rule for a table can stand for. Queries are compared clause
by clause on their trees, with the real columns behind their names.
"""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass

from sqlglot import exp

from agent.knowledge.effort import MOST_STEPS, TooTangled, limited
from agent.knowledge.semantics.expansion import ANY_AMOUNT
from agent.knowledge.semantics.hidden_rows import plain_column
from agent.knowledge.semantics.terms import problem
from agent.knowledge.values import value_index
from agent.knowledge.vocabulary import Vocabulary
from agent.parser.periods import period_at
from agent.parser.schema_linking import link
from agent.parser.time_conditions import TIME_WORDS
from agent.state import LONGEST_MEANING, LONGEST_TERM, Term
from agent.statements.resolved import Resolved, tables_of, words_of
from eval.databases.base import Database
from eval.language.inflection import root
from eval.language.lexicon import FUNCTION_WORDS
from eval.language.tokens import tokenize
from eval.schema import Dialect, Schema
from eval.sql import ParsedQuery, parse, render
from eval.sql.bounds import with_headroom
from eval.sql.traversal import conjuncts

_Place = tuple[str, str]


@with_headroom
def learned(question: str, ran: str, corrected: str, database: Database, guess: str = "") -> Term | None:
    """`guess`: the query that would have been asked, where none ran. Raises DatabaseError."""
    schema = database.schema()
    words = words_of(database, schema)
    before, after = (_clauses(parse(sql, database.dialect), schema) for sql in (ran or guess, corrected))
    if after is None:
        return None
    try:
        with limited(MOST_STEPS):
            unsaid = _Unsaid(question, words, database)
    except TooTangled:
        return None
    term = None
    if (
        before is not None
        and before.joins <= after.joins
        and (before.joins == after.joins or before.tables < after.tables)
    ):
        term = _column(before, after, words, unsaid) or _condition(before, after, schema.dialect, unsaid)
        term = term or _formula(before, after, schema.dialect, unsaid)
    term = term or (None if ran else _formula(None, after, schema.dialect, unsaid))
    fits = term is not None and len(term.term) <= LONGEST_TERM and len(term.means) <= LONGEST_MEANING
    return term if fits and term is not None and problem(term, words) is None else None


@dataclass(frozen=True)
class _Clauses:
    """A SELECT from tables, its columns written `table.column`; conditions in no order, outputs without their names."""

    tables: frozenset[str]
    joins: frozenset[tuple[str, str, exp.Expr | None]]
    """(table, side, condition)."""
    shown: tuple[exp.Expr, ...]
    tests: frozenset[exp.Expr]
    rest: tuple[exp.Expr, ...]
    """Groups, conditions on groups, orders, and limits."""

    @property
    def columns(self) -> set[_Place]:
        return _columns(*self.shown, *self.tests, *self.rest)

    def moved(self, old: exp.Expr, new: exp.Expr) -> tuple[object, ...]:
        """What it shows, tests and sorts by, with one expression in place of another."""

        def changed(one: exp.Expr) -> exp.Expr:
            return one.transform(lambda node: new.copy() if node == old else node)

        return tuple(map(changed, self.shown)), frozenset(map(changed, self.tests)), tuple(map(changed, self.rest))


def _clauses(parsed: ParsedQuery, schema: Schema) -> _Clauses | None:
    """None for anything but one SELECT from tables, each read once."""
    select = parsed.tree
    if not isinstance(select, exp.Select) or select.args.get("with_") or select.find(exp.Subquery, exp.Window):
        return None
    sources = tables_of(select, schema)
    if not sources or len({table.name for table in sources.values()}) < len(sources):
        return None
    names = Resolved(parsed, schema)
    called = {one.alias: one.this for one in select.expressions if isinstance(one, exp.Alias)}

    def plain(node: exp.Expr) -> exp.Expr:
        """The expression over real columns, whatever it is called in the query."""
        if isinstance(node, exp.Column):
            if (place := names.column(node)) is not None:
                return plain_column(place[1], place[0])
            return plain(called[node.name]) if node.name in called and not node.table else node
        copied = node.copy()
        for was, now in zip(list(node.find_all(exp.Column)), list(copied.find_all(exp.Column)), strict=True):
            now.replace(plain(was))
        for paren in list(copied.find_all(exp.Paren)):
            paren.replace(paren.this)
        return copied.this if isinstance(copied, exp.Paren) else copied

    where = select.args.get("where")
    clauses = ("group", "having", "order", "limit", "offset", "distinct")
    rest = [select.args[key] for key in clauses if select.args.get(key)]
    return _Clauses(
        frozenset(table.name for table in sources.values()),
        frozenset(
            (join.this.name, (join.side or "").upper(), plain(on) if (on := join.args.get("on")) else None)
            for join in select.args.get("joins") or ()
        ),
        tuple(plain(one.unalias()) for one in select.expressions),
        frozenset(inner for one in map(plain, conjuncts(where and where.this)) for inner in conjuncts(one)),
        tuple(map(plain, rest)),
    )


class _Unsaid:
    """The words of a question that a query does not account for."""

    def __init__(self, question: str, words: Vocabulary, database: Database) -> None:
        self._tokens = tokenize(question)
        self._words = words
        self._items = link(self._tokens, words, value_index(database, words.schema))
        dated = (period_at(self._tokens, i, dt.date.today()) for i in range(len(self._tokens)))
        self._dated = {i + k for i, named in enumerate(dated) if named is not None for k in range(named.tokens)}

    def by(self, columns: set[_Place], tables: frozenset[str], texts: set[str]) -> str:
        """The words in a row, without the function words around them; empty where there are none, or in two places."""
        known = {*columns, *((table, "") for table in tables)}
        said = {root(word.lower()) for text in texts for word in text.replace("_", " ").split()}
        open_at = []
        for item in self._items:
            for i in range(item.start, item.end):
                token = self._tokens[i]
                if token.kind != "word" or i in self._dated or item.kind == "keyword" or token.lower in _SILENT:
                    continue
                if root(token.lower) not in said and not self._named(token.lower, known):
                    open_at.append(i)
        row = range(open_at[0], open_at[-1] + 1) if open_at else range(0)
        between = {i for i in row if self._tokens[i].lower in FUNCTION_WORDS}
        return " ".join(self._tokens[i].text for i in row) if set(row) == {*open_at, *between} else ""

    def _named(self, word: str, known: set[_Place]) -> bool:
        """Whether the word is one of a table or column that the query has."""
        meant = {name for name, score in self._words.affinities(word).items() if score >= _SAME}
        of_tables = {w for table, column in known if not column for w in self._words.tables[table].words}
        of_columns = {w for place in known if place[1] for w in self._words.columns[place].words}
        return bool(meant & (of_tables | of_columns))


_SILENT = FUNCTION_WORDS | TIME_WORDS
_SAME = 0.75
"""The affinity, 0..1, from which on a word is one of a name."""


def _columns(*parts: exp.Expr) -> set[_Place]:
    return {(c.table, c.name) for part in parts for c in part.find_all(exp.Column)}


def _texts(*parts: exp.Expr) -> set[str]:
    return {one.name for part in parts for one in part.find_all(exp.Literal) if one.is_string}


def _column(before: _Clauses, after: _Clauses, words: Vocabulary, unsaid: _Unsaid) -> Term | None:
    """Another date or another figure of the same rows, wherever the query has one."""
    old, new = before.columns - after.columns, after.columns - before.columns
    if len(old) != 1 or len(new) != 1:
        return None
    (was,), (now,) = old, new
    a, b = words.columns.get(was), words.columns.get(now)
    same = before.moved(plain_column(*was[::-1]), plain_column(*now[::-1])) == (after.shown, after.tests, after.rest)
    if a is None or b is None or not same or a.role != b.role or a.role not in ("date", "number"):
        return None
    said = unsaid.by(after.columns - {now}, after.tables, _texts(*after.tests))
    if said and not (a.role == "number" and said.casefold() in ANY_AMOUNT):
        return Term(kind="word", term=said, means=f"{now[0]}.{now[1]}")
    return Term(kind="date" if a.role == "date" else "amount", term=was[0], means=f"{now[0]}.{now[1]}")


def _condition(before: _Clauses, after: _Clauses, dialect: Dialect, unsaid: _Unsaid) -> Term | None:
    """A condition that was added, changed or dropped."""
    old, new = before.tests - after.tests, after.tests - before.tests
    if (before.shown, before.rest) != (after.shown, after.rest) or len(old) > 1 or len(new) > 1 or not old | new:
        return None
    others = after.tests - new
    tables = after.tables - ({table for table, _ in _columns(*new)} - before.tables)
    said = unsaid.by(_columns(*after.shown, *others, *after.rest), tables, _texts(*others))
    if not said:
        return None
    if not new:  # the word asks for nothing: it is another word for the rows
        return Term(kind="word", term=said, means=next(iter(tables))) if len(tables) == 1 else None
    return Term(kind="word", term=said, means=render(next(iter(new)), dialect))


def _formula(before: _Clauses | None, after: _Clauses, dialect: Dialect, unsaid: _Unsaid) -> Term | None:
    """Another formula for a figure that is shown and what is sorted by it; without a query before, the only one."""
    if before is None:
        formulas = [one for one in after.shown if one.find(exp.Sum, exp.Avg, exp.Min, exp.Max, exp.Div)]
    else:
        pairs = [(a, b) for a, b in zip(before.shown, after.shown, strict=False) if a != b]
        one = len(pairs) == 1 and before.moved(*pairs[0]) == (after.shown, after.tests, after.rest)
        formulas = [now for _, now in pairs if one and now.find(exp.AggFunc)]
    if len(formulas) != 1:
        return None
    kept = [one for one in (*after.shown, *after.tests, *after.rest) if one != formulas[0]]
    said = unsaid.by(_columns(*kept), (before or after).tables, _texts(*after.tests))
    return Term(kind="measure", term=said, means=render(formulas[0], dialect)) if said else None

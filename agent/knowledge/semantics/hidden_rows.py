"""Rows that no answer counts unless its question asks for them: deleted ones, tests, cancelled orders.

In: the condition that marks the rows of a table. Out: queries without them, and such queries with them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from sqlglot import exp

from agent.knowledge.schema_context import RESERVED
from agent.knowledge.vocabulary import split_name
from eval.language.inflection import plural_phrase, root
from eval.schema import Dialect, Schema, Table
from eval.sql import parse, render
from eval.sql.in_words import expression_in_words
from eval.sql.scopes import bind
from eval.sql.table_places import narrow
from eval.sql.traversal import conjuncts

BESIDE = frozenset({"is", "was", "has", "at", "on", "date", "time", "timestamp", "flag", "status", "state"})
"""Words of a column that marks rows which do not say as what."""
_PLAIN = re.compile(r"[a-z_][a-z0-9_]*\Z")
_WORD = re.compile(r"[^\W_]+")
_INCLUDED = (
    r"[\s,(]{0,4}\b(?:(?:also|and|even|but)\s{1,4})?(?:including|include|incl\.?|counting|whether)\s{1,4}"
    r"(?:(?:all|also|the)\s{1,4}){0,3}"
)


@dataclass(frozen=True)
class HiddenRows:
    table: Table
    marked: exp.Expr
    """The condition that marks them; its columns are qualified by the table."""
    dialect: Dialect

    @property
    def text(self) -> str:
        """The condition as people write it."""
        known = _is_known(self.marked)
        said = exp.Is(this=self.marked.this.this, expression=exp.Not(this=exp.null())) if known else self.marked
        return render(said, self.dialect)

    @cached_property
    def words(self) -> frozenset[str]:
        """The words that ask for them: of the texts that the condition compares with, else of its columns."""
        texts = [one.name for one in self.marked.find_all(exp.Literal) if one.is_string]
        of_texts = {word.casefold() for text in texts for word in _WORD.findall(text)}
        of_names = {word for column in self.marked.find_all(exp.Column) for word in split_name(column.name)}
        return frozenset(root(word) for word in of_texts or of_names - BESIDE)

    @cached_property
    def called(self) -> str:
        """`deleted vessels`; `vessels where grt is under 15`."""
        rows = plural_phrase(split_name(self.table.name))
        test = self.marked.unnest()
        column, against = test, None
        if isinstance(test, exp.EQ):
            column, against = test.this, test.expression
        elif _is_known(test):
            column = test.this.this
        if isinstance(column, exp.Column) and (against is None or against.is_string or against.sql() in ("1", "TRUE")):
            parts = [part for part in _WORD.findall(column.name.casefold().replace("_", " ")) if part not in BESIDE]
            said = against.name.replace("_", " ") if against is not None and against.is_string else " ".join(parts)
            if len(said) > 2:
                return f"{said} {rows}"
        return f"{rows} where {expression_in_words(test, self.dialect)}"

    def named_in(self, question: str) -> bool:
        return not self.words.isdisjoint(root(word) for word in _WORD.findall(question.casefold()))

    def unsaid(self, question: str) -> str:
        """The question without the words that only ask to include them: `, including deleted ones`."""
        said = {word for word in _WORD.findall(question.casefold()) if root(word) in self.words}
        if not said:
            return question
        named = ("ones", "rows", self.table.name, plural_phrase(split_name(self.table.name)))
        words, rows = ("|".join(map(re.escape, sorted(set(some)))) for some in (said, named))
        asked = rf"{_INCLUDED}(?:{words})\b(?:\s{{1,4}}or not\b)?(?:\s{{1,4}}(?:{rows})\b)?\)?"
        return re.sub(asked, "", question, flags=re.IGNORECASE)

    def kept(self, qualifier: str | None) -> exp.Expr:
        """The condition of the other rows."""
        marked = self.marked.copy()
        for column in list(marked.find_all(exp.Column)):
            own = plain_column(column.name, qualifier)
            marked = own if column is marked else marked
            column.replace(own)
        test = marked.unnest()
        if _is_known(test):
            return exp.Is(this=test.this.this, expression=exp.null())
        if isinstance(test, exp.Is) and isinstance(test.expression, exp.Null):
            return exp.Not(this=test)
        columns = [self.table.column(one.name) for one in test.find_all(exp.Column)]
        if isinstance(test, exp.EQ | exp.NEQ) and not any(one is None or one.nullable for one in columns):
            other = exp.NEQ if isinstance(test, exp.EQ) else exp.EQ
            return other(this=test.this, expression=test.expression)
        return exp.Not(this=exp.Is(this=exp.paren(test), expression=exp.true()))


def denied_outside(tree: exp.Expr) -> exp.Expr:
    """A condition with `IS NOT NULL` as NOT of IS NULL, in PostgreSQL's dialect too; of single columns they are one."""

    def apart(node: exp.Expr) -> exp.Expr:
        if isinstance(node, exp.Is) and node.args.get("negate"):
            return exp.Not(this=exp.Is(this=node.this, expression=node.expression))
        if isinstance(node, exp.Not) and isinstance(inner := node.this.unnest(), exp.Is):
            return exp.Not(this=inner)
        return node

    return tree.transform(apart)


def _is_known(test: exp.Expr) -> bool:
    return isinstance(test, exp.Not) and isinstance(test.this, exp.Is) and isinstance(test.this.expression, exp.Null)


def plain_column(name: str, table: str | None) -> exp.Column:
    """The column, quoted where it has to be."""
    parts = [exp.to_identifier(one, quoted=not _PLAIN.match(one) or one in RESERVED) for one in (name, table) if one]
    return exp.column(*parts)


def without(tree: exp.Expression, hidden: Sequence[HiddenRows], schema: Schema) -> exp.Expression:
    """A copy of the query that reads none of these rows, wherever it reads their table. A query with a condition on
    what marks them is not changed."""
    for rows in hidden:
        changed = tree.copy()
        binding = bind(changed, rows.dialect, schema)
        marks = {(rows.table.name, column.name) for column in rows.marked.find_all(exp.Column)}
        tested = (c for c in changed.find_all(exp.Column) if c.find_ancestor(exp.Where, exp.Join, exp.If, exp.Having))
        if any((found := binding.columns.get(id(one))) and found.origin in marks for one in tested):
            continue
        for clause in binding.froms:
            for source in clause.scope.sources:
                table = source.relation.table if isinstance(source.node, exp.Table) else None
                if table is not None and table.name == rows.table.name:
                    narrow(clause, source, rows.kept)
        tree = changed
    return tree


def counted_again(tree: exp.Expression, rows: HiddenRows) -> exp.Expression | None:
    """A copy of a query that leaves these rows out, which does not; None for a query that leaves none out."""
    changed = tree.copy()
    of_table = (t for t in changed.find_all(exp.Table) if t.name.casefold() == rows.table.name.casefold())
    kept = {_plain(rows.kept(name), rows.dialect) for name in (None, *(t.alias_or_name for t in of_table))}
    found = False
    for clause in list(changed.find_all(exp.Where, exp.Join)):
        place = "on" if isinstance(clause, exp.Join) else "this"
        tests = conjuncts(clause.args.get(place))
        others = [one for one in tests if _plain(one, rows.dialect) not in kept]
        if len(others) < len(tests):
            found = True
            if others:
                clause.set(place, exp.and_(*others))
            elif place == "this":
                clause.pop()
            else:
                clause.set(place, exp.true())
    return changed if found else None


def _plain(test: exp.Expr, dialect: Dialect) -> str:
    """A condition as text that quotes and capitals do not change."""
    parsed = parse(f"SELECT 1 WHERE {render(test, dialect)}", dialect).tree
    where = parsed.args.get("where") if parsed is not None else None
    return re.sub(r"[`\"\[\]()\s]", "", render(where.this if where else test, dialect)).casefold()

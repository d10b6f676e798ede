"""Names in SQL: tables with their aliases, columns with their owners, rows that refer to rows of their own table.

In: names of the schema. Out: identifiers, quoted when necessary, and the conditions of joins. An alias is the same in
the whole statement.
"""

from __future__ import annotations

import re
from itertools import chain, count

from sqlglot import exp

from agent.knowledge.vocabulary import Vocabulary
from agent.parser.column_names import role
from agent.parser.interpretation import ColumnKey
from agent.parser.joins import Edge, JoinGraph
from eval.language.lexicon import word_set
from eval.schema import Table

_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")
RESERVED = word_set(
    "add all alter analyze and any as asc between both by case cast check collate column constraint create cross "
    "current current_date current_time current_timestamp database default delete desc describe distinct div drop else "
    "end escape except exists explain false fetch filter for foreign from full function grant group groups having if "
    "in index inner insert interval into is join key keys lateral leading left like limit lock match natural no not "
    "null of offset on or order outer over partition percent primary procedure range rank read references right row "
    "rows select session set show some system table then to trailing trigger true union unique update user using "
    "values view when where window with year month day date time timestamp usage role position value comment"
)
"""Words that are no alias and no bare name."""


def identifier(name: str) -> exp.Identifier:
    """A name, quoted when necessary."""
    return exp.to_identifier(name, quoted=not _PLAIN.match(name) or name.lower() in RESERVED or name != name.lower())


def table_named(table: Table) -> exp.Table:
    """A table by its name, with its namespace where the bare name is not enough."""
    name = table.stored_name or table.name
    return exp.Table(this=identifier(name), db=identifier(table.namespace) if table.namespace else None)


class Names:
    """The names of one statement."""

    def __init__(self, vocabulary: Vocabulary, graph: JoinGraph) -> None:
        self._vocabulary, self._graph = vocabulary, graph
        self._aliases: dict[str, str] = {}

    def table(self, name: str, alone: bool) -> exp.Table:
        """The table, with its alias unless it is `alone` in its query."""
        named = table_named(self._vocabulary.tables[name].table)
        if not alone:
            named.set("alias", exp.TableAlias(this=self.alias(name)))
        return named

    def alias(self, name: str) -> exp.Identifier:
        """A short name for a table in a join: the initials of its words, the same in the whole statement."""
        known = self._aliases.get(name)
        if known is None:
            initials = "".join(w[0] for w in self._vocabulary.tables[name].words if w[:1].isascii() and w[:1].isalpha())
            start = initials.lower()[:4] or "t"
            in_use = set(self._aliases.values())
            possible = chain((start,), (f"{start}{k}" for k in count(2)))
            known = next(a for a in possible if a not in in_use and a not in RESERVED)
            self._aliases[name] = known
        return exp.to_identifier(known)

    def column(self, key: ColumnKey, alone: bool = False) -> exp.Column:
        return exp.Column(this=identifier(key[1]), table=None if alone else self.alias(key[0]))

    def column_of_other(self, key: ColumnKey, referring: str) -> exp.Column:
        """The column of the row that a row of the same table refers to."""
        return exp.Column(this=identifier(key[1]), table=self._alias_of_other(key[0], referring))

    def _alias_of_other(self, table: str, referring: str) -> exp.Identifier:
        """The alias of the rows referred to: the words of the referring column (`manager`)."""
        name = role(self._vocabulary.columns[table, referring].words)
        plain = _PLAIN.match(name) and name not in RESERVED
        return exp.to_identifier(name if plain else f"{self.alias(table).name}_other")

    def other(self, table: str, referring: str) -> tuple[exp.Table, exp.Expr]:
        """The same table again, under another name, for the rows referred to, and how they are joined."""
        edge = next(e for e in self._graph.edges(table) if e.left == e.right and referring in e.left_columns)
        other = self.table(table, True)
        other.set("alias", exp.TableAlias(this=self._alias_of_other(table, referring)))
        pairs = [
            exp.EQ(this=self.column_of_other((table, target), referring), expression=self.column((table, own)))
            for own, target in zip(edge.left_columns, edge.right_columns, strict=True)
        ]
        return other, exp.and_(*pairs, copy=False)

    def joined(self, edge: Edge) -> exp.Expr:
        """The condition that joins the two tables of a foreign key."""
        pairs = [
            exp.EQ(this=self.column((edge.left, a)), expression=self.column((edge.right, b)))
            for a, b in zip(edge.left_columns, edge.right_columns, strict=True)
        ]
        return exp.and_(*pairs, copy=False)

"""Names in SQL: tables with their aliases, columns with their owners, and names for what is computed.

In: names of the schema and expressions of a plan. Out: identifiers, quoted when necessary. An alias is the same in the
whole statement; the names of computed columns (`average_price`, `orders`) say what they hold.
"""

from __future__ import annotations

from sqlglot import exp

from agent.knowledge.vocabulary import Vocabulary
from agent.parser.joins import Edge
from agent.parser.sql_names import RESERVED, identifier, table_named
from eval.language.inflection import plural_phrase
from experiments.grammar_parser.plan.algebra import (
    Aggregate,
    Arithmetic,
    Column,
    DatePart,
    Elapsed,
    Expression,
    OverGroups,
    Scalar,
    Select,
)

_CALLED = {"sum": "total", "avg": "average", "min": "lowest", "max": "highest", "median": "median"}
_KEYS = ("id", "key", "code", "number")


class Names:
    """The names of one statement."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._vocabulary = vocabulary
        self._aliases: dict[str, str] = {}

    def table(self, name: str, alone: bool) -> exp.Table:
        """The table, with its alias unless it is `alone` in its query."""
        table = table_named(self._vocabulary.tables[name].table)
        if not alone:
            table.set("alias", exp.TableAlias(this=self.alias(name)))
        return table

    def alias(self, name: str) -> exp.Identifier:
        """A short name for a table in a join: the initials of its words, the same in the whole statement."""
        words = self._vocabulary.tables[name].words if name in self._vocabulary.tables else name.split(".")
        return self._free(name, "".join(w[0] for w in words if w[:1].isascii() and w[:1].isalpha()).lower()[:4] or "t")

    def _free(self, key: str, start: str) -> exp.Identifier:
        known = self._aliases.get(key)
        if known is None:
            taken = {*self._aliases.values(), *RESERVED}
            known = next(a for a in (start, *(f"{start}{k}" for k in range(2, 1000))) if a not in taken)
            self._aliases[key] = known
        return exp.to_identifier(known)

    def column(self, key: tuple[str, str], alone: bool = False) -> exp.Column:
        return exp.Column(this=identifier(key[1]), table=None if alone else self.alias(key[0]))

    def column_of_other(self, column: Column) -> exp.Column:
        """A column of the row that a certain foreign key refers to."""
        return exp.Column(this=identifier(column.name), table=self._alias_of_other(column.table, column.role))

    def _alias_of_other(self, table: str, role: str) -> exp.Identifier:
        holder, _, column = role.rpartition(".")
        words = self._vocabulary.columns[holder, column].words
        plain = "_".join(w for w in words if w not in _KEYS and w.isascii() and w.isalnum())
        return self._free(f"{table} by {role}", plain if plain and not plain[0].isdigit() else "other")

    def other(self, table: str, edge: Edge, role: str) -> tuple[exp.Table, exp.Expr]:
        """The table under another name, for the rows that a foreign key refers to, and how they are joined."""
        other = self.table(table, True)
        alias = self._alias_of_other(table, role)
        other.set("alias", exp.TableAlias(this=alias))
        pairs = [
            exp.EQ(this=exp.Column(this=identifier(b), table=alias.copy()), expression=self.column((edge.left, a)))
            for a, b in zip(edge.left_columns, edge.right_columns, strict=True)
        ]
        return other, exp.and_(*pairs, copy=False)

    def joined(self, edge: Edge) -> exp.Expr:
        """The condition that joins the two tables of a foreign key."""
        pairs = [
            exp.EQ(this=self.column((edge.left, a)), expression=self.column((edge.right, b)))
            for a, b in zip(edge.left_columns, edge.right_columns, strict=True)
        ]
        return exp.and_(*pairs, copy=False)


def named(tree: exp.Select, plan: Select, vocabulary: Vocabulary, every: bool = False) -> exp.Select:
    """The tree with its computed columns named, and those that two tables both have; with `every`, all columns."""
    tables = {t.name for t in tree.find_all(exp.Table)}
    taken = {c.name.lower() for t in tables for c in vocabulary.by_table.get(t, ())} | RESERVED - _CALENDAR
    plain = [x.name for x in tree.expressions if isinstance(x, exp.Column)]
    for shown, e in zip(list(tree.expressions), plan.show, strict=False):
        if isinstance(shown, exp.Column) and isinstance(shown.this, exp.Star):
            continue
        if isinstance(shown, exp.Star):
            continue
        if isinstance(shown, exp.Column):
            if not every and plain.count(shown.name) == 1:
                continue
            name = _owned(e, vocabulary) if plain.count(shown.name) > 1 else shown.name
        else:
            name = called(e, vocabulary)
        name = _unused(name, taken) if not isinstance(shown, exp.Column) or plain.count(shown.name) > 1 else name
        taken.add(name)
        quoted = identifier(name)
        shown.replace(exp.alias_(shown.copy(), quoted))
    return tree


_CALENDAR = frozenset(("year", "quarter", "month", "week", "day"))


def _owned(e: Expression, vocabulary: Vocabulary) -> str:
    if not isinstance(e, Column):
        return called(e, vocabulary)
    if e.role:
        holder, _, column = e.role.rpartition(".")
        words = tuple(w for w in vocabulary.columns[holder, column].words if w not in _KEYS)
        return "_".join(words or vocabulary.tables[e.table].words)
    word = vocabulary.columns[e.key]
    shown_by = word in vocabulary.name_columns(e.table)
    own = vocabulary.tables[e.table].words
    return "_".join(own if shown_by else (*own, *word.words))


def called(e: Expression, vocabulary: Vocabulary) -> str:
    """A name for what an expression computes: `average_price`, `orders`, `month`."""
    match e:
        case Column():
            return "_".join(vocabulary.columns[e.key].words)
        case DatePart():
            return {"month_of_year": "month"}.get(e.unit, e.unit)
        case Elapsed():
            return "age" if e.end is None else f"{e.unit}s"
        case Aggregate(of=None):
            return plural_phrase(vocabulary.tables[e.table].words).replace(" ", "_") if e.table else "number_of_rows"
        case Aggregate():
            inner = called(e.of, vocabulary) if e.of is not None else "rows"
            if e.function == "count":
                return plural_phrase(tuple(inner.split("_"))).replace(" ", "_")
            dated = isinstance(e.of, Column) and vocabulary.columns[e.of.key].role == "date"
            word = {"min": "earliest", "max": "latest"}.get(e.function, "") if dated else ""
            return (
                f"{word or _CALLED[e.function]}_{inner}"
                if (e.function, inner.split("_")[0]) != ("sum", "total")
                else inner
            )
        case OverGroups():
            return {"share": "percentage", "running": "running_total", "change": "change", "growth": "growth"}[e.kind]
        case Arithmetic(sign="*"):
            return "revenue" if isinstance(e.left, Column) and isinstance(e.right, Column) else "percentage"
        case Arithmetic(sign="-"):
            return "difference"
        case Arithmetic(sign="/"):
            return "ratio"
        case Arithmetic():
            return "sum"
        case Scalar():
            return "value"
    return "value"


def _unused(name: str, taken: set[str]) -> str:
    free = next((n for n in (name, *(f"{name}_{k}" for k in range(2, 50))) if n.lower() not in taken), name)
    return free.lower()

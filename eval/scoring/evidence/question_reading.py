"""What every kind of evidence starts from: the question read once, and its words linked to the names of the schema.

In: a `Case`. Out: a `Reading`. An `Observation` is what the evidence files make of it; `value` enters the regression of
`eval.scoring.correctness` under `name`, and an observation without a sentence informs the estimate without being shown.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from sqlglot import exp

from eval.databases.types import Value
from eval.language.lexicon import Adjective, adjectives
from eval.language.words import content_words, meets, name_words, question_words
from eval.schema import Column, Table
from eval.scoring.intent import Intent, read_intent
from eval.scoring.types import Case
from eval.sql.binding import Binding
from eval.sql.scopes import bind
from eval.sql.traversal import every, output_select
from eval.sql.types import Constant


def is_key_name(column: str) -> bool:
    parts = name_words(column)
    return bool(parts) and (parts[-1] in ("id", "code", "key", "uid") or column.lower().endswith("id"))


@dataclass(frozen=True, slots=True)
class Observation:
    """One thing seen: nothing seen is no observation, so a value is never 0 by mistake."""

    name: str
    value: float
    text: str = ""


Observations = Iterator[Observation]
Sentences = Iterator[str]
"""What a check of `eval.scoring.contradictions` proves; it yields nothing where it cannot tell."""


def shown(value: str) -> str:
    """A value in a sentence."""
    return f"“{value[:40]}”"


_WORDS = re.compile(r"[^\W_]+")
_SOME = re.compile(r"\W*(?:list|give|show|name|find|provide|return|tell)(?: me| us| down| out)* at least\b")
_NUMERIC = re.compile(r"int|real|double|float|decimal|numeric|number", re.IGNORECASE)
SAID: dict[type, tuple[str, ...]] = {
    exp.Count: ("number", "numbers", "count", "many", "amount"),
    exp.Avg: ("average", "avg", "mean"),
    exp.Sum: ("total", "sum", "much"),
    exp.Max: ("maximum", "max", "highest", "largest", "most", "greatest", "oldest", "longest", "latest", "biggest"),
    exp.Min: ("minimum", "min", "lowest", "smallest", "least", "youngest", "shortest", "earliest"),
}
"""The words for an aggregate."""


@dataclass(frozen=True)
class Reading:
    """A case with its question read and linked; derived values are computed when first asked for."""

    case: Case

    @property
    def tree(self) -> exp.Expression:
        """The query's syntax tree. Evidence is observed only of queries that parse (`evidence.features`)."""
        assert self.case.parsed.tree is not None
        return self.case.parsed.tree

    @cached_property
    def intent(self) -> Intent:
        return read_intent(self.case.question)

    @cached_property
    def question(self) -> str:
        return self.case.question.casefold()

    @cached_property
    def words(self) -> frozenset[str]:
        """The question's words that name data, reduced."""
        return frozenset(content_words(self.case.question))

    @cached_property
    def all_words(self) -> frozenset[str]:
        return frozenset(question_words(self.case.question))

    @property
    def constants(self) -> tuple[Constant, ...]:
        return self.case.facts.literals

    @cached_property
    def used_names(self) -> frozenset[str]:
        """The words of the names of the tables and columns that the query uses."""
        names = [*self.tables, *(c for _, c in self.case.references.columns)]
        return frozenset(w for n in names for w in name_words(n))

    @cached_property
    def used_words(self) -> frozenset[str]:
        """The words of the names and constants that the query uses."""
        return self.used_names | frozenset(w for c in self.constants for w in question_words(c.value))

    @cached_property
    def text_values(self) -> frozenset[str]:
        """Text constants of the query, as they would appear in a question."""
        return frozenset(c.value.strip("% ").casefold() for c in self.constants if c.is_string and c.value)

    @cached_property
    def tables(self) -> tuple[str, ...]:
        return self.case.references.tables

    @cached_property
    def linked_tables(self) -> frozenset[str]:
        """Tables of the query whose own name, or a used column or a value looked for in it, meets the question."""
        by_name = {t for t in self.tables if meets(t, self.words)}
        by_name |= {c.table for c in self.constants if c.table and c.value.strip("% ").casefold() in self.question}
        return frozenset(by_name | {t for t, c in self.case.references.columns if meets(c, self.words)})

    @cached_property
    def linked_columns(self) -> frozenset[tuple[str, str]]:
        """Columns of the query that a word of the question, or a property of one of its adjectives, is akin to."""
        words = self.words.union(*(p for found in self.adjectives for p, _ in found.properties))
        return frozenset(tc for tc in self.case.references.columns if meets(tc[1], words))

    @cached_property
    def adjectives(self) -> tuple[Adjective, ...]:
        """The gradable adjectives of the question, of one word."""
        known = adjectives()
        return tuple(known[w.casefold()][0] for w in _WORDS.findall(self.question) if w.casefold() in known)

    @cached_property
    def output(self) -> tuple[exp.Expr, ...]:
        """The expressions of the outermost SELECT list, aliases taken off; the first branch's of a set operation."""
        select = self.select
        return tuple(e.unalias() for e in select.expressions) if select is not None else ()

    @cached_property
    def select(self) -> exp.Select | None:
        return output_select(self.tree)

    @cached_property
    def output_columns(self) -> tuple[str, ...]:
        """Plain columns of the outermost SELECT list."""
        return tuple(e.name for e in self.output if isinstance(e, exp.Column) and not isinstance(e.this, exp.Star))

    @cached_property
    def output_places(self) -> frozenset[tuple[str, str]]:
        """The real (table, column) behind each plain output column."""
        found = (place for e in self.output if (place := self.stored(e)) is not None)
        return frozenset((table.name, column.name) for table, column in found)

    def stored(self, column: exp.Expr) -> tuple[Table, Column] | None:
        """The real table and column that a column of the query refers to; None for any other expression."""
        return self._binding.stored(id(column), self.case.schema)

    @cached_property
    def _binding(self) -> Binding:
        return bind(self.tree, self.case.schema.dialect, self.case.schema)

    @cached_property
    def selects(self) -> tuple[exp.Select, ...]:
        return tuple(every(self.tree, exp.Select))

    @cached_property
    def superlative_form(self) -> str | None:
        """How the query ranks: `limit` (ORDER BY with LIMIT), `extreme` (MIN or MAX), `window`, or None."""
        facts = self.case.facts
        if facts.window_functions:
            return "window"
        if facts.order_by and facts.limit is not None:
            return "limit"
        if {"min", "max"} & set(facts.aggregates):
            return "extreme"
        if facts.subqueries and any(s.args.get("limit") for s in self.selects):
            return "limit"
        return None

    @cached_property
    def rows(self) -> tuple[tuple[Value, ...], ...]:
        result = self.case.result
        return result.rows if result is not None and result.ok else ()

    @cached_property
    def asks_some(self) -> bool:
        """`List at least five`: the number is of rows to show and bounds nothing."""
        return _SOME.match(self.question) is not None

    @property
    def side_by_side(self) -> bool:
        """`The numbers of the north and the south, respectively`: groups that may be columns of one row."""
        return "respective" in self.question and len(self.output) > 1

    def holds_numbers(self, table: str, name: str) -> bool:
        known = self.case.schema.table(table)
        column = known.column(name) if known is not None else None
        return column is not None and _NUMERIC.search(column.type) is not None

"""The values that `eval.sql` hands on: a parsed query, the guard's verdict, references and facts.

One text is parsed once (`ParsedQuery`), and guard, references and facts all read that tree.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from eval.schema import Dialect

if TYPE_CHECKING:
    from sqlglot import exp


@dataclass(frozen=True, slots=True)
class ParsedQuery:
    """What one parse found. Never raises out of `parse`: a text that does not parse carries `error`."""

    text: str
    dialect: Dialect
    tree: exp.Expression | None
    """The syntax tree when the text is exactly one statement, else None. Treat as read-only; copy to rewrite."""
    error: str | None = None
    """Why there is no tree: empty, syntax error (with position), several statements, nested too deeply."""


@dataclass(frozen=True, slots=True)
class ReadStatement:
    """SQL that may be sent to a database: only `eval.sql.guard` makes one (tests aside).

    `sql` is generated back from the syntax tree, comments gone; it is never the model's own text.
    """

    sql: str
    dialect: Dialect


@dataclass(frozen=True, slots=True)
class Verdict:
    """The guard's decision. Exactly one of `statement` and `reason` is set."""

    allowed: bool
    reason: str | None
    """For a person: what was refused and why ("calls load_extension, which is not on the list of ...")."""
    statement: ReadStatement | None


PhantomKind = Literal["table", "column", "function", "ambiguous"]


@dataclass(frozen=True, slots=True)
class Phantom:
    """A name in the query that the database does not have (or, `ambiguous`, has more than once)."""

    kind: PhantomKind
    name: str
    """As written, with its qualifier where it had one (`o.totl`)."""
    nearest: tuple[str, ...] = ()
    """Up to three real names, nearest first; for `ambiguous`, the tables that share it; for a function called
    with the wrong number of arguments, its right form (`ROUND(value[, digits])`)."""


@dataclass(frozen=True, slots=True)
class References:
    """What a query refers to, resolved scope by scope against a schema."""

    tables: tuple[str, ...] = ()
    """Real tables and views used, in order of first use, by their schema names."""
    columns: tuple[tuple[str, str], ...] = ()
    """Real (table, column) pairs used, in order of first use, by their schema names."""
    functions: tuple[str, ...] = ()
    phantoms: tuple[Phantom, ...] = ()

    def named(self, kind: PhantomKind) -> tuple[Phantom, ...]:
        return tuple(p for p in self.phantoms if p.kind == kind)


@dataclass(frozen=True, slots=True)
class Constant:
    """A constant of the query with the column it is compared with, where there is one."""

    value: str
    is_string: bool
    table: str | None = None
    column: str | None = None
    operator: str | None = None
    """`=`, `<>`, `<`, `<=`, `>`, `>=`, `like`, `in`, `between`, or None outside a comparison."""


@dataclass(frozen=True, slots=True)
class QueryFacts:
    """The form of a query, as far as intent can be read off it: the outermost query unless said otherwise."""

    projection: tuple[str, ...] = ()
    """Output column names or expressions as SQL text, in order; `*` stays `*`."""
    projects_star: bool = False
    aggregates: tuple[str, ...] = ()
    """Aggregate function names anywhere, lower case, e.g. `count`, `sum`; with repeats."""
    output_aggregates: tuple[str, ...] = ()
    """Aggregates in the outermost SELECT list."""
    count_distinct: bool = False
    distinct: bool = False
    group_by: tuple[str, ...] = ()
    having: bool = False
    order_by: tuple[tuple[str, Literal["asc", "desc"]], ...] = ()
    limit: int | None = None
    offset: int | None = None
    set_operations: tuple[str, ...] = ()
    """`union`, `union all`, `intersect`, `except`, anywhere."""
    subqueries: int = 0
    joins: int = 0
    outer_joins: int = 0
    cartesian: bool = False
    """Some pair of sources of one FROM has no condition that links it to the others (CROSS JOIN to a single-row
    source such as a scalar aggregate does not count)."""
    window_functions: tuple[str, ...] = ()
    negations: int = 0
    """NOT, <>, NOT IN, NOT LIKE, NOT EXISTS, EXCEPT, IS NULL after an outer join."""
    comparisons: int = 0
    literals: tuple[Constant, ...] = ()
    from_tables: int = 0
    """Base tables and views named anywhere; 0 for `SELECT 1`."""
    output_names: tuple[str, ...] = ()
    """The names of the output columns, in order: the alias, the column's name, or the expression's text."""
    unlinked: tuple[str, ...] = ()
    """The sources that make `cartesian` true, by the names they have in FROM."""
    join_columns: tuple[tuple[tuple[str, str], tuple[str, str]], ...] = ()
    """Pairs of real (table, column) that an equality links across two sources, anywhere."""

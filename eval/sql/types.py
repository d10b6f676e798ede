"""The values that `eval.sql` returns: a parsed query, the guard's verdict, references and facts.

A text is parsed once (`ParsedQuery`), and guard, references and facts all read that tree.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from eval.schema import Dialect
from eval.statement import ReadStatement

if TYPE_CHECKING:
    from sqlglot import exp


@dataclass(frozen=True, slots=True)
class ParsedQuery:
    """The result of one parse. `parse` never raises: a text that does not parse carries `error`."""

    text: str
    dialect: Dialect
    tree: exp.Expression | None
    """The syntax tree when the text is exactly one statement, else None. Treat as read-only; copy to rewrite."""
    error: str | None = None
    """Why there is no tree: empty, syntax error (with position), several statements, nested too deeply."""
    generated: bool = field(default=False, compare=False)
    """Whether the text was generated from the tree."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """The guard's decision. Exactly one of `statement` and `reason` is set."""

    allowed: bool
    reason: str | None
    """For the user: what was refused and why ("calls load_extension, which is not on the list of ...")."""
    statement: ReadStatement | None


PhantomKind = Literal["table", "column", "function", "ambiguous"]


@dataclass(frozen=True, slots=True)
class Phantom:
    """A name in the query that the database does not have (or, when `ambiguous`, has more than once)."""

    kind: PhantomKind
    name: str
    """As written, with its qualifier if it had one (`o.totl`)."""
    nearest: tuple[str, ...] = ()
    """Up to three real names, nearest first. For `ambiguous`, the tables that share the name. For a function called
    with the wrong number of arguments, its correct form (`ROUND(value[, digits])`)."""

    @property
    def text(self) -> str:
        """`column totl (nearest: total)`."""
        return f"{self.kind} {self.name}" + (f" (nearest: {', '.join(self.nearest)})" if self.nearest else "")


@dataclass(frozen=True, slots=True)
class References:
    """The names that a query refers to, resolved scope by scope against a schema."""

    tables: tuple[str, ...] = ()
    """Real tables and views used, in order of first use, with their names in the schema."""
    columns: tuple[tuple[str, str], ...] = ()
    """Real (table, column) pairs used, in order of first use, with their names in the schema."""
    functions: tuple[str, ...] = ()
    phantoms: tuple[Phantom, ...] = ()

    def named(self, kind: PhantomKind) -> tuple[Phantom, ...]:
        return tuple(p for p in self.phantoms if p.kind == kind)


@dataclass(frozen=True, slots=True)
class Constant:
    """A constant of the query with the column it is compared with, if there is one."""

    value: str
    is_string: bool
    table: str | None = None
    column: str | None = None
    operator: str | None = None
    """`=`, `<>`, `<`, `<=`, `>`, `>=`, `like`, `in`, `between`, or None outside a comparison."""


@dataclass(frozen=True, slots=True)
class QueryFacts:
    """The form of a query as a sign of its intent. Fields describe the outermost query unless they say otherwise."""

    projection: tuple[str, ...] = ()
    """Output column names or expressions as SQL text, in order; `*` stays `*`."""
    projects_star: bool = False
    aggregates: tuple[str, ...] = ()
    """Names of all aggregate functions in the query, in lower case, e.g. `count`, `sum`; with repeats."""
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
    """`union`, `union all`, `intersect`, `except`, at any level."""
    subqueries: int = 0
    joins: int = 0
    outer_joins: int = 0
    cartesian: bool = False
    """Whether a source of some FROM has no condition that links it to the others. A CROSS JOIN to a single-row source,
    such as a scalar aggregate, does not count."""
    window_functions: tuple[str, ...] = ()
    negations: int = 0
    """NOT, <>, NOT IN, NOT LIKE, NOT EXISTS, EXCEPT, IS NULL after an outer join."""
    literals: tuple[Constant, ...] = ()
    from_tables: int = 0
    """Base tables and views named at any level; 0 for `SELECT 1`."""
    unlinked: tuple[str, ...] = ()
    """The sources that make `cartesian` true, with their names in FROM."""
    join_columns: tuple[tuple[tuple[str, str], tuple[str, str]], ...] = ()
    """Pairs of real (table, column) that an equality links across two sources, at any level."""

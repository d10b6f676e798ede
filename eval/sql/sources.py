"""The sources of a FROM clause with their columns, and the scopes in which names are looked up.

`Output` is one column that a query or table offers, with the real column it comes from. `Source` is one named item in
FROM. `Scope` holds the sources of one SELECT and refers to its outer scope.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from sqlglot import exp

from eval.schema import Dialect, Table

Origin = tuple[str, str]
"""(table, column) with their names in the schema."""

ROWID = frozenset({"rowid", "_rowid_", "oid"})
_HIDDEN: dict[Dialect, frozenset[str]] = {
    "sqlite": ROWID,
    "postgres": frozenset({"ctid", "xmin", "xmax", "cmin", "cmax", "tableoid"}),
    "duckdb": frozenset({"rowid"}),
    "clickhouse": frozenset({"_part", "_partition_id", "_table"}),
}


@dataclass(frozen=True, slots=True)
class Output:
    """One output column. `name` is None when the engine generates a name that no query refers to."""

    name: str | None
    origin: Origin | None = None


@dataclass(slots=True)
class Relation:
    """The columns that a query, table or function offers; `open` when some of them are not known."""

    outputs: list[Output]
    open: bool = False
    single_row: bool = False
    table: Table | None = None
    name: str | None = None
    """The table's name when no schema says more."""


@dataclass(slots=True)
class Source:
    """One source of a FROM clause, with the name under which it is visible."""

    name: str
    relation: Relation
    dialect: Dialect
    merged: frozenset[str] = frozenset()
    """Columns that USING or NATURAL merges with a source to the left: one name, not two."""
    node: exp.Expr | None = None
    joined_naturally: bool = False
    """Joined by NATURAL to sources whose columns are not known."""
    columns: dict[str, list[Output]] = field(init=False)

    def __post_init__(self) -> None:
        self.columns = {}
        for output in self.relation.outputs:
            if output.name is not None:
                self.columns.setdefault(output.name.casefold(), []).append(output)

    def find(self, column: exp.Identifier) -> list[Output]:
        """The outputs with that name; PostgreSQL distinguishes `"Name"` from `name`."""
        key = column.name.casefold()
        outputs = self.columns.get(key, [])
        if not outputs and "(" in key:
            outputs = self.columns.get("".join(key.split()), [])
        if self.dialect == "postgres":
            name = folded(column, self.dialect)
            outputs = [output for output in outputs if output.name == name]
        return outputs

    def hides(self, column: str) -> Output | None:
        """A column that every base table has without declaring it."""
        table = self.relation.table
        name = column.casefold()
        if table is None or table.kind == "view" or name not in _HIDDEN.get(self.dialect, ()):
            return None
        return Output(name, (table.name, name))


@dataclass(slots=True)
class Scope:
    """The names visible at one place of a SELECT."""

    sources: list[Source]
    outer: Scope | None = None
    aliases: dict[str, Output] = field(default_factory=dict)
    """Names of the SELECT list that the current clause can see."""
    conditions: list[exp.Expr] = field(default_factory=list)
    """ON clauses that are resolved once all sources are known."""

    def outwards(self) -> Iterator[Scope]:
        """This scope, then those around it."""
        scope: Scope | None = self
        while scope is not None:
            yield scope
            scope = scope.outer

    def named(self, name: exp.Expr, dialect: Dialect) -> list[Source]:
        wanted = folded(name, dialect)
        return [s for s in self.sources if s.name == wanted or (dialect != "postgres" and same(s.name, wanted))]


def folded(identifier: exp.Expr, dialect: Dialect) -> str:
    """A name as the engine compares it. PostgreSQL folds unquoted names here; for the other engines, case is ignored
    later."""
    name = identifier.name
    quoted = isinstance(identifier, exp.Identifier) and identifier.args.get("quoted")
    return name.lower() if dialect == "postgres" and not quoted else name


def same(left: str, right: str) -> bool:
    return left.casefold() == right.casefold()

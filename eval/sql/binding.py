"""What name resolution gives (`Binding`), and the CTEs that it sees on the way."""

from __future__ import annotations

from dataclasses import dataclass, field

from sqlglot import exp

from eval.sql.lookup import Found
from eval.sql.sources import Origin, Relation, Scope


@dataclass(frozen=True, slots=True)
class Unknown:
    """A name that does not exist (`table`, `column`) or that matches more than one column (`ambiguous`)."""

    kind: str
    name: str
    qualifier: str | None
    scope: Scope
    holders: tuple[str, ...] = ()
    """For `ambiguous`, the sources that share the name."""


@dataclass(frozen=True, slots=True)
class From:
    """The sources of one SELECT, for facts about how they are joined."""

    select: exp.Select
    scope: Scope


@dataclass(slots=True)
class Binding:
    """What the names of one tree refer to."""

    columns: dict[int, Found] = field(default_factory=dict)
    """By `id` of the column node."""
    tables: dict[str, None] = field(default_factory=dict)
    """In order of first use, as `used`."""
    used: dict[Origin, None] = field(default_factory=dict)
    unknown: list[Unknown] = field(default_factory=list)
    froms: list[From] = field(default_factory=list)


@dataclass(slots=True)
class Cte:
    node: exp.CTE
    ctes: Ctes | None
    relation: Relation | None = None
    busy: bool = False


@dataclass(slots=True)
class Ctes:
    """The CTEs visible at one point of the query, innermost first."""

    named: dict[str, Cte]
    outer: Ctes | None = None

    def find(self, name: str) -> Cte | None:
        level: Ctes | None = self
        while level is not None:
            cte = level.named.get(name.casefold())
            if cte is not None:
                return cte
            level = level.outer
        return None

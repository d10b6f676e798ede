"""Code shared by the catalogues: it assembles tables from the rows of several queries, counts rows, and reads grants.

In: drafts filled row by row. Out: `Table`s, and one statement that counts many tables at once.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from eval.engines import ENGINES
from eval.schema import Column, Dialect, ForeignKey, Index, Table

COUNT_BELOW_BYTES = 16 * 1024 * 1024
"""Tables of at most this size are counted where the engine only estimates its rows."""
_COUNT_AT_MOST = 500

Rows = Callable[[str], list[tuple[Any, ...]]]
"""Runs one of our own statements and returns all its rows."""


@dataclass
class Draft:
    """A table under construction."""

    name: str
    namespace: str | None = None
    """Set only when the bare name does not reach the table."""
    located: tuple[str, ...] = ()
    """The full name, part by part, for our own statements."""
    kind: Literal["table", "view"] = "table"
    comment: str | None = None
    row_count: int | None = None
    estimated: bool = False
    count_exactly: bool = False
    """True when counting is cheap."""
    columns: list[Column] = field(default_factory=list)
    primary_key: tuple[str, ...] = ()
    foreign_keys: list[ForeignKey] = field(default_factory=list)
    indexes: list[Index] = field(default_factory=list)

    def table(self) -> Table:
        keyed = set(self.primary_key)
        return Table(
            name=self.name,
            columns=tuple(
                replace(c, nullable=c.nullable and c.name not in keyed, primary_key=c.name in keyed)
                for c in self.columns
            ),
            kind=self.kind,
            namespace=self.namespace,
            primary_key=self.primary_key,
            foreign_keys=tuple(self.foreign_keys),
            indexes=tuple(self.indexes),
            row_count=self.row_count,
            row_count_estimated=self.estimated and self.row_count is not None,
            comment=self.comment or None,
        )


def grouped(rows: Iterable[Sequence[Any]]) -> dict[tuple[str, Any], list[tuple[Any, ...]]]:
    """The rest of the rows by their first two cells: a table and its key or index, of which each row has a column."""
    groups: dict[tuple[str, Any], list[tuple[Any, ...]]] = defaultdict(list)
    for table, part, *rest in rows:
        groups[table, part].append(tuple(rest))
    return groups


def quoted(parts: Sequence[str], dialect: Dialect) -> str:
    """A name as the dialect quotes it, part by part."""
    return ".".join(map(ENGINES[dialect].quoted, parts))


def quoted_table(table: Table, dialect: Dialect) -> str:
    """A table's name with its namespace, if it has one."""
    return quoted((table.namespace, table.name) if table.namespace else (table.name,), dialect)


def count_statement(drafts: Sequence[Draft], dialect: Dialect) -> str:
    """One statement that returns a row (position, rows) for each table."""
    return " UNION ALL ".join(f"SELECT {i}, count(*) FROM {quoted(d.located, dialect)}" for i, d in enumerate(drafts))


def count_small(drafts: Iterable[Draft], count: Rows, dialect: Dialect) -> None:
    """Count the tables that are marked for it in one statement; where that takes too long, the estimates stay."""
    small = [draft for draft in drafts if draft.count_exactly][:_COUNT_AT_MOST]
    if small:
        keep_counts(small, count(count_statement(small, dialect)))


def keep_counts(drafts: Sequence[Draft], rows: Sequence[Sequence[int]]) -> None:
    for position, count in rows:
        drafts[position].row_count = count
        drafts[position].estimated = False


def granted_writes(grants: Iterable[str], pattern: re.Pattern[str], writes: Collection[str]) -> tuple[str, ...]:
    """What an account may do beyond reading, from the lines of SHOW GRANTS: the privileges among `writes`, one text for
    each place. `pattern` finds the privileges and their place in a line, the rest of which may contain a password hash.
    """
    privileges = []
    for line in grants:
        if match := pattern.match(line):
            granted = {word.strip().upper() for word in re.sub(r"\([^)]*\)", "", match[1]).split(",")}
            if present := [name for name in writes if name in granted]:
                privileges.append(f"has {', '.join(present)} on {match[2].replace('`', '')}")
    return tuple(privileges)

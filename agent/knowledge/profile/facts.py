"""What a profile knows, as plain frozen values: tables, columns, keys, patterns and pitfalls.

In: nothing. Out: the types that cross this room's door, and their form as JSON. Every text that came out of a row is
capped at `CELL` characters and stands on one line.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal

from eval.schema import Dialect

CELL = 60
"""Characters kept of one stored value."""
NO_TIME = "no time"
"""`TableFacts.how` of a table that the deadline left out."""


@dataclass(frozen=True, slots=True)
class Counted:
    """A stored value and how many of the rows looked at hold it."""

    value: str
    rows: int


@dataclass(frozen=True, slots=True)
class Format:
    """How the values of a text column are written (`date as MM/DD/YYYY`)."""

    name: str
    share: float
    """Of the values that are not NULL, 0..1."""
    example: str


@dataclass(frozen=True, slots=True)
class ColumnFacts:
    table: str
    column: str
    type: str
    rows: int
    """Rows looked at."""
    nulls: int
    distinct: int
    """Among the rows looked at."""
    key: bool = False
    """Part of a primary or foreign key: a name for a row, not a quantity."""
    samples: tuple[str, ...] = ()
    """Values that occur, the most frequent first."""
    values: tuple[Counted, ...] = ()
    """All values with their rows, where there are few enough to list."""
    kind: Literal["number", "date", "text", "other", "empty"] = "other"
    low: str | None = None
    high: str | None = None
    mean: float | None = None
    longest: int = 0
    """Characters of the longest text, up to where reading cut it."""
    whole: bool = False
    """True when `low`, `high` and `nulls` are of the whole table, not of a sample."""
    formats: tuple[Format, ...] = ()
    null_likes: tuple[Counted, ...] = ()
    """Values that probably mean that there is none (`N/A`, an empty text, -999)."""


@dataclass(frozen=True, slots=True)
class TableFacts:
    name: str
    kind: Literal["table", "view"]
    rows: int | None
    estimated: bool
    columns: int
    looked_at: int
    """Rows read for this profile."""
    sampled: bool
    """True when those were not all rows."""
    how: str
    """How the rows were chosen: all rows, ranges of rows, the engine's sample, the first rows; not read (they may not
    be, or cannot be), no time (the next profile goes on here)."""
    sign: str = ""
    """Of the structure and the rows looked at; equal signs mean that this table's facts still hold."""


@dataclass(frozen=True, slots=True)
class KeyFacts:
    table: str
    columns: tuple[str, ...]
    ref_table: str
    ref_columns: tuple[str, ...]
    inferred: bool
    cardinality: Literal["1:1", "n:1"]
    checked: int | None = None
    """Rows with a key that were looked up; None where that was not done or took too long."""
    orphans: int = 0
    """Of those, rows whose key finds nothing."""


@dataclass(frozen=True, slots=True)
class Pattern:
    """A shape in the data: a hierarchy, a period with a beginning and an end, a column that depends on another."""

    kind: Literal["hierarchy", "levels", "period", "series"]
    table: str
    columns: tuple[str, ...]
    text: str


@dataclass(frozen=True, slots=True)
class Pitfall:
    """What a query on this database can get wrong."""

    table: str
    column: str
    text: str


@dataclass(frozen=True, slots=True)
class Profile:
    dialect: Dialect
    tables: tuple[TableFacts, ...]
    columns: tuple[ColumnFacts, ...]
    keys: tuple[KeyFacts, ...]
    patterns: tuple[Pattern, ...]
    guidance: tuple[Pitfall, ...]
    seconds: float = 0.0
    """What computing it took."""

    @property
    def complete(self) -> bool:
        """False when time ran out before every table had been read."""
        return all(t.how != NO_TIME for t in self.tables)

    def as_json(self) -> dict[str, Any]:
        """A dict of JSON values."""
        return asdict(self)


def profile_from_json(stored: Any) -> Profile:
    """The profile that `as_json` wrote. Raises KeyError, TypeError or ValueError for anything else."""

    def counted(rows: Any) -> tuple[Counted, ...]:
        return tuple(Counted(**row) for row in rows)

    columns = tuple(
        ColumnFacts(
            **{
                **c,
                "samples": tuple(c["samples"]),
                "values": counted(c["values"]),
                "formats": tuple(Format(**f) for f in c["formats"]),
                "null_likes": counted(c["null_likes"]),
            }
        )
        for c in stored["columns"]
    )
    keys = tuple(
        KeyFacts(**{**k, "columns": tuple(k["columns"]), "ref_columns": tuple(k["ref_columns"])})
        for k in stored["keys"]
    )
    return Profile(
        dialect=stored["dialect"],
        tables=tuple(TableFacts(**t) for t in stored["tables"]),
        columns=columns,
        keys=keys,
        patterns=tuple(Pattern(**{**p, "columns": tuple(p["columns"])}) for p in stored["patterns"]),
        guidance=tuple(Pitfall(**p) for p in stored["guidance"]),
        seconds=float(stored["seconds"]),
    )

"""The content of a profile as frozen values: tables, columns, keys, patterns and pitfalls.

In: nothing. Out: the package's public types, and their form as JSON. Every text from a row is cut to `CELL` characters
and put on one line.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from functools import cache
from typing import Any, Literal

from pydantic import TypeAdapter

from eval.schema import Dialect

CELL = 60
"""Maximum characters kept of one stored value."""
NO_TIME = "no time"
"""`TableFacts.how` of a table that was not read because of the deadline."""


@dataclass(frozen=True, slots=True)
class Counted:
    """A stored value and the number of examined rows that hold it."""

    value: str
    rows: int


@dataclass(frozen=True, slots=True)
class Format:
    """How the values of a text column are written (`date as MM/DD/YYYY`)."""

    name: str
    share: float
    """Share of the non-NULL values, 0..1."""
    example: str


@dataclass(frozen=True, slots=True)
class ColumnFacts:
    table: str
    column: str
    type: str
    rows: int
    """Number of rows examined."""
    nulls: int
    distinct: int
    """Among the rows examined."""
    key: bool = False
    """Part of a primary or foreign key: an identifier, not a quantity."""
    samples: tuple[str, ...] = ()
    """Example values, the most frequent first."""
    values: tuple[Counted, ...] = ()
    """All values with their row counts, if there are few enough to list."""
    kind: Literal["number", "date", "text", "other", "empty"] = "other"
    low: str | None = None
    high: str | None = None
    mean: float | None = None
    longest: int = 0
    """Length of the longest text in characters, as far as it was read."""
    whole: bool = False
    """True when `low`, `high` and `nulls` describe the whole table, not a sample."""
    formats: tuple[Format, ...] = ()
    null_likes: tuple[Counted, ...] = ()
    """Values that probably stand for a missing value (`N/A`, an empty text, -999)."""


@dataclass(frozen=True, slots=True)
class TableFacts:
    name: str
    kind: Literal["table", "view"]
    rows: int | None
    estimated: bool
    columns: int
    looked_at: int
    """Number of rows read for this profile."""
    sampled: bool
    """True when not all rows were read."""
    how: str
    """How the rows were chosen: all rows, ranges of rows, the engine's sample, the first rows; not read (not allowed or
    not possible), no time (the next profile continues here)."""
    sign: str = ""
    """Hash of the structure and the rows examined; an equal hash means that this table's facts are still valid."""


@dataclass(frozen=True, slots=True)
class KeyFacts:
    table: str
    columns: tuple[str, ...]
    ref_table: str
    ref_columns: tuple[str, ...]
    inferred: bool
    cardinality: Literal["1:1", "n:1"]
    checked: int | None = None
    """Number of rows with a key that were looked up; None if this was not done or took too long."""
    orphans: int = 0
    """Number of those rows whose key has no match."""


@dataclass(frozen=True, slots=True)
class Pattern:
    """A pattern in the data: a hierarchy, a period with a start and an end, a column that depends on another."""

    kind: Literal["hierarchy", "levels", "period", "series"]
    table: str
    columns: tuple[str, ...]
    text: str


@dataclass(frozen=True, slots=True)
class Pitfall:
    """A mistake that a query on this database can make."""

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
    """Seconds that the computation took."""

    @property
    def complete(self) -> bool:
        """False when time ran out before every table had been read."""
        return all(t.how != NO_TIME for t in self.tables)

    def as_json(self) -> dict[str, Any]:
        """A dict of JSON values."""
        return asdict(self)


@cache
def profile_reader() -> TypeAdapter[Profile]:
    """What reads a profile that `as_json` wrote; it raises ValueError for anything else."""
    return TypeAdapter(Profile)

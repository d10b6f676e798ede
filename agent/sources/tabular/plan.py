"""What is done with a file's columns (the plan), and what came of it (the findings). Both are JSON.

A plan says what people can decide: what a column holds, its decimal mark, the order of its dates. What a person has
decided is followed whatever the values are; what was only proposed is decided again for a file that it no longer fits.
"""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

Kind = Literal["text", "number", "date", "truth", "as it is", "left out"]
"""`as it is`: a column that came with a type (Parquet)."""
Mark = Literal[".", ","]
Order = Literal["dmy", "mdy"]
MOST_SHOWN = 20
"""Misfits and left out rows that are listed; all are counted."""


class _Value(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")


class ColumnPlan(_Value):
    """How a column is read. A field that is None is decided by the column's values."""

    header: str = Field(max_length=10_000)
    """As the file has it."""
    kind: Kind | None = None
    decimal: Mark | None = None
    order: Order | None = None
    """Which comes first in a date written in figures alone; a year of four digits in front is always the year."""
    unit: str | None = Field(None, max_length=100)
    """What the numbers are of (`£`, `%`, `kg`); for people."""
    fold: bool = True
    """Whether spellings that differ in case and blanks alone become the most frequent one."""
    fill: bool | None = None
    """Whether a blank cell has the value above it: groups that are written once."""
    decided: bool = False
    """Whether a person has decided it."""


class TablePlan(_Value):
    table: str = Field(max_length=100)
    """Name of the table."""
    columns: tuple[ColumnPlan, ...] = Field(max_length=20_000)
    repeats: Literal["keep", "leave out"] | None = None
    """What is done with rows that are the same in every column as an earlier one; None: they are left out where a key
    shows that they are no rows of their own."""
    totals: Literal["keep", "leave out"] = "leave out"
    """What is done with rows that sum up others, notes below the table and headers repeated in it."""
    forms: Literal["together", "apart"] | None = None
    """Whether files or sheets of the same columns are one table; None where no other has these columns."""
    periods: Literal["rows", "columns"] | None = None
    """Whether columns that are periods (`Jan`, `Feb`, …) are read as rows; None where there are none."""


class Row(_Value):
    """A row of the file, counted as a spreadsheet does, and what about it is told."""

    row: int
    text: str


class ColumnFound(_Value):
    name: str
    """Of the column in the table; empty for one that was left out."""
    type: str
    """In the table, as the engine names it."""
    line: str
    """How it was read, in a line: `£ → number, 3,000 of 3,000`."""
    filled: int
    read: int
    """Of those filled."""
    missing: int = 0
    """Cells such as N/A."""
    misfits: tuple[Row, ...] = ()
    """Some of the cells that do not fit; they are NULL in the table."""
    folded: int = 0
    """Cells whose spelling was changed to that of others."""
    doubt: str | None = None
    """What could also be meant."""
    examples: tuple[str, ...] = ()
    """A few cells as written."""
    changed: bool = False
    """Whether the table holds something else than was written."""


class TableFound(_Value):
    rows: int
    columns: tuple[ColumnFound, ...]
    """In the order of the plan's."""
    left_out: tuple[Row, ...] = ()
    left_out_count: int = 0
    repeats: int = 0
    """Rows that are the same as an earlier one."""
    repeated_keys: tuple[str, ...] = ()
    """Columns that look like a key and hold some values twice or more."""
    notes: tuple[str, ...] = ()
    """What else is told of the file: its encoding, title rows."""
    parts: tuple[str, ...] = ()
    """The files or sheets that are read as this one table."""


class TableReading(_Value):
    plan: TablePlan
    found: TableFound


class Plans(_Value):
    """What is saved beside a file, and what a person sends back."""

    tables: tuple[TablePlan, ...] = Field((), max_length=2000)

    def as_reading(self) -> Reading:
        """A reading of which only the plan counts."""
        return Reading(tables=tuple(TableReading(plan=p, found=TableFound(rows=0, columns=())) for p in self.tables))


class Reading(_Value):
    """How the files of one database were read."""

    tables: tuple[TableReading, ...] = Field((), max_length=2000)

    def plan_of(self, table: str) -> TablePlan | None:
        return next((t.plan for t in self.tables if t.plan.table == table), None)

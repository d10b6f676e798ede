"""How a demo database is described: tables as `eval.schema` values plus what a schema alone does not say.

In: nothing. Out: `TableDef`, from which `eval.tasks.ddl` renders the CREATE statements of each engine, and a handful
of one-line column makers, so that a table reads as a list of columns. Column types are written once, in neutral SQL
(`DECIMAL(12, 2)`, `BOOLEAN`); `eval.tasks.ddl` knows what each engine calls them.
"""

from __future__ import annotations

from dataclasses import dataclass

from eval.schema import Column, ForeignKey, Index, Table

Cell = None | int | float | str
"""A generated value. Dates and moments are ISO text, flags are 0 or 1, money is a float on the quarter grid."""

Row = tuple[Cell, ...]


@dataclass(frozen=True, slots=True)
class TableDef:
    """A table to build: its structure and its CHECK conditions, as neutral SQL."""

    table: Table
    checks: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        return self.table.name


def define(
    name: str,
    comment: str,
    columns: tuple[Column, ...],
    *,
    key: tuple[str, ...],
    refs: tuple[ForeignKey, ...] = (),
    unique: tuple[tuple[str, ...], ...] = (),
    indexes: tuple[tuple[str, ...], ...] = (),
    checks: tuple[str, ...] = (),
) -> TableDef:
    """A table definition; index names follow from the table's and the columns' names."""
    made = [Index(f"ux_{name}_{'_'.join(c)}", c, unique=True) for c in unique]
    made += [Index(f"ix_{name}_{'_'.join(c)}", c) for c in indexes]
    marked = tuple(
        Column(c.name, c.type, c.nullable, c.name in key, c.default, c.comment) if c.name in key else c for c in columns
    )
    table = Table(name, marked, primary_key=key, foreign_keys=refs, indexes=tuple(made), comment=comment)
    return TableDef(table, checks)


def ref(column: str, table: str, target: str | None = None) -> ForeignKey:
    """`column` refers to `table.target` (of the same name unless said otherwise)."""
    return ForeignKey((column,), table, (target or column,))


def whole(name: str, comment: str, *, null: bool = False) -> Column:
    return Column(name, "INTEGER", null, comment=comment)


def money(name: str, comment: str, *, null: bool = False) -> Column:
    """An amount in currency units. All amounts are multiples of 0.25, which a binary float holds exactly: sums are
    exact on every engine, SQLite's floats included, and need no rounding."""
    return Column(name, "DECIMAL(12, 2)", null, comment=comment)


def text(name: str, length: int, comment: str, *, null: bool = False) -> Column:
    return Column(name, f"VARCHAR({length})", null, comment=comment)


def day(name: str, comment: str, *, null: bool = False) -> Column:
    return Column(name, "DATE", null, comment=comment)


def moment(name: str, comment: str, *, null: bool = False) -> Column:
    """A date and time to the second, without a time zone."""
    return Column(name, "TIMESTAMP", null, comment=comment)


def flag(name: str, comment: str, *, null: bool = False) -> Column:
    return Column(name, "BOOLEAN", null, comment=comment)

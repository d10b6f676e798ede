"""Column and table makers for the demo databases, so that a table reads as a list of columns.

Column types are neutral SQL (`DECIMAL(12, 2)`, `BOOLEAN`); `eval.tasks.ddl` translates them for each engine.
"""

from __future__ import annotations

from eval.schema import Column, ForeignKey, Index, Table
from eval.tasks.archive import Cell, Row, TableDef

__all__ = ["Cell", "Row", "TableDef", "day", "define", "flag", "moment", "money", "ref", "text", "whole"]


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
    """`column` refers to `table.target` (the same name unless stated otherwise)."""
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

"""What every writer of a demo keeps to: one kind of error, and no table of the same name is touched.

A leaf of `eval.tasks.load`, for its writers of single engines.
"""

from __future__ import annotations

from collections.abc import Iterable

from eval.databases.types import DatabaseError
from eval.tasks.archive import Row, TableDef

Filled = Iterable[tuple[TableDef, list[Row]]]
"""Tables with their rows, ordered so that the target of every foreign key comes first."""


class LoadError(DatabaseError):
    """The demo could not be written; the message says what to do and holds no credentials."""


def refuse_existing(existing: Iterable[str], tables: tuple[TableDef, ...]) -> None:
    """Raises LoadError where a table of the demo exists already."""
    clash = sorted({name.lower() for name in existing} & {table.name for table in tables})
    if clash:
        raise LoadError(f"{', '.join(clash[:3])} exists already; load the demo into an empty database")

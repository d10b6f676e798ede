"""A structure without rows as a database: a file of CREATE TABLE statements, or another database's tables alone.

In: a `.sql` or `.json` file (as A2A takes a schema) or an open database, and a dialect. Out: a `ScratchDatabase`, on
which SQL is written and checked, and not executed. Raises DatabaseError.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from agent.sources.structure import read_structure
from eval.databases.base import Database
from eval.databases.scratch import ScratchDatabase, scratch_database
from eval.databases.types import DatabaseError
from eval.schema import Dialect


def structure_database(path: Path, dialect: Dialect) -> ScratchDatabase:
    """The tables that the file creates, in a dialect."""
    try:
        schema = read_structure(path.read_text(encoding="utf-8-sig"), dialect)
    except (OSError, ValueError) as error:
        raise DatabaseError(f"{path.name}: {error}") from None
    return scratch_database(schema, path.stem, "process")


def written_for(database: Database, dialect: Dialect) -> ScratchDatabase:
    """The tables of a database, for SQL in a dialect that has no engine here; its rows are not looked at."""
    return scratch_database(replace(database.schema(), dialect=dialect), database.name, "process")

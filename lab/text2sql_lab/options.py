"""Options that several commands of the lab take, and the databases that two of them name."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

from eval.collection import Collection
from eval.databases import Database, open_database
from eval.errors import InputError

Questions = Annotated[Path, typer.Option(metavar="FILE", help="Lines {id, db, question, gold_sql}.")]
Db = Annotated[str | None, typer.Option(metavar="URL|FILE", help="The database of every question.")]
Databases = Annotated[
    str | None, typer.Option(metavar="DIR|URL", help="Folder of DB.sqlite files, or a URL with {db} in it.")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object instead of text.")]


def databases_named(db: str | None, databases: str | None) -> Callable[[str], Database]:
    """The databases by name; `db` is the one database of every name. Raises InputError unless exactly one of both is
    given, and DatabaseError."""
    if bool(db) == bool(databases):
        raise InputError("Name the database by --db or --databases.")
    if databases:
        return Collection(databases).database
    database = open_database(db or "")
    return lambda _: database

"""The databases that the options `--db` and `--databases` name."""

from __future__ import annotations

from collections.abc import Callable

from eval.collection import Collection
from eval.databases import Database, open_database
from eval.errors import InputError


def databases_named(db: str | None, databases: str | None) -> Callable[[str], Database]:
    """The databases by name; `db` is the one database of every name. Raises InputError unless exactly one of both is
    given, and DatabaseError."""
    if bool(db) == bool(databases):
        raise InputError("Name the database by --db or --databases.")
    if databases:
        return Collection(databases).database
    database = open_database(db or "")
    return lambda _: database

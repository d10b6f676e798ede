"""A collection of databases: a folder of `{db}.sqlite` files, or a URL that contains `{db}`.

In: the value of `--databases`, then a database's name from a line of input. Out: the opened `Database`, kept open while
it is among the most recently used. A name cannot lead out of the folder.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from pathlib import Path
from urllib.parse import quote

from eval.databases import Database, DatabaseNotFound, open_database
from eval.databases.urls import is_plain_name

KEPT_OPEN = 16
"""Databases held open at once; batch files often name the same one many times in a row."""


class Collection:
    """The databases under one folder or URL template. Safe to use from several threads."""

    def __init__(self, place: str) -> None:
        self._place = place
        self._open: OrderedDict[str, Database] = OrderedDict()
        self._lock = threading.Lock()

    def database(self, name: str) -> Database:
        """Open the database with that name, or return the open one. Raises DatabaseError."""
        with self._lock:
            if name in self._open:
                self._open.move_to_end(name)
                return self._open[name]
            database = self._open[name] = open_database(self._target(name))
            while len(self._open) > KEPT_OPEN:
                self._open.popitem(last=False)  # a caller that still uses it keeps it alive
            return database

    def __contains__(self, name: str) -> bool:
        """Whether the database with that name is open."""
        return name in self._open

    def close(self) -> None:
        """Close every database that is open."""
        with self._lock:
            while self._open:
                self._open.popitem()[1].close()

    def _target(self, name: str) -> str | Path:
        if "://" in self._place:
            return self._place.replace("{db}", quote(name, safe=""))
        if not is_plain_name(name):
            raise DatabaseNotFound(f"{name!r} cannot be the name of a database here")
        return Path(self._place) / f"{name}.sqlite"

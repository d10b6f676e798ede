"""Resolves names: a preset, a path or a URL → an open database; settings → a run's context.

Databases stay open for the life of the process, so later questions need not open them. Each name has a lock of its
own: a slow import or build of one database holds up nobody who asks another. Data files are looked at again for each
question; a changed one is imported again, and questions that run meanwhile end on the copy that they began with.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from agent.config import DatabaseSettings, settings
from agent.sources.file_kinds import STRUCTURE, is_data
from eval.collection import Collection
from eval.databases import open_database
from eval.databases.base import Database
from eval.databases.types import DatabaseError, DatabaseNotFound
from eval.engines import dialect_named
from eval.schema import WRITTEN_DIALECTS, Dialect
from eval.tasks import DEMOS, demo_ids, demo_path

if TYPE_CHECKING:
    from agent.sources.files import Review
    from eval.tasks.load import Progress

DEFAULT_DEMO = "shop"


@dataclass(slots=True)
class _Place:
    """What one name stands for."""

    lock: threading.Lock = field(default_factory=threading.Lock)
    database: Database | None = None
    state: str | None = None
    """The state of the data files that were imported; None for every other database."""
    previous: Database | None = None
    """The import before this one, kept open for the questions that began on it."""


_places: dict[str, _Place] = {}
_places_lock = threading.Lock()


def resolve_database(
    target: str | None = None,
    config: DatabaseSettings | None = None,
    on_progress: Callable[[str], None] = lambda _: None,
    on_note: Callable[[str], None] = lambda _: None,
    *,
    whole: bool = False,
    review: Review | None = None,
) -> Database:
    """Open what a user names: a preset's id, a path or a URL; None means the configured database, else the demo.

    It shows what the person of the settings may see; with `whole`, everything, for a server that knows its clients.
    `on_progress` is called while a demo database is built, `on_note` when data files are imported, with what was
    decided; `review` may change it. Raises DatabaseError.
    """
    config = config or settings().database
    name = target or config.url or config.path or DEFAULT_DEMO
    dialect, kind = _known_dialect(config.dialect), _kind_of_files(name)
    written = dialect in WRITTEN_DIALECTS
    with _places_lock:
        place = _places.setdefault(f"{name} for {dialect}" if written or kind == "structure" else name, _Place())
    with place.lock:
        state = None
        if kind is not None:
            from agent.sources.files import files_state

            state = files_state(Path(name))
        if place.database is None or state != place.state:
            database = _opened(name, kind, dialect, config, on_progress, on_note, review)
            if written and database.executes:
                from agent.sources.structure import written_for

                database = written_for(database, dialect)
            if place.previous is not None:
                place.previous.close()
            place.previous, place.database, place.state = place.database, database, state
        database = place.database
    return database if whole else as_person(database, config)


def as_person(database: Database, config: DatabaseSettings) -> Database:
    """The database as the person of the settings sees it. Raises DatabaseError."""
    if not config.policies and not config.audit_log:
        return database
    from agent.access import BadPolicies, Person, access_of, audit_of, personal

    try:
        access = access_of(config)
    except BadPolicies as error:
        raise DatabaseError(str(error)) from error
    person = access.person(config.person) if access else Person(config.person)
    return personal(database, person, access, audit_of(config))


def _known_dialect(name: str) -> Dialect:
    """The dialect of a setting or an option. Raises DatabaseError."""
    try:
        return dialect_named(name)
    except ValueError as error:
        raise DatabaseError(str(error)) from None


def _kind_of_files(name: str) -> Literal["structure", "data"] | None:
    """What is in the file, or the folder of files, of that name; None for the name of anything else."""
    path = Path(name)
    if name in demo_ids() or "://" in name or not path.exists():
        return None
    if path.suffix.lower() in STRUCTURE and path.is_file():
        return "structure"
    return "data" if is_data(path) else None


def _opened(
    name: str,
    kind: Literal["structure", "data"] | None,
    dialect: Dialect,
    config: DatabaseSettings,
    on_progress: Callable[[str], None],
    on_note: Callable[[str], None],
    review: Review | None,
) -> Database:
    if name in demo_ids():
        directory = Path(config.cache_dir) if config.cache_dir else None

        def report(step: Progress) -> None:
            count = "" if step.is_note else f" ({step.done} of {step.total} tables)"
            on_progress(f"building the demo database {name}: {step.message}{count}")

        database = open_database(demo_path(name, directory, report))
        database.name = name
        return database
    if "://" not in name and name != ":memory:" and not Path(name).exists() and not Path(name).suffix:
        presets = ", ".join(demo.id for demo in DEMOS)
        raise DatabaseNotFound(f"There is no file and no preset named {name!r}. Presets: {presets}.")
    if kind == "structure":
        from agent.sources.structure import structure_database

        return structure_database(Path(name), dialect)
    if kind == "data":
        from agent.sources.files import open_files

        return open_files(Path(name), config.cache_dir, on_note, review)
    if name == config.path and dialect == "duckdb" and "://" not in name:
        return open_database(f"duckdb:///{Path(name).absolute()}")
    return open_database(name)


@lru_cache(maxsize=16)
def written_database(place: str, name: str, dialect: str) -> Database:
    """The structure of one database of a collection, for SQL in a dialect that is not executed: `{place}/{name}.sql`,
    or the tables of the database itself. Raises DatabaseError."""
    from agent.sources.structure import structure_database, written_for

    wanted = _known_dialect(dialect)
    file = Path(place) / f"{name}.sql"
    if "://" not in place and Path(name).name == name and file.is_file():
        return structure_database(file, wanted)
    with closing(Collection(place)) as collection:
        return written_for(collection.database(name), wanted)


def close_all() -> None:
    """Close every kept database (at the end of a process, between tests)."""
    with _places_lock:
        places = list(_places.values())
        _places.clear()
    for place in places:
        with place.lock:
            for database in (place.database, place.previous):
                if database is not None:
                    database.close()
            place.database = place.previous = place.state = None

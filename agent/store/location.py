"""Where the state is kept: a private folder by default, or a PostgreSQL server.

In: settings. Out: a `Location`: the SQLAlchemy URL, a name for messages without credentials, and for SQLite the file,
which only this user can access (folder 0700, files 0600).
"""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass, field
from pathlib import Path

from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError

from agent.config import StateSettings
from agent.runtime.private_folder import PRIVATE_FILE, PRIVATE_FOLDER
from agent.store.store_errors import StateUnusable


@dataclass(frozen=True, slots=True)
class Location:
    url: URL = field(repr=False)
    """The URL for SQLAlchemy."""
    place: str
    """For messages and logs; holds no credentials."""
    folder: Path
    """Where files beside a SQLite state are kept (the key, threads)."""

    @property
    def sqlite(self) -> bool:
        return self.url.get_backend_name() == "sqlite"

    @property
    def postgres_uri(self) -> str:
        """The URI for psycopg; holds the password."""
        return self.url.set(drivername="postgresql").render_as_string(hide_password=False)


def state_folder(settings: StateSettings) -> Path:
    """The folder for state that outlives a process: TEXT2SQL_STATE_DIR, else the platform's folder for user state. Does
    not create it. Raises StateUnusable when none is set and the user has no home (a service account, for example).
    """
    if settings.folder:
        return Path(settings.folder).expanduser()
    try:
        if sys.platform == "win32":
            return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local") / "text2sql" / "state"
        if sys.platform == "darwin":
            return Path.home() / "Library" / "Application Support" / "text2sql"
        return Path(os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state") / "text2sql"
    except RuntimeError as error:
        raise StateUnusable("There is no home folder to keep the state in; set TEXT2SQL_STATE_DIR.") from error


def state_location(settings: StateSettings) -> Location:
    """Where runs, threads and feedback are kept. Raises StateUnusable for a URL that is neither SQLite's nor
    PostgreSQL's."""
    folder = state_folder(settings)
    if not settings.url:
        return _file(folder / "state.sqlite", folder)
    try:
        url = make_url(settings.url)
    except (ArgumentError, ValueError):  # the port is not a number
        raise StateUnusable("TEXT2SQL_STATE_URL is not a URL; it looks like postgresql://user@host/database.") from None
    kind = url.drivername.partition("+")[0]
    if kind == "sqlite":
        if not url.database or url.database == ":memory:":
            raise StateUnusable("TEXT2SQL_STATE_URL names no file; the state has to outlive the process.")
        path = Path(url.database)
        return _file(path, path.parent)
    if kind in ("postgresql", "postgres"):
        place = f"{url.host or 'localhost'}/{url.database or ''}"
        return Location(url.set(drivername="postgresql+psycopg"), place, folder)
    raise StateUnusable(f"TEXT2SQL_STATE_URL begins with {kind}://; the state is kept in sqlite:/// or postgresql://.")


def _file(path: Path, folder: Path) -> Location:
    path = path.expanduser().absolute()
    return Location(URL.create("sqlite", database=str(path)), str(path), folder)


def make_state_folder(folder: Path) -> None:
    """Create the folder for this user only, if it does not exist. An existing folder keeps its mode, because it may
    hold other files (`sqlite:////tmp/state.sqlite`). Raises StateUnusable."""
    try:
        folder.mkdir(mode=PRIVATE_FOLDER, parents=True, exist_ok=True)
    except OSError as error:
        raise StateUnusable(f"The folder for the state, {folder}, cannot be made: {error.strerror}.") from error


def private_file(path: Path) -> None:
    """Create an empty file for this user only, if it does not exist; SQLite gives its journals the same mode."""
    make_state_folder(path.parent)
    try:
        os.close(os.open(path, os.O_CREAT | os.O_RDWR, PRIVATE_FILE))
    except OSError as error:
        raise StateUnusable(f"The state file {path} cannot be opened for writing: {error.strerror}.") from error

"""The cache folder for built databases. A file appears in it complete or not at all.

A file is built in the same folder under a temporary name and renamed when it is complete, so a killed build leaves no
partial database. A lock file, which the operating system releases when its holder dies, keeps two processes from
building the same file at once.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

LOCK_SECONDS = 120.0
"""How long a process waits for another's build before it builds the file itself."""


def cache_folder(chosen: str | Path | None = None) -> Path:
    """The folder for caches: the chosen one, else TEXT2SQL_CACHE_DIR, else the platform's folder for user caches.

    Raises OSError when none is given and the user has no home directory (a service account, for example).
    """
    place = chosen or os.environ.get("TEXT2SQL_CACHE_DIR", "").strip()
    try:
        if place:
            return Path(place).expanduser()
        if sys.platform == "win32":
            return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local") / "text2sql" / "cache"
        if sys.platform == "darwin":
            return Path.home() / "Library" / "Caches" / "text2sql"
        return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "text2sql"
    except RuntimeError as error:
        raise FileNotFoundError("this user has no home folder") from error


def fallback_folder() -> Path:
    """A private temporary folder, used when the cache folder is not writable. Raises OSError."""
    owner = str(os.getuid()) if hasattr(os, "getuid") else "user"
    folder = Path(tempfile.gettempdir()) / f"text2sql-{owner}"
    folder.mkdir(mode=0o700, exist_ok=True)
    if hasattr(os, "getuid") and (folder.is_symlink() or folder.stat().st_uid != os.getuid()):
        raise PermissionError(f"{folder} belongs to someone else")
    return folder


def kept_file(path: Path, build: Callable[[Path], None]) -> Path:
    """Return `path`, and build it first if it is missing: `build` fills the path it is given. Raises OSError, and
    whatever `build` raises; neither leaves a file behind."""
    if path.exists():
        return path
    path.parent.mkdir(parents=True, exist_ok=True)
    with _locked(path.with_name(path.name + ".lock")) as alone:
        if path.exists():  # another process built it while this one waited
            return path
        if alone:
            for left in path.parent.glob(path.name + ".*.tmp"):  # left by a killed build
                left.unlink(missing_ok=True)
        unfinished = path.with_name(f"{path.name}.{os.getpid()}.tmp")
        try:
            build(unfinished)
            unfinished.replace(path)
        finally:
            unfinished.unlink(missing_ok=True)
    return path


def write_private(path: Path, text: str) -> None:
    """Write the whole file or nothing, readable only by its owner. Raises OSError."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    handle, unfinished = tempfile.mkstemp(dir=path.parent, suffix=".part")
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        file.write(text)
    Path(unfinished).replace(path)


@contextmanager
def _locked(path: Path) -> Iterator[bool]:
    """Hold the lock file. Yields False when the lock is not available, because another process has held it for too long
    or the file system has no locks. The rename is still atomic then: at worst two processes do the same work."""
    with path.open("a+b") as file:
        deadline = time.monotonic() + LOCK_SECONDS
        while not (locked := try_lock(file.fileno())) and time.monotonic() < deadline:
            time.sleep(0.05)
        yield locked


def try_lock(descriptor: int) -> bool:
    """Lock an open file for this process, until it is closed; False where another process holds it."""
    try:
        if sys.platform == "win32":
            import msvcrt

            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True

"""Folders of our own that only this process's user can read: for kept results and uploaded databases.

In: a path. Out: the folder at that path, created if needed, or an OSError that says why the path is unsuitable.
"""

from __future__ import annotations

import os
from pathlib import Path

PRIVATE_FOLDER = 0o700
PRIVATE_FILE = 0o600


def private_folder(folder: Path) -> Path:
    """Create the folder with mode 0700, or set that mode on this user's existing folder. Raises OSError, also where the
    path is a link or the folder belongs to another user."""
    folder.mkdir(mode=PRIVATE_FOLDER, parents=True, exist_ok=True)
    s = folder.lstat()
    if folder.is_symlink() or not folder.is_dir() or s.st_uid != os.geteuid():
        raise PermissionError(1, "it is not this server's own folder")
    if s.st_mode & 0o077:
        folder.chmod(PRIVATE_FOLDER)
    return folder

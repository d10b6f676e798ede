"""Folders that nobody but this process's user may look into: for kept results and uploaded databases.

In: a path. Out: the folder there, made if need be, or an OSError that says why it will not do.
"""

from __future__ import annotations

import os
from pathlib import Path


def private_folder(folder: Path) -> Path:
    """Make the folder with mode 0700, or bring an own one to that. Raises OSError, also where the path is a link or
    the folder is another user's."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    s = folder.lstat()
    if folder.is_symlink() or not folder.is_dir() or s.st_uid != os.geteuid():
        raise PermissionError(1, "it is not this server's own folder")
    if s.st_mode & 0o077:
        folder.chmod(0o700)
    return folder

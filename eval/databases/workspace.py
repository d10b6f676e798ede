"""The resources that a child process gives its engine: a folder for temporary files, and bounds on memory and disk."""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass
from pathlib import Path

from eval.schema import Dialect


@dataclass(frozen=True, slots=True)
class Workspace:
    """The resources of one child."""

    folder: Path
    memory_bytes: int
    """Memory for one statement."""
    temp_bytes: int
    """Disk space for all temporary files together."""

    def process_bytes(self, dialect: Dialect) -> int:
        """Address space above the idle process. DuckDB and chDB bound their own memory, and reserve more; chDB's
        library alone takes 3 GiB."""
        return self.memory_bytes * {"sqlite": 1, "clickhouse": 12}.get(dialect, 3)

    def temp_bytes_used(self) -> int:
        """Bytes of open files that no longer have a name, as SQLite's temporary files have none."""
        used = 0
        for handle in range(3, 64):
            try:
                s = os.fstat(handle)
            except OSError:
                continue
            if s.st_nlink == 0 and stat.S_ISREG(s.st_mode):
                used += s.st_size
        return used

"""Where the benchmarks are, for experiments that take no folder as an option."""

from __future__ import annotations

import os
from pathlib import Path


def bench_folder() -> Path:
    """The folder that TEXT2SQL_BENCH_DIR names; recorded answers are in `recorded` beside it. Raises SystemExit."""
    named = os.environ.get("TEXT2SQL_BENCH_DIR", "")
    if not named or not Path(named).is_dir():
        raise SystemExit("TEXT2SQL_BENCH_DIR names no folder of benchmark data.")
    return Path(named)


def recorded_folder() -> Path:
    """The folder of recorded answers. Raises SystemExit."""
    return bench_folder().parent / "recorded"

"""How far an import is, told while one long statement runs.

In: a connection of DuckDB and who listens. Out: calls with what is done and how much of the whole, 0..1.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from duckdb import DuckDBPyConnection

Report = Callable[[str, float], None]
"""Gets what is done, and how much of it, 0..1."""
Step = Callable[[str, float, float], None]
"""Says what is done from here on, and from where to where of the whole that goes."""
_SECONDS = 0.5
"""Between two looks."""


@contextmanager
def watched(engine: DuckDBPyConnection, report: Report) -> Iterator[Step]:
    """Looks from a thread of its own at what the engine does, until the block ends."""
    engine.execute("SET enable_progress_bar = true")
    engine.execute("SET enable_progress_bar_print = false")
    ended, lock = threading.Event(), threading.Lock()
    doing, begins, share, told = "", 0.0, 0.0, 0.0

    def step(what: str, start: float, end: float) -> None:
        nonlocal doing, begins, share, told
        with lock:
            doing, begins, share, told = what, start, end - start, start
        report(what, start)

    def look() -> None:
        nonlocal told
        while not ended.wait(_SECONDS):
            done = engine.query_progress() / 100  # -1 where no statement tells
            with lock:
                at = begins + share * min(done, 1.0)
                if done > 0 and at > told + 0.01:
                    told = at
                    report(doing, at)

    thread = threading.Thread(target=look, daemon=True)
    thread.start()
    try:
        yield step
    finally:
        ended.set()
        thread.join()

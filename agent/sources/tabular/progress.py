"""How far an import is, told while one long statement runs.

In: a connection of DuckDB and who listens. Out: calls with what is done and how much of the whole, 0..1.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from types import TracebackType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

Report = Callable[[str, float], None]
"""Gets what is done, and how much of it, 0..1."""
_SECONDS = 0.5
"""Between two looks."""


class Watched:
    """Looks from a thread of its own at what the engine does, until the block ends."""

    def __init__(self, engine: DuckDBPyConnection, report: Report) -> None:
        engine.execute("SET enable_progress_bar = true")
        engine.execute("SET enable_progress_bar_print = false")
        self._engine, self._report = engine, report
        self._ended, self._lock = threading.Event(), threading.Lock()
        self._what, self._from, self._share, self._told = "", 0.0, 0.0, 0.0
        self._thread = threading.Thread(target=self._look, daemon=True)

    def step(self, what: str, start: float, end: float) -> None:
        """From here on `what` is done, which is this part of the whole."""
        with self._lock:
            self._what, self._from, self._share, self._told = what, start, end - start, start
        self._report(what, start)

    def __enter__(self) -> Watched:
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._ended.set()
        self._thread.join()

    def _look(self) -> None:
        while not self._ended.wait(_SECONDS):
            done = self._engine.query_progress() / 100  # -1 where no statement tells
            with self._lock:
                at = self._from + self._share * min(done, 1.0)
                if done <= 0 or at <= self._told + 0.01:
                    continue
                self._told = at
                self._report(self._what, at)

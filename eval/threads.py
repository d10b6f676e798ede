"""Threads that run already when work comes, and turns for work that keeps the interpreter busy.

An event loop that hands work to a new thread waits until it has begun, which takes as long as others keep the
interpreter. Python lets one thread run at a time and does not prefer the loop's: beside four that compute, the loop
waited a tenth of a second. Work that computes takes turns, therefore, and is no slower for it.

In: how many threads; work. Out: an executor all of whose threads run; the work's result.
"""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from typing import ParamSpec, TypeVar

_P = ParamSpec("_P")
_T = TypeVar("_T")

_PATIENCE_SECONDS = 0.25
"""A turn is a courtesy: who has waited so long goes ahead, so that no lock held meanwhile can stop everybody."""


class _Turn:
    def __init__(self) -> None:
        self._free = threading.Lock()
        self._mine = threading.local()

    @contextmanager
    def taken(self) -> Iterator[None]:
        if getattr(self._mine, "held", None) is not None:
            yield
            return
        self._take()
        try:
            yield
        finally:
            self._give()
            self._mine.held = None

    @contextmanager
    def lent(self) -> Iterator[None]:
        """While this thread waits for something else."""
        had = getattr(self._mine, "held", None)
        if had is None:
            yield
            return
        self._give()
        try:
            yield
        finally:
            self._take()

    def _take(self) -> None:
        self._mine.held = self._free.acquire(timeout=_PATIENCE_SECONDS)

    def _give(self) -> None:
        if self._mine.held:
            self._free.release()
        self._mine.held = False


_turn = _Turn()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_turn.__init__)  # type: ignore[misc]


def started_threads(count: int, name: str) -> ThreadPoolExecutor:
    """Blocks for some ten microseconds a thread."""
    threads = ThreadPoolExecutor(count, name)
    together = threading.Barrier(count)
    for begun in [threads.submit(together.wait) for _ in range(count)]:
        begun.result()
    return threads


async def in_turn(work: Callable[_P, _T], *given: _P.args, **options: _P.kwargs) -> _T:
    """`asyncio.to_thread` for work that computes for milliseconds."""

    def taking() -> _T:
        with _turn.taken():
            return work(*given, **options)

    return await asyncio.to_thread(taking)


def waiting() -> AbstractContextManager[None]:
    """Around what the thread waits for: its turn is another's meanwhile."""
    return _turn.lent()

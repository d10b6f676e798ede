"""Tokens of a model's replies while they are written, told to the run that waits for them.

In: the pieces of streams. Out: a call of the listener for each. A model is shared by many runs, so the listener belongs
to the task, and to those that it starts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

__all__ = ["told_to", "written"]

_listener: ContextVar[Callable[[], None] | None] = ContextVar("progress", default=None)


@contextmanager
def told_to(listener: Callable[[], None]) -> Iterator[None]:
    """Tell the listener of what is written for this task within the block."""
    before = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(before)


def written() -> None:
    """A piece of a reply has come: a token with all servers but a few."""
    if (listener := _listener.get()) is not None:
        listener()

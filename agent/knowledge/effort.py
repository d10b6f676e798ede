"""The work that one question may cause, in counted steps, so that no question keeps the others waiting.

In: a number of steps, and the places that do the work of a question and say how much. Out: `TooTangled` where a
question needs more than that; the same question needs the same steps on every machine. Outside of `limited` nothing is
counted.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from eval.errors import Text2SQLError

MOST_STEPS = 70_000
"""The work that reading one question may cause, a third of a second. A usual question needs a twentieth of it."""


class TooTangled(Text2SQLError):
    """A question needs more work than one question may cause."""


_left: ContextVar[list[int] | None] = ContextVar("_left", default=None)


@contextmanager
def limited(steps: int) -> Iterator[None]:
    """Allow so many steps inside; where they are limited already, the earlier limit stays."""
    if _left.get() is not None:
        yield
        return
    token = _left.set([steps])
    try:
        yield
    finally:
        _left.reset(token)


def spend(steps: int = 1) -> None:
    """Count steps of work, each some four microseconds. Raises TooTangled when none are left."""
    left = _left.get()
    if left is None:
        return
    left[0] -= steps
    if left[0] < 0:
        raise TooTangled("The question is too long or too tangled to read; please ask it in fewer words.")

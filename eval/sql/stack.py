"""Stack space for the parser and the generator: both recurse, so their depth limit must not depend on the caller.

In: a function. Out: the same function, which runs in the calling thread when enough stack frames are left, and
otherwise in a new thread, whose stack is empty. The verdict is then the same from a script, a test runner or the
deepest node of a graph.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import ParamSpec, TypeVar

HEADROOM = 900
"""Frames that the deepest query within the bounds of `eval.sql.parser` needs, with a margin."""

_P = ParamSpec("_P")
_R = TypeVar("_R")


def with_headroom(function: Callable[_P, _R]) -> Callable[_P, _R]:
    """Call a function with at least `HEADROOM` free frames, as far as the recursion limit allows."""

    @functools.wraps(function)
    def call(*args: _P.args, **kwargs: _P.kwargs) -> _R:
        if _has_headroom():
            return function(*args, **kwargs)
        with ThreadPoolExecutor(1, "eval.sql") as empty:
            return empty.submit(function, *args, **kwargs).result()

    return call


def _has_headroom() -> bool:
    frame = sys._getframe()
    for _ in range(max(sys.getrecursionlimit() - HEADROOM, 0)):
        if frame.f_back is None:
            return True
        frame = frame.f_back
    return False

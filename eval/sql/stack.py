"""Stack space for the parser and the generator: both recurse, so their depth limit must not depend on the caller.

In: a function. Out: the same function, which runs in the calling thread when enough stack frames are left, and
otherwise in a new thread, whose stack is empty. The verdict is then the same from a script, a test runner or the
deepest node of a graph.
"""

from __future__ import annotations

import functools
import sys
import threading
from collections.abc import Callable
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
        return _in_a_thread(lambda: function(*args, **kwargs))

    return call


def _has_headroom() -> bool:
    frame = sys._getframe()
    for _ in range(max(sys.getrecursionlimit() - HEADROOM, 0)):
        if frame.f_back is None:
            return True
        frame = frame.f_back
    return False


def _in_a_thread(function: Callable[[], _R]) -> _R:
    results: list[_R] = []
    raised: list[BaseException] = []

    def run() -> None:
        try:
            results.append(function())
        except BaseException as problem:  # noqa: BLE001 - it is raised again where the caller stands
            raised.append(problem)

    thread = threading.Thread(target=run, name="eval.sql")
    thread.start()
    thread.join()
    if raised:
        raise raised[0]
    return results[0]

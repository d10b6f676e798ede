"""Room on the stack: the parser and the writer recurse, so how deep they may go must not depend on who calls them.

In: a function. Out: the same function, run where it stands when the caller left enough frames, and otherwise in a
thread, whose stack starts empty. A verdict is then the same from a script, a test runner or a graph's deepest node.
"""

from __future__ import annotations

import functools
import sys
import threading
from collections.abc import Callable
from typing import ParamSpec, TypeVar

HEADROOM = 900
"""Frames that the deepest query within the bounds of `eval.sql.parsing` needs, with some to spare."""

_P = ParamSpec("_P")
_R = TypeVar("_R")


def with_headroom(function: Callable[_P, _R]) -> Callable[_P, _R]:
    """Call a function with at least `HEADROOM` free frames, as far as the recursion limit allows any."""

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
    found: list[_R] = []
    raised: list[BaseException] = []

    def run() -> None:
        try:
            found.append(function())
        except BaseException as problem:  # noqa: BLE001 - it is raised again where the caller stands
            raised.append(problem)

    thread = threading.Thread(target=run, name="eval.sql")
    thread.start()
    thread.join()
    if raised:
        raise raised[0]
    return found[0]

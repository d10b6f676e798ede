"""Python's interpreter in a process that answers many questions.

In: a process that has imported what it needs. Out: the same with fewer collections of garbage and shorter turns.
"""

from __future__ import annotations

import gc
import sys

_TURN_SECONDS = 0.001


def answer_many() -> None:
    """What is imported stays alive, so it is not looked through again and again, which costs a tenth of the time. A run
    makes tens of thousands of objects, nearly all freed by their counts: Python's 700 between two collections are for
    smaller programs. (Imports leave no garbage worth the tenth of a second that looking for it takes.) A thread that
    computes gives way to the event loop after a millisecond instead of five."""
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)
    sys.setswitchinterval(_TURN_SECONDS)

"""How often Python looks for garbage in a process that answers many questions.

In: a process that has imported what it needs. Out: the same with fewer collections.
"""

from __future__ import annotations

import gc


def collect_seldom() -> None:
    """What is imported stays alive, so it is not looked through again and again, which costs a tenth of the time. A run
    makes tens of thousands of objects, nearly all freed by their counts: Python's 700 between two collections are for
    smaller programs."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)

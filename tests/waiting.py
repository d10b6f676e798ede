"""Wait for what happens in another thread, process or server."""

from __future__ import annotations

import time
from collections.abc import Callable


def becomes(true: Callable[[], bool], seconds: float = 20.0) -> bool:
    """Whether something comes true within that time."""
    until = time.monotonic() + seconds
    while not true():
        if time.monotonic() > until:
            return False
        time.sleep(0.02)
    return True

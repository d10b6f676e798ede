"""Processor time in units that do not depend on the machine."""

from __future__ import annotations

import time


def unit() -> float:
    """Processor seconds that a fixed piece of work takes here and now: some 50 ms on a usual core."""
    begun = time.process_time()
    total = 0
    for number in range(1_000_000):
        total += number
    return time.process_time() - begun

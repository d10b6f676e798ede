"""Threads that run already when work comes: an event loop that hands work to a new one waits until it has begun, which
takes as long as others keep the interpreter.

In: how many. Out: an executor all of whose threads run.
"""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor


def started_threads(count: int, name: str) -> ThreadPoolExecutor:
    """Blocks for some ten microseconds a thread."""
    threads = ThreadPoolExecutor(count, name)
    together = threading.Barrier(count)
    for begun in [threads.submit(together.wait) for _ in range(count)]:
        begun.result()
    return threads

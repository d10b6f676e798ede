"""A long soak: many ordinary questions and edited statements to one server, and its memory after each five hundred.

In: how many questions. Out: a line each five hundred: memory of the server and of its fork server, children, threads.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from experiments.attacks.serving import QUESTIONS, Served, fork_server
from experiments.processes import children, resident_mb

STEP = 500
MOST_GROWTH_MB = 20.0
"""What memory may grow by after the first step and still count as flat: about a tenth of the server."""


def soak(served: Served, questions: int, minutes: float, tell: Callable[[str], None]) -> tuple[list[float], int]:
    """Ask until the number or the time is reached; the server's memory in MB after each step, and the number of
    questions without an answer."""
    until = time.monotonic() + minutes * 60
    asked, failed, memory = 0, 0, []
    texts = itertools.cycle(QUESTIONS)
    with ThreadPoolExecutor(4) as threads:
        while asked < questions and time.monotonic() < until:
            failed += sum(not good for _, good in threads.map(lambda _: served.ask(next(texts)), range(STEP)))
            asked += STEP
            memory.append(resident_mb(served.pid))
            forks = fork_server(served.pid)
            forked = (
                f"fork server {resident_mb(forks):.1f} MB, {len(children(forks))} children" if forks else "no children"
            )
            tell(
                f"{asked:6,} questions, {failed} unanswered: server {memory[-1]:.1f} MB, {forked}, "
                f"{len(list(Path(f'/proc/{served.pid}/task').iterdir()))} threads"
            )
    return memory, failed

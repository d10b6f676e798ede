"""The pace of requests to an endpoint: at most so many a minute, over all questions of a process, or of a cluster.

In: the endpoint and its limit. Out: when the next request may be sent. In a worker of `eval.parallel` the row of
waiting requests is an actor that all workers ask; elsewhere it is this process's own.
"""

from __future__ import annotations

import asyncio
import sys
from typing import Any

from eval.parallel import PACE, Pace

_here = Pace()


async def turn(endpoint: str, per_minute: int) -> None:
    """Wait for this request's turn; at once where `per_minute` is 0."""
    if per_minute <= 0:
        return
    shared = _shared()
    if shared is None:
        seconds = _here.wait(endpoint, per_minute)
    else:
        seconds = await shared.wait.remote(endpoint, per_minute)
    if seconds > 0:
        await asyncio.sleep(seconds)


def _shared() -> Any | None:
    ray = sys.modules.get("ray")
    if ray is None or not ray.is_initialized():
        return None
    try:
        return ray.get_actor(PACE)
    except ValueError:
        return None

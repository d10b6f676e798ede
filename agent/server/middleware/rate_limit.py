"""Rate limits for each client: a token bucket, and a count of requests in progress.

In: a request whose client is known. Out: 429 with Retry-After, or the request goes on. The state belongs to this
process (each replica counts for itself) and is bounded: the clients that were idle longest are forgotten first.
"""

from __future__ import annotations

import math
import time
from collections import OrderedDict

from starlette.types import ASGIApp, Receive, Scope, Send

from agent.server.access import Client
from agent.server.middleware.addresses import is_open, peer
from agent.server.middleware.refusals import refuse


class TokenBuckets:
    """Token buckets by key: `burst` at once, `per_second` in the long run."""

    KEPT = 10_000

    def __init__(self, per_second: float, burst: float) -> None:
        self._per_second = per_second
        self._burst = burst
        self._levels: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def take(self, key: str) -> int:
        """Take a token. Returns 0 when there was one, else the whole seconds until the next."""
        now = time.monotonic()
        level = self._level(key, now)
        if level < 1.0:
            return max(1, math.ceil((1.0 - level) / self._per_second))
        self._levels[key] = (level - 1.0, now)
        self._levels.move_to_end(key)
        while len(self._levels) > self.KEPT:
            self._levels.popitem(last=False)
        return 0

    def _level(self, key: str, now: float) -> float:
        level, at = self._levels.get(key, (self._burst, now))
        return min(self._burst, level + (now - at) * self._per_second)


class RateLimit:
    def __init__(self, app: ASGIApp, *, per_minute: int, at_once: int) -> None:
        self._app = app
        self._at_once = at_once
        self._buckets = TokenBuckets(per_minute / 60, max(1.0, per_minute / 2)) if per_minute else None
        self._running: dict[str, int] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        client = scope["state"].get("client") if scope["type"] == "http" else None
        if not isinstance(client, Client) or is_open(scope):  # health checks and the page's files are not limited
            await self._app(scope, receive, send)
            return
        key = f"{client.name} {peer(scope)}" if client.name == "local" else client.name
        if self._buckets is not None and (wait := self._buckets.take(key)):
            message = f"Too many requests; the next one is answered in {wait} s."
            await refuse(scope, receive, send, 429, message, headers={"Retry-After": str(wait)})
            return
        running = self._running.get(key, 0)
        if self._at_once and running >= self._at_once:
            message = f"{running} requests of yours are in progress; the limit is {self._at_once}."
            await refuse(scope, receive, send, 429, message, headers={"Retry-After": "1"})
            return
        self._running[key] = running + 1
        try:
            await self._app(scope, receive, send)
        finally:
            left = self._running[key] - 1
            if left:
                self._running[key] = left
            else:
                del self._running[key]

"""How many requests a client may make, and have in progress.

In: the key of a client with each request. Out: whether it may go on. Requests in progress are counted in this process.
Where the state is shared, the requests of a minute are counted with all processes that share it: each takes tokens from
the state in blocks of a fiftieth of the limit, so that few requests wait for the state; a limit under 100 is exact.
While the state is away, each process counts for itself.
"""

from __future__ import annotations

import math
import time
from collections import Counter, OrderedDict
from typing import TypeVar

from agent.config import ServerSettings
from agent.store import Store, StoreError

T = TypeVar("T")

BLOCKS = 50
"""A block is this part of a limit."""
FAILED_TRIES = 10
"""Wrong tokens from one address that are answered with 401; one more every 6 seconds."""
KEPT = 10_000
"""Clients whose tokens are remembered; those that were idle longest are forgotten first."""


class TokenBuckets:
    """Token buckets by key: `burst` at once, `per_second` in the long run."""

    def __init__(self, name: str, per_second: float, burst: float) -> None:
        self._name = name
        self._per_second = per_second
        self._burst = burst
        self._block = max(1, int(burst / BLOCKS))
        self._levels: OrderedDict[str, tuple[float, float]] = OrderedDict()
        """Tokens that are left, and when they were counted."""
        self._ahead: OrderedDict[str, int] = OrderedDict()
        """Tokens that were taken from the state and not used yet."""

    async def take(self, store: Store | None, key: str) -> int:
        """Take a token, from the shared state where there is one. Returns 0 when there was one, else the whole seconds
        until the next."""
        if store is None:
            return self._take_here(key)
        if (left := self._ahead.get(key, 0)) > 0:
            self._ahead[key] = left - 1
            return 0
        wait = 0.0
        for count in dict.fromkeys((self._block, 1)):
            try:
                wait = await store.take_tokens(
                    f"{self._name} {key}", count, per_second=self._per_second, burst=self._burst
                )
            except StoreError:
                return self._take_here(key)
            if not wait:
                _remember(self._ahead, key, self._ahead.get(key, 0) + count - 1)
                return 0
        return math.ceil(wait)

    def _take_here(self, key: str) -> int:
        now = time.monotonic()
        level, at = self._levels.get(key, (self._burst, now))
        level = min(self._burst, level + (now - at) * self._per_second)
        if level < 1.0:
            return max(1, math.ceil((1.0 - level) / self._per_second))
        _remember(self._levels, key, (level - 1.0, now))
        return 0


def _remember(kept: OrderedDict[str, T], key: str, value: T) -> None:
    kept[key] = value
    kept.move_to_end(key)
    while len(kept) > KEPT:
        kept.popitem(last=False)


class Limits:
    def __init__(self, settings: ServerSettings) -> None:
        per_minute = settings.rate_per_minute
        self._requests = TokenBuckets("requests", per_minute / 60, max(1.0, per_minute / 2)) if per_minute else None
        self._failures = TokenBuckets("failures", 1 / 6, FAILED_TRIES)
        self.at_once = settings.requests_at_once
        self._running: Counter[str] = Counter()
        self.store: Store | None = None
        """A state that other processes count in, too."""

    async def take(self, key: str) -> int:
        """Count a request; 0, or the whole seconds until the next is allowed."""
        return await self._requests.take(self.store, key) if self._requests else 0

    async def failed(self, address: str) -> int:
        """Count a wrong token; 0, or the whole seconds until the next is read."""
        return await self._failures.take(self.store, address)

    def enter(self, key: str) -> bool:
        """Begin a request; False where too many are in progress. Each that begins ends with `leave`."""
        if self.at_once and self._running[key] >= self.at_once:
            return False
        self._running[key] += 1
        return True

    def leave(self, key: str) -> None:
        self._running[key] -= 1
        if not self._running[key]:
            del self._running[key]

"""How many requests a client may make, and have in progress: counted in this process, or with all that share its state.

In: the key of a client with each request. Out: whether it may go on. Where the state is shared, a process takes tokens
and places from it in blocks of a fiftieth of the limit, so that few requests wait for the state; a limit under 100 is
exact. While the state is away, each process counts for itself.
"""

from __future__ import annotations

import asyncio
import logging
import math
import time
from collections import OrderedDict

from agent.config import ServerSettings
from agent.store import Store, StoreError

log = logging.getLogger(__name__)

BLOCKS = 50
"""A block is this part of a limit."""
FAILED_TRIES = 10
"""Wrong tokens from one address that are answered with 401; one more every 6 seconds."""


class TokenBuckets:
    """Token buckets by key: `burst` at once, `per_second` in the long run. The clients that were idle longest are
    forgotten first."""

    KEPT = 10_000

    def __init__(self, per_second: float, burst: float) -> None:
        self.per_second = per_second
        self.burst = burst
        self._levels: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def take(self, key: str) -> int:
        """Take a token. Returns 0 when there was one, else the whole seconds until the next."""
        now = time.monotonic()
        level, at = self._levels.get(key, (self.burst, now))
        level = min(self.burst, level + (now - at) * self.per_second)
        if level < 1.0:
            return max(1, math.ceil((1.0 - level) / self.per_second))
        self._levels[key] = (level - 1.0, now)
        self._levels.move_to_end(key)
        while len(self._levels) > self.KEPT:
            self._levels.popitem(last=False)
        return 0


class _SharedBuckets:
    """The same for all processes together."""

    def __init__(self, name: str, alone: TokenBuckets) -> None:
        self._name = name
        self._alone = alone
        self._block = max(1, int(alone.burst / BLOCKS))
        self._ahead: OrderedDict[str, int] = OrderedDict()
        """Tokens that were taken from the state and not used yet."""

    async def take(self, store: Store | None, key: str) -> int:
        if store is None:
            return self._alone.take(key)
        if (left := self._ahead.get(key, 0)) > 0:
            self._ahead[key] = left - 1
            return 0
        wait = 0.0
        for count in dict.fromkeys((self._block, 1)):
            try:
                wait = await store.take_tokens(
                    f"{self._name} {key}", count, per_second=self._alone.per_second, burst=self._alone.burst
                )
            except StoreError:
                return self._alone.take(key)
            if not wait:
                self._ahead[key] = self._ahead.get(key, 0) + count - 1
                self._ahead.move_to_end(key)
                while len(self._ahead) > TokenBuckets.KEPT:
                    self._ahead.popitem(last=False)
                return 0
        return math.ceil(wait)


class Limits:
    """Belongs to one event loop once it is shared."""

    def __init__(self, settings: ServerSettings) -> None:
        per_minute = settings.rate_per_minute
        self._requests = (
            _SharedBuckets("requests", TokenBuckets(per_minute / 60, max(1.0, per_minute / 2))) if per_minute else None
        )
        self._failures = _SharedBuckets("failures", TokenBuckets(1 / 6, FAILED_TRIES))
        self.at_once = settings.requests_at_once
        self._block = max(1, self.at_once // BLOCKS)
        self._running: dict[str, int] = {}
        self._held: dict[str, int] = {}
        """Places that this process holds in the state, used or not."""
        self._store: Store | None = None
        self._instance = ""
        self._lock = asyncio.Lock()
        self._releasing: set[asyncio.Task[None]] = set()

    def share(self, store: Store, instance: str) -> None:
        """From now on, count with the other processes of this state."""
        self._store, self._instance = store, instance

    async def end_sharing(self) -> None:
        store, self._store = self._store, None
        self._held.clear()
        if store is not None:
            await asyncio.gather(*self._releasing, return_exceptions=True)
            try:
                await store.release_shares(self._instance)
            except StoreError as error:
                log.info("The places of requests end with their lease: %s", error)

    async def take(self, key: str) -> int:
        """Count a request; 0, or the whole seconds until the next is allowed."""
        return await self._requests.take(self._store, key) if self._requests else 0

    async def failed(self, address: str) -> int:
        """Count a wrong token; 0, or the whole seconds until the next is read."""
        return await self._failures.take(self._store, address)

    async def enter(self, key: str) -> bool:
        """Begin a request; False where too many are in progress. Each that begins ends with `leave`."""
        running = self._running.get(key, 0)
        if self.at_once and not await self._place(key, running):
            return False
        self._running[key] = self._running.get(key, 0) + 1
        return True

    async def _place(self, key: str, running: int) -> bool:
        if self._store is None:
            return running < self.at_once
        if running < self._held.get(key, 0):
            return True
        async with self._lock:
            running = self._running.get(key, 0)
            if running >= self._held.get(key, 0) and not await self._hold(key, running + self._block):
                return running < self.at_once
            return self._running.get(key, 0) < self._held.get(key, 0)

    async def _hold(self, key: str, wanted: int) -> bool:
        """Change what is held in the state; False while that is away."""
        if self._store is None:
            return False
        try:
            granted = await self._store.hold_share(key, self._instance, wanted, limit=self.at_once)
        except StoreError:
            return False
        if granted:
            self._held[key] = granted
        else:
            self._held.pop(key, None)
        return True

    def leave(self, key: str) -> None:
        left = self._running[key] - 1
        if left:
            self._running[key] = left
        else:
            del self._running[key]
        unused = self._held.get(key, 0) - left
        if self._store is not None and unused > (2 * self._block if self._block > 1 else 0):
            task = asyncio.create_task(self._shrink(key))
            self._releasing.add(task)
            task.add_done_callback(self._releasing.discard)

    async def _shrink(self, key: str) -> None:
        """Give back the places that are not used."""
        async with self._lock:
            if self._held.get(key, 0) > self._running.get(key, 0):
                await self._hold(key, self._running.get(key, 0))

    async def pulse(self) -> None:
        """Renew what is held, and give back what has not been used. Raises StoreError."""
        if self._store is None or not self._held:
            return
        for key in [key for key, count in self._held.items() if count > self._running.get(key, 0)]:
            await self._shrink(key)
        await self._store.renew_shares(self._instance)

"""Connections to an endpoint, in small pools.

In: the timeouts, and the client that langchain-openai made. Out: a client with capacity for one more call. A pool
checks each of its sockets whenever a call starts or ends, so 100 concurrent calls on one pool cost nearly three times
the processor time that they cost on pools of eight. A few calls stay on the first pool, whose connections are already
open.
"""

from __future__ import annotations

import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import httpx2
import openai

from agent.models.delivery import watched

CALLS = 8
"""Maximum concurrent calls on one pool."""
IDLE_SECONDS = 30.0
"""Idle time after which the next call closes a pool left over from a burst."""


@dataclass(slots=True, eq=False)
class Pool:
    http: httpx2.AsyncClient
    client: openai.AsyncOpenAI
    calls: int = 0
    used: float = field(default_factory=time.monotonic)


class Connections:
    """Belongs to one event loop."""

    def __init__(self, timeout: openai.Timeout) -> None:
        self._timeout = timeout
        self._certificates = httpx2.create_ssl_context()
        self.first = self._http()
        """The HTTP client for a new client, before that is passed to `open`."""
        self._pools: list[Pool] = []

    def open(self, client: openai.AsyncOpenAI) -> None:
        self._pools.append(Pool(self.first, client))

    @asynccontextmanager
    async def one(self) -> AsyncIterator[Pool]:
        """The clients for one call."""
        await self._leave_idle()
        pool = next((pool for pool in self._pools if pool.calls < CALLS), None) or self._another()
        pool.calls += 1
        try:
            yield pool
        finally:
            pool.calls -= 1
            pool.used = time.monotonic()

    async def close(self) -> None:
        for pool in self._pools:
            await pool.http.aclose()

    def _http(self) -> httpx2.AsyncClient:
        return openai.DefaultAsyncHttpxClient(
            timeout=self._timeout,
            follow_redirects=True,
            verify=self._certificates,
            event_hooks={"request": [watched]},
        )

    def _another(self) -> Pool:
        http = self._http()
        pool = Pool(http, self._pools[0].client.with_options(http_client=http))
        self._pools.append(pool)
        return pool

    async def _leave_idle(self) -> None:
        last = self._pools[-1]
        if last is not self._pools[0] and not last.calls and time.monotonic() - last.used > IDLE_SECONDS:
            self._pools.remove(last)
            await last.http.aclose()

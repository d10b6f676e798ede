"""Connections to an endpoint, in pools that stay small.

In: the time-outs, and the client as langchain-openai made it. Out: a client with room for one more call. A pool looks
at each of its sockets whenever a call begins or ends, so a hundred calls at once cost it nearly three times the
processor time that they cost pools of eight. A few calls keep to the first pool, whose connections are open already.
"""

from __future__ import annotations

import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import httpx2
import openai

CALLS = 8
"""At once on one pool."""
IDLE_SECONDS = 30.0
"""After which a pool that a rush has left behind is closed, by the next call."""


@dataclass(slots=True)
class _Pool:
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
        """What a client is made with, before it is handed to `open`."""
        self._pools: list[_Pool] = []

    def open(self, client: openai.AsyncOpenAI) -> None:
        self._pools.append(_Pool(self.first, client))

    @asynccontextmanager
    async def one(self) -> AsyncIterator[openai.AsyncOpenAI]:
        """The client to make one call with."""
        await self._leave_idle()
        pool = next((pool for pool in self._pools if pool.calls < CALLS), None) or self._another()
        pool.calls += 1
        try:
            yield pool.client
        finally:
            pool.calls -= 1
            pool.used = time.monotonic()

    async def close(self) -> None:
        for pool in self._pools:
            await pool.http.aclose()

    def _http(self) -> httpx2.AsyncClient:
        return openai.DefaultAsyncHttpxClient(timeout=self._timeout, follow_redirects=True, verify=self._certificates)

    def _another(self) -> _Pool:
        http = self._http()
        pool = _Pool(http, self._pools[0].client.with_options(http_client=http))
        self._pools.append(pool)
        return pool

    async def _leave_idle(self) -> None:
        last = self._pools[-1]
        if last is not self._pools[0] and not last.calls and time.monotonic() - last.used > IDLE_SECONDS:
            self._pools.remove(last)
            await last.http.aclose()

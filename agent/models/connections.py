"""Connections to an endpoint, in small pools.

In: the timeouts, and the client that langchain-openai made. Out: a client with capacity for one more call. A pool
checks each of its sockets whenever a call starts or ends, so 100 concurrent calls on one pool cost nearly three times
the processor time that they cost on pools of eight. A few calls stay on the first pool, whose connections are already
open.
"""

from __future__ import annotations

import ssl
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import httpx2
import openai

from agent.models.calls import DIRECT, watched
from agent.models.protocol import ModelReplyError

MOST_BYTES = 8_000_000
"""Of one reply: far more than any model writes."""
CALLS = 8
"""Maximum concurrent calls on one pool."""
IDLE_SECONDS = 30.0
"""Idle time after which the next call closes a pool left over from a burst."""


class _Bounded(httpx2.AsyncByteStream):
    """The body of a reply, up to MOST_BYTES. Raises ModelReplyError beyond."""

    def __init__(self, stream: httpx2.AsyncByteStream) -> None:
        self._stream = stream

    async def __aiter__(self) -> AsyncIterator[bytes]:
        left = MOST_BYTES
        async for piece in self._stream:
            left -= len(piece)
            if left < 0:
                raise ModelReplyError(f"The model's server sent more than {MOST_BYTES:,} bytes.")
            yield piece

    async def aclose(self) -> None:
        await self._stream.aclose()


async def bounded(response: httpx2.Response) -> None:
    """The client's hook on each response. A packed body could be any size once it is read."""
    if response.headers.get("content-encoding", "identity").strip().lower() != "identity":
        raise ModelReplyError("The model's server sent a packed reply, which was not asked for.")
    if isinstance(response.stream, httpx2.AsyncByteStream):
        response.stream = _Bounded(response.stream)


def http_client(timeout: openai.Timeout | float, certificates: ssl.SSLContext | bool = True) -> httpx2.AsyncClient:
    """A client for one endpoint: it follows no redirect, which would take prompts and keys elsewhere, and asks no proxy
    for this machine."""
    return openai.DefaultAsyncHttpxClient(
        timeout=timeout,
        follow_redirects=False,
        verify=certificates,
        mounts=DIRECT,
        headers={"Accept-Encoding": "identity"},
        event_hooks={"request": [watched], "response": [bounded]},
    )


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
        last = self._pools[-1]
        if last is not self._pools[0] and not last.calls and time.monotonic() - last.used > IDLE_SECONDS:
            self._pools.remove(last)
            await last.http.aclose()
        pool = next((pool for pool in self._pools if pool.calls < CALLS), None)
        if pool is None:
            http = self._http()
            pool = Pool(http, self._pools[0].client.with_options(http_client=http))
            self._pools.append(pool)
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
        return http_client(self._timeout, self._certificates)

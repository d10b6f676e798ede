"""Limits of requests: of each client a minute and at once; for the size of a body and for the time in which it arrives.

In: a request whose client is known; its messages. Out: the same messages, or 429 with Retry-After, 413 or 408. A
Content-Length over the limit is refused before anything is read; the rest is checked while it streams. Requests in
progress are counted in this process. Where the state is shared, the requests of a minute are counted with all processes
that share it: each takes tokens from the state in blocks of a fiftieth of the limit, so that few requests wait for the
state; a limit under 100 is exact. While the state is away, each process counts for itself.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections import Counter, OrderedDict
from typing import TypeVar

from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from agent.config import ServerSettings
from agent.server.access import client_in
from agent.server.errors import refuse
from agent.server.middleware.addresses import header_values, is_open, peer
from agent.store import Store, StoreError

T = TypeVar("T")

UPLOAD_PATH = "/databases/upload"
UPLOAD_TIME_FACTOR = 20
"""An upload may take this many times longer than another body."""
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
    """How many requests a client may make, and have in progress, by its key."""

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


class RateLimit:
    def __init__(self, app: ASGIApp, *, limits: Limits) -> None:
        self._app = app
        self._limits = limits

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        client = client_in(scope) if scope["type"] == "http" else None
        if client is None or is_open(scope):  # health checks and the page's files are not limited
            await self._app(scope, receive, send)
            return
        key = f"{client.name} {peer(scope)}" if client.name == "local" else client.name
        if wait := await self._limits.take(key):
            message = f"Too many requests; the next one is answered in {wait} s."
            await refuse(scope, receive, send, 429, message, headers={"Retry-After": str(wait)})
            return
        if not self._limits.enter(key):
            message = f"Too many requests of yours are in progress; the limit is {self._limits.at_once}."
            await refuse(scope, receive, send, 429, message, headers={"Retry-After": "1"})
            return
        try:
            await self._app(scope, receive, send)
        finally:
            self._limits.leave(key)


class BodyLimit:
    def __init__(self, app: ASGIApp, *, limit: int, upload_limit: int, seconds: float) -> None:
        self._app = app
        self._limit = limit
        self._upload_limit = upload_limit
        self._seconds = seconds

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        upload = scope["path"].endswith(UPLOAD_PATH)
        limit = self._upload_limit if upload else self._limit
        seconds = self._seconds * (UPLOAD_TIME_FACTOR if upload else 1)
        announced = header_values(scope, b"content-length")
        if announced and (len(announced) > 1 or not announced[0].isdigit()):
            await refuse(scope, receive, send, 400, "The Content-Length is not a number.")
            return
        if announced and int(announced[0][:20]) > limit:
            await refuse(scope, receive, send, 413, _too_large(limit))
            return
        body = _Body(receive, limit, seconds)

        async def answer(message: Message) -> None:
            # The app may turn the refusal below into a response of its own (a 400, say); the refusal is sent instead.
            if body.refused is None or body.answered:
                body.answered = body.answered or message["type"] == "http.response.start"
                await send(message)

        try:
            await self._app(scope, body.receive, answer)
        except HTTPException:
            if body.refused is None:
                raise
        if body.refused is not None and not body.answered:
            await refuse(
                scope,
                receive,
                send,
                body.refused.status_code,
                body.refused.detail,
                kind="too_large" if body.refused.status_code == 413 else "bad_request",
                headers={"Connection": "close"},
            )


class _Body:
    """The messages of one request, with their size and time."""

    def __init__(self, receive: Receive, limit: int, seconds: float) -> None:
        self._receive = receive
        self._limit = limit
        self._seconds = seconds
        self._until = time.monotonic() + seconds
        self._size = 0
        self._complete = False
        self.refused: HTTPException | None = None
        self.answered = False

    async def receive(self) -> Message:
        if self.refused is not None:
            raise self.refused
        if self._complete:
            return await self._receive()
        try:
            async with asyncio.timeout(max(0.0, self._until - time.monotonic())):
                message = await self._receive()
        except TimeoutError:
            self.refused = HTTPException(408, f"The body did not arrive within {self._seconds:g} seconds.")
            raise self.refused from None
        self._size += len(message.get("body", b""))
        if self._size > self._limit:
            self.refused = HTTPException(413, _too_large(self._limit))
            raise self.refused
        self._complete = message["type"] != "http.request" or not message.get("more_body", False)
        return message


def _too_large(limit: int) -> str:
    return f"The body is too large; at most {limit:,} bytes are read."

"""Limits of requests: of each client a minute and at once; for the size of a body and for the time in which it arrives.

In: a request whose client is known; its messages. Out: the same messages, or 429 with Retry-After, 413 or 408. A
Content-Length over the limit is refused before anything is read; the rest is checked while it streams.
"""

from __future__ import annotations

import asyncio
import time

from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from agent.server.access import client_in
from agent.server.errors import refuse
from agent.server.limits import Limits
from agent.server.middleware.addresses import header_values, is_open, peer

UPLOAD_PATH = "/databases/upload"
UPLOAD_TIME_FACTOR = 20
"""An upload may take this many times longer than another body."""


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

"""HTTP requests of all A2A servers here: large bodies and content types of web pages are refused, and work stops when
the client leaves. Needs no SDK.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Mapping
from typing import Any, TypeVar

from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from eval.errors import Text2SQLError

GONE = 499
"""The status of a request whose client has disconnected; nobody reads it."""
_OF_WEB_PAGES = ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data")
_T = TypeVar("_T")


def from_web_page(content_type: str) -> bool:
    """Whether a request with this Content-Type may come from a web page of any origin, which may send it without being
    asked. A server that reads it could be used by a page of another origin."""
    return content_type.partition(";")[0].strip().lower() in _OF_WEB_PAGES


async def while_there(request: Request, work: Awaitable[_T]) -> _T | None:
    """The result of the work. If the client disconnects first, the work is stopped and the result is None. The
    request's body must already have been read."""
    running = asyncio.ensure_future(work)
    leaving = asyncio.ensure_future(_disconnected(request))
    try:
        await asyncio.wait((running, leaving), return_when=asyncio.FIRST_COMPLETED)
        return running.result() if running.done() else None
    finally:
        for task in (running, leaving):
            task.cancel()
        await asyncio.gather(running, leaving, return_exceptions=True)


async def _disconnected(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass


class _TooLarge(Text2SQLError):
    """The request body exceeds the limit."""


class BodyLimit:
    """Refuses a larger request before it is processed, whether or not it declares its length."""

    def __init__(self, app: ASGIApp, most: int, refusal: Mapping[str, Any]) -> None:
        self._app = app
        self._most = most
        self._refusal = refusal

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        refusal = JSONResponse(dict(self._refusal), 413)
        declared = next((v for k, v in scope["headers"] if k == b"content-length"), b"0")
        if not declared.isdigit() or int(declared) > self._most:
            await refusal(scope, receive, send)
            return
        read = 0
        began = False

        async def counted() -> Message:
            nonlocal read
            message = await receive()
            read += len(message.get("body", b""))
            if read > self._most:
                raise _TooLarge
            return message

        async def watched(message: Message) -> None:
            nonlocal began
            began = True
            await send(message)

        try:
            await self._app(scope, counted, watched)
        except _TooLarge:
            if not began:
                await refusal(scope, receive, send)

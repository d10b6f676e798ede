"""A size limit on request bodies.

In: an ASGI app, a number of bytes, the JSON of the refusal. Out: an ASGI app that answers 413 to a larger request.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from eval.errors import Text2SQLError


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

"""Rate limits for each client: requests a minute, and requests in progress.

In: a request whose client is known. Out: 429 with Retry-After, or the request goes on.
"""

from __future__ import annotations

from starlette.types import ASGIApp, Receive, Scope, Send

from agent.server.access import client_in
from agent.server.errors import refuse
from agent.server.limits import Limits
from agent.server.middleware.addresses import is_open, peer


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
        if not await self._limits.enter(key):
            message = f"Too many requests of yours are in progress; the limit is {self._limits.at_once}."
            await refuse(scope, receive, send, 429, message, headers={"Retry-After": "1"})
            return
        try:
            await self._app(scope, receive, send)
        finally:
            self._limits.leave(key)

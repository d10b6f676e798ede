"""`/mcp`: streamable HTTP in the server's own app, behind the same protection as every other route.

In: the app. Out: a route, and a context that has to run as long as the app does. A session belongs to the client that
started it; other clients cannot use its id. Where several processes serve, a request may reach any of them, so there
each request stands for itself: the id of a session only tells the calls of one client apart, for their cancellation.
"""

from __future__ import annotations

import contextlib
import json
import uuid
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser, AuthorizationContext
from mcp.server.auth.provider import AccessToken
from mcp.server.streamable_http import StreamableHTTPServerTransport
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.requests import ClientDisconnect, Request
from starlette.routing import Route
from starlette.types import Message, Receive, Scope, Send

from agent.mcp.tools import SESSION_HEADER, call_name, make_server, session_of
from agent.server.access import Client, client_in
from agent.server.errors import AGAIN_SECONDS, error_response
from agent.server.services import Services
from agent.store import StoreError

PATH = "/mcp"
MAX_SESSIONS = 1_000
SESSIONS_OF_A_CLIENT = 100
"""One client cannot take the sessions of the others."""
IDLE_SECONDS = 1_800.0


class _SharedManager(StreamableHTTPSessionManager):
    """Gives each client a share of the sessions; the SDK's own limit is for all clients together."""

    def _admit_session(self, requestor: AuthorizationContext | None) -> StreamableHTTPServerTransport | None:
        if sum(owner == requestor for owner in self._session_owners.values()) >= SESSIONS_OF_A_CLIENT:
            return None
        return super()._admit_session(requestor)


class McpEndpoint:
    """An ASGI app for the route; `running` brackets the life of the app around it, any number of times."""

    def __init__(self, services: Callable[[], Services], *, stateless: bool = False) -> None:
        self._services = services
        self._stateless = stateless
        self._server = make_server(services)
        self._manager: StreamableHTTPSessionManager | None = None

    @property
    def routes(self) -> list[Route]:
        """The route with and without a trailing slash."""
        return [Route(path, endpoint=self, include_in_schema=False) for path in (PATH, f"{PATH}/")]

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        manager = _SharedManager(
            self._server._lowlevel_server,
            stateless=self._stateless,
            max_sessions=MAX_SESSIONS,
            session_idle_timeout=IDLE_SECONDS,
        )
        async with manager.run():
            self._manager = manager
            try:
                yield
            finally:
                self._manager = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        client = client_in(scope)
        if self._manager is None or client is None:
            status, message = (401, "A bearer token is needed.") if self._manager else (503, "The server is starting.")
            await error_response(status, message)(scope, receive, send)
            return
        # The SDK lets only this user continue the session that it started.
        scope["user"] = AuthenticatedUser(AccessToken(token="", client_id=client.name, scopes=[]))
        begins = False
        if self._stateless and scope["method"] == "POST":
            receive, begins = await self._heeded(client, scope, receive)

        async def told(message: Message) -> None:
            if message["type"] == "http.response.start" and message["status"] == 503:
                # the SDK's 503 (no more sessions) does not say when to try again
                message["headers"] = [*message["headers"], (b"retry-after", str(AGAIN_SECONDS).encode())]
            if message["type"] == "http.response.start" and message["status"] == 200 and begins:
                message["headers"] = [*message["headers"], (SESSION_HEADER, uuid.uuid4().hex.encode())]
            await send(message)

        await self._manager.handle_request(scope, receive, told)

    async def _heeded(self, client: Client, scope: Scope, receive: Receive) -> tuple[Receive, bool]:
        """Read the body, cancel the call that a notification names, and tell whether a session begins."""
        body, call = b"", None
        with contextlib.suppress(ClientDisconnect, ValueError, RecursionError):
            body = await Request(scope, receive).body()
            call = json.loads(body)
        call = call if isinstance(call, dict) else {}
        if call.get("method") == "notifications/cancelled" and isinstance(call.get("params"), dict):
            name = call_name(client, session_of(scope), call["params"].get("requestId"))
            with contextlib.suppress(StoreError):
                await self._services().runs.cancel_call(name)
        read = False

        async def again() -> Message:
            nonlocal read
            if read:
                return await receive()
            read = True
            return {"type": "http.request", "body": body, "more_body": False}

        return again, call.get("method") == "initialize"

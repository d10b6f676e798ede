"""Checks of the Host and Origin headers, against DNS rebinding and cross-site requests.

In: a request. Out: 403, or the request goes on. Where no token is needed, an attacker would use the browser on this
machine, so Host must name this machine. Origin must be the server's own or an allowed one.
"""

from __future__ import annotations

from starlette.types import ASGIApp, Receive, Scope, Send

from agent.server.errors import refuse
from agent.server.middleware.addresses import header_values, host_name, is_loopback
from agent.server.middleware.tokens import Tokens


class OriginCheck:
    def __init__(self, app: ASGIApp, *, tokens: Tokens, hosts: frozenset[str], origins: frozenset[str]) -> None:
        self._app = app
        self._tokens = tokens
        self._hosts = frozenset(host.lower() for host in hosts)
        self._origins = origins

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and (message := self._problem(scope)):
            await refuse(scope, receive, send, 403, message)
            return
        await self._app(scope, receive, send)

    def _problem(self, scope: Scope) -> str | None:
        hosts = header_values(scope, b"host")
        if len(hosts) > 1:
            return "There is more than one Host header."
        host = hosts[0] if hosts else b""
        name = host_name(host)
        own = name is not None and (name == "localhost" or is_loopback(name) or name in self._hosts)
        if (self._hosts or not self._tokens.needed(scope)) and not own:
            return (
                "The Host header names another machine. Call the server as localhost or 127.0.0.1, or add the name to "
                "TEXT2SQL_SERVER_HOSTS."
            )
        origins = header_values(scope, b"origin")
        if len(origins) > 1:
            return "There is more than one Origin header."
        if origins:
            text = origins[0].decode("latin-1")
            scheme, separator, netloc = text.partition("://")
            same = bool(separator) and scheme in ("http", "https") and netloc.lower().encode("latin-1") == host.lower()
            if not (same and host) and text not in self._origins:
                return "Pages of another origin may not use this server; TEXT2SQL_CORS_ORIGINS can allow one."
        return None

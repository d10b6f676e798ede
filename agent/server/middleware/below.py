"""Addresses below a path of a proxy (`/ask/query`), whether the proxy takes that path away or not."""

from __future__ import annotations

from starlette.types import ASGIApp, Receive, Scope, Send


class Below:
    def __init__(self, app: ASGIApp, *, path: str) -> None:
        self._app = app
        self._path = path

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and f"{scope['path']}/".startswith(f"{self._path}/"):
            raw = scope.get("raw_path") or scope["path"].encode()
            own = {"path": scope["path"][len(self._path) :] or "/", "raw_path": raw[len(self._path.encode()) :] or b"/"}
            scope = {**scope, **own}
        await self._app(scope, receive, send)

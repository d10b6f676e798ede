"""Doors of the server that are opened when somebody first comes: their SDKs take 40 MB and a third of a second.

In: the paths of a door, and what makes its routes. Out: routes that make way for the real ones at their first request.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager

from fastapi import FastAPI
from starlette.routing import BaseRoute, Route
from starlette.types import Receive, Scope, Send

Opening = Callable[[], AbstractAsyncContextManager[Sequence[BaseRoute]]]
"""Makes the routes, and ends what they have started."""


class LateRoutes:
    """An ASGI app for the places of a door; `running` brackets the life of the app around it, any number of times."""

    def __init__(self, app: FastAPI, paths: Sequence[tuple[str, Sequence[str] | None]], opening: Opening) -> None:
        """`paths`: each with its methods, None for any. They have to cover all paths of the routes that are made."""
        self._app, self._opening = app, opening
        self._places = [
            Route(path, self, methods=None if methods is None else [*methods], include_in_schema=False)
            for path, methods in paths
        ]
        self._closing = asyncio.Event()
        self._opened: asyncio.Future[None] | None = None
        self._kept: asyncio.Task[None] | None = None
        app.router.routes.extend(self._places)

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        self._closing, self._opened, self._kept = asyncio.Event(), None, None
        try:
            yield
        finally:
            self._closing.set()
            if self._kept is not None:
                await self._kept

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self._opened is None:
            self._opened = asyncio.get_running_loop().create_future()
            self._kept = asyncio.create_task(self._keep(self._opened))
        await asyncio.shield(self._opened)  # a client that goes away stops nobody else's
        await self._app.router(scope, receive, send)

    async def _keep(self, opened: asyncio.Future[None]) -> None:
        """What a door starts is ended by the task that started it. A failure is told to those who wait; the next
        request tries again."""
        try:
            async with self._opening() as routes:
                self._swap(self._places, routes)
                opened.set_result(None)
                await self._closing.wait()
                self._swap(routes, self._places)
        except Exception as error:
            if opened.done():
                raise
            self._opened = None
            opened.set_exception(error)

    def _swap(self, old: Sequence[BaseRoute], new: Sequence[BaseRoute]) -> None:
        routes = self._app.router.routes
        at = routes.index(old[0])
        routes[at : at + len(old)] = new

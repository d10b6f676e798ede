"""A door's SDK is loaded by its first request, once, and what it started ends with the app."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Sequence

import httpx
import pytest
from fastapi import FastAPI
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import BaseRoute, Route

from agent.server.app import LateRoutes


class Door:
    def __init__(self, *, failures: int = 0) -> None:
        self.opened = self.closed = 0
        self._failures = failures
        self.app = FastAPI()
        self.late = LateRoutes(self.app, [("/door", None), ("/door/{rest:path}", None)], self.opening)

        @self.app.get("/other")
        def other() -> str:
            return "other"

    @contextlib.asynccontextmanager
    async def opening(self) -> AsyncIterator[Sequence[BaseRoute]]:
        await asyncio.sleep(0.01)
        if self._failures:
            self._failures -= 1
            raise RuntimeError("not now")
        self.opened += 1

        async def inside(request: Request) -> PlainTextResponse:
            return PlainTextResponse(f"inside {request.url.path}")

        yield [Route("/door", inside, methods=["POST"]), Route("/door/room", inside)]
        self.closed += 1

    def client(self) -> httpx.AsyncClient:
        return httpx.AsyncClient(transport=httpx.ASGITransport(self.app), base_url="http://here")


async def test_it_is_opened_once_by_requests_at_the_same_time_after_a_failure_and_when_the_app_starts_again() -> None:
    door = Door(failures=1)
    for times in (1, 2):
        async with door.late.running(), door.client() as client:
            assert (await client.get("/other")).json() == "other"
            assert door.opened == times - 1
            if times == 1:
                with pytest.raises(RuntimeError, match="not now"):
                    await client.get("/door/room")
            replies = await asyncio.gather(*(client.get("/door/room") for _ in range(5)))
            assert [r.text for r in replies] == ["inside /door/room"] * 5
            assert (await client.get("/door")).status_code == 405
            assert (await client.get("/door/nowhere")).status_code == 404
            assert (await client.post("/door")).text == "inside /door"
            assert (door.opened, door.closed) == (times, times - 1)
        assert door.closed == times

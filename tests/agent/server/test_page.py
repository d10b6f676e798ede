"""The built page is served and nothing else on the disk; a door's SDK is loaded by its first request."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Iterator, Sequence
from pathlib import Path

import httpx
import pytest
from fastapi import FastAPI
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import BaseRoute, Route

from agent.server.app import LateRoutes
from tests.agent.server.running import Running, read_until, running, settings_for
from tests.pairs import sections


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    folder = tmp_path_factory.mktemp("page")
    page = folder / "dist"
    (page / "assets").mkdir(parents=True)
    (page / "index.html").write_text("<!doctype html><title>the page</title>")
    (page / "favicon.svg").write_text("<svg/>")
    (page / "assets" / "app-1a2b.js").write_text("export {}")
    (folder / "secret.txt").write_text("secret")
    (page / "assets" / "link.txt").symlink_to(folder / "secret.txt")
    with running(settings_for(folder, TEXT2SQL_PAGE_DIR=page)) as server:
        yield server


def test_the_pages_routes_are_the_one_index_and_hashed_files_are_cached_for_a_year(built: Running) -> None:
    for path in sections("server/requests.txt")["paths of the page"][0]:
        answer = built.get(path)
        assert "the page" in answer.text, path
        assert answer.headers["content-type"].startswith("text/html")
        assert answer.headers["cache-control"] == "no-cache"
    asset, icon = built.get("/assets/app-1a2b.js"), built.get("/favicon.svg")

    assert asset.headers["content-type"].startswith("text/javascript")
    assert asset.headers["cache-control"] == "public, max-age=31536000, immutable"
    assert icon.headers["cache-control"] == "no-cache"


@pytest.mark.parametrize("path", sections("server/requests.txt")["paths that lead out of the folder"][0])
def test_no_path_leads_out_of_the_folder(built: Running, path: str) -> None:
    import socket

    with socket.create_connection(("127.0.0.1", built.port), timeout=10) as connection:  # clients tidy paths up
        connection.sendall(f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{built.port}\r\nConnection: close\r\n\r\n".encode())
        text = read_until(connection, b"nothing that would be there")

    assert b"secret\n" not in text
    assert b"root:" not in text
    assert b" 404 " in text.split(b"\r\n")[0]


def test_an_unknown_path_is_an_error_of_the_api_and_the_page_in_a_browser(built: Running) -> None:
    assert built.get("/nothing").json()["error"]["kind"] == "not_found"
    assert httpx.post(f"{built.url}/nothing").status_code == 404

    answer = built.get("/nothing", headers={"Accept": "text/html,*/*"})

    assert answer.status_code == 404
    assert "the page" in answer.text


def test_without_a_build_a_plain_page_says_how_to_make_one(tmp_path: Path) -> None:
    with running(settings_for(tmp_path, TEXT2SQL_PAGE_DIR=tmp_path / "none")) as server:
        text = server.get("/").text

    assert "make page" in text
    assert "/openapi.json" in text


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

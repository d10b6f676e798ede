"""The app that is served, with every route that it has: nothing answers without a token but what is meant to."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from starlette.routing import Mount, Route

from tests.agent.server.running import Running, running, settings_for

TOKEN = "ana-token-0123456789"
OPEN = {"/", "/health", "/ready", "/.well-known/agent.json", "/.well-known/agent-card.json"}
PAGE = ("/assets", "/t/", "/r/", "/data/", "/index.html", "/favicon")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    folder: Path = tmp_path_factory.mktemp("server")
    with running(settings_for(folder, TEXT2SQL_TOKENS=f"ana={TOKEN}")) as served:
        yield served


def routes(server: Running) -> list[tuple[str, str]]:
    """(method, path) of everything that is routed, placeholders filled in."""
    described = server.app.openapi()["paths"]
    requests = [(method.upper(), _filled(path)) for path, methods in described.items() for method in methods]
    for route in server.app.routes:
        path = _filled(str(getattr(route, "path", "")))
        if isinstance(route, Mount):
            requests += [("GET", f"{path}/x"), ("POST", f"{path}/x")]
        elif isinstance(route, Route):
            requests += [(method, path) for method in (route.methods or {"GET", "POST", "DELETE"})]
    return requests


def _filled(path: str) -> str:
    return re.sub(r"\{[^}]*\}", "x", path)


def test_every_route_needs_a_token_but_those_that_say_nothing(server: Running) -> None:
    known = routes(server)
    assert len(known) > 25
    assert {"/query", "/mcp", "/metrics", "/sql", "/generate"} <= {path for _, path in known}

    for method, path in known:
        status = httpx.request(method, f"{server.url}{path}").status_code
        is_open = method in ("GET", "HEAD") and (path in OPEN or path.startswith(PAGE))
        assert (status != 401) is is_open, (method, path, status)


def test_what_is_open_tells_nothing_of_data_or_secrets(server: Running) -> None:
    for path in sorted(OPEN):
        text = httpx.get(f"{server.url}{path}").text
        assert TOKEN not in text
        assert str(Path.home()) not in text

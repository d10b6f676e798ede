"""The page in a real browser against a real server.

In: the built page (`make page`) and a Chromium on this machine; without either the tests are skipped and say so. Out:
`open_page`, which gives a fresh browser page on a server, and the servers. Whatever the browser's console complains
about fails the test. Nothing waits for a time to pass, only for what is to happen, and long enough for a busy machine.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, ViewportSize, expect, sync_playwright

from tests.agent.server.running import Running
from tests.e2e.servers import DIST, Kind, bare_server, model_server, offline_server
from tests.openai_server import OpenAIServer

PATIENCE_MS = 30_000
expect.set_options(timeout=PATIENCE_MS)
WIDE: ViewportSize = {"width": 1440, "height": 900}
PHONE: ViewportSize = {"width": 390, "height": 844}
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")

OpenPage = Callable[..., Page]


def chromium_path() -> str | None:
    """The browser to drive: TEXT2SQL_CHROMIUM, or the first of the usual names."""
    return os.environ.get("TEXT2SQL_CHROMIUM") or next((p for name in NAMES if (p := shutil.which(name))), None)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """One a file: while it is there its event loop counts as running, and no async test of another file could start."""
    if not (DIST / "index.html").is_file():
        pytest.skip("the page is not built: make page")
    path = chromium_path()
    if path is None:
        pytest.skip("no Chromium here: apt-get install chromium, or set TEXT2SQL_CHROMIUM")
    with sync_playwright() as playwright:
        # in a container without user namespaces the browser's own sandbox cannot start
        chromium = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield chromium
        chromium.close()


@pytest.fixture
def open_page(browser: Browser) -> Iterator[OpenPage]:
    """`open_page(server, path="/", **context)`: a page of its own, closed at the end of the test."""
    contexts: list[BrowserContext] = []
    complaints: list[str] = []

    def note(message: ConsoleMessage) -> None:
        # a refused or failed request is logged by the browser itself; the page says it in its own words
        if message.type == "error" and "Failed to load resource" not in message.text:
            complaints.append(message.text)

    def opened(server: Running | str, path: str = "/", **options: Any) -> Page:
        options = {"viewport": WIDE, "permissions": ["clipboard-read", "clipboard-write"], **options}
        context = browser.new_context(reduced_motion="reduce", **options)
        context.set_default_timeout(PATIENCE_MS)
        contexts.append(context)
        page = context.new_page()
        page.on("console", note)
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.goto((server if isinstance(server, str) else server.url) + path)
        return page

    yield opened
    for context in contexts:
        context.close()
    assert complaints == []


@pytest.fixture(scope="session")
def offline(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with offline_server(tmp_path_factory.mktemp("offline")) as server:
        yield server


@pytest.fixture
def page(offline: Running, open_page: OpenPage) -> Page:
    """The first page of the server without a model."""
    return open_page(offline)


@pytest.fixture(scope="session")
def endpoint() -> Iterator[OpenAIServer]:
    with OpenAIServer() as server:
        yield server


@pytest.fixture(scope="session")
def with_model(tmp_path_factory: pytest.TempPathFactory, endpoint: OpenAIServer) -> Iterator[Running]:
    with model_server(tmp_path_factory.mktemp("model"), endpoint) as server:
        yield server


@pytest.fixture(scope="session")
def bare(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with bare_server(tmp_path_factory.mktemp("bare")) as server:
        yield server


@pytest.fixture(scope="session")
def servers(offline: Running, with_model: Running, bare: Running) -> dict[Kind, Running]:
    return {"offline": offline, "model": with_model, "bare": bare}

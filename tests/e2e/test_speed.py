"""What keeps the page quick: little to load first, nothing from elsewhere, and a long table that stays light."""

from __future__ import annotations

import gzip
import json
from typing import Any

import pytest

from tests.agent.server.running import Running
from tests.e2e.conftest import OpenPage
from tests.e2e.servers import DIST
from tests.e2e.states import get_answer

INITIAL_JS = 160_000
"""Bytes, gzip."""


def initial_scripts() -> list[str]:
    """The files that index.html's script needs before anything is shown."""
    manifest: dict[str, Any] = json.loads((DIST / ".vite" / "manifest.json").read_text())
    wanted, files = ["index.html"], []
    while wanted:
        chunk = manifest[wanted.pop()]
        if chunk["file"] not in files:
            files.append(chunk["file"])
            wanted += chunk.get("imports", [])
    return files


def test_the_first_scripts_are_small() -> None:
    if not (DIST / "index.html").is_file():
        pytest.skip("the page is not built: make page")
    size = sum(len(gzip.compress((DIST / name).read_bytes(), 9)) for name in initial_scripts())
    print(f"initial JavaScript: {size / 1000:.1f} kB gzip in {len(initial_scripts())} files")
    assert size < INITIAL_JS


def test_nothing_is_loaded_from_elsewhere(offline: Running, open_page: OpenPage) -> None:
    page = open_page(offline, "/")
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.reload()
    get_answer(page, "How many products does each category have?")
    page.get_by_role("button", name="Chart").click()
    page.locator("figure svg[aria-label]").wait_for()
    page.get_by_role("button", name="Edit the SQL").click()
    page.get_by_label("SQL to run").wait_for()
    assert len(asked) > 10
    assert [url for url in asked if not url.startswith((offline.url, "data:", "blob:"))] == []

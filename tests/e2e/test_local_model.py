"""A small model is got on the page, and answers."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.agent.models.local.conftest import Hub, hub, llama_server, own_sockets
from tests.agent.server.running import running, settings_for
from tests.e2e.conftest import OpenPage
from tests.e2e.servers import DIST
from tests.e2e.states import answered, ask

__all__ = ["hub", "llama_server", "own_sockets"]


async def nothing_runs() -> tuple[()]:
    return ()


def test_a_small_model_is_got_tried_and_answers(
    hub: Hub,
    llama_server: Path,
    own_sockets: None,
    tmp_path: Path,
    open_page: OpenPage,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("agent.server.routes.model.servers_here", nothing_runs)  # whatever this machine has
    config = settings_for(
        tmp_path,
        TEXT2SQL_PAGE_DIR=DIST,
        TEXT2SQL_LOCAL_MODEL="",
        TEXT2SQL_CACHE_DIR=tmp_path / "cache",
        TEXT2SQL_LLAMA_SERVER=llama_server,
    )
    hub.cuts, hub.waits = 1, threading.Event()
    with running(config) as server:
        page = open_page(server)
        badge = page.get_by_role("button", name="Choose the model")
        badge.click()
        page.get_by_role("button", name="Get Tiny").click()
        expect(page.get_by_role("progressbar", name="Getting Tiny")).to_be_visible()
        hub.waits.set()
        expect(page.get_by_text("It answers (llama.cpp): tiny.")).to_be_visible()
        expect(page.get_by_label("Model", exact=True)).to_have_value("tiny")
        page.get_by_role("button", name="Use it", exact=True).click()
        expect(badge).to_contain_text("tiny")
        expect(page.get_by_role("dialog")).to_have_count(0)
        expect(badge).to_be_focused()  # what had the focus before has it again
        ask(page, "How many customers are there?")
        answered(page)
        assert server.get("/health").json()["model"] == "tiny"
        assert llama_server.with_name("started").read_text().count("\n") == 1

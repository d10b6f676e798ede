"""The page on servers of other settings: below a path of its own (`/ask`), behind a proxy that takes the path away and
behind one that leaves it; and with runs of the lab."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.agent.server.running import running, settings_for
from tests.e2e.conftest import OpenPage
from tests.e2e.servers import DIST
from tests.e2e.test_accessibility import broken_rules
from tests.pairs import FIXTURES


@pytest.mark.parametrize("taken_away", [False, True])
def test_asking_and_coming_back_below_a_path(open_page: OpenPage, tmp_path: Path, taken_away: bool) -> None:
    config = settings_for(tmp_path, TEXT2SQL_PAGE_DIR=DIST, TEXT2SQL_PUBLIC_URL="https://example.org/ask/")
    with running(config) as server:
        page = open_page("about:blank", path="")
        if taken_away:
            page.route("**/ask/**", lambda route: route.continue_(url=route.request.url.replace("/ask/", "/", 1)))
        page.goto(f"{server.url}/ask/")
        field = page.get_by_role("textbox", name=re.compile("question", re.I))
        field.fill("How many customers are there?")
        field.press("Enter")
        expect(page.get_by_role("article")).to_contain_text("480")
        expect(page).to_have_url(re.compile(r"/ask/t/"))
        page.reload()
        expect(page.get_by_role("article")).to_contain_text("480")
        page.goto(f"{server.url}/ask/data/shop/vocabulary")
        expect(page.get_by_role("heading", name="Words", exact=True)).to_be_visible()
        own = page.locator("a[href^='/']").evaluate_all("links => links.map(link => link.getAttribute('href'))")
        assert own
        assert [href for href in own if not href.startswith("/ask/")] == []


def test_the_runs_are_in_the_rail_and_show_what_a_kit_changes(tmp_path: Path, open_page: OpenPage) -> None:
    (tmp_path / "lab/night").mkdir(parents=True)
    (tmp_path / "lab/night/summary.json").write_text((FIXTURES / "page/lab_run.json").read_text())
    with running(settings_for(tmp_path, TEXT2SQL_PAGE_DIR=DIST, TEXT2SQL_LAB_DIR=tmp_path / "lab")) as server:
        page = open_page(server)
        page.get_by_role("link", name="Lab").click()
        expect(page.get_by_role("heading", name="night")).to_be_visible()
        expect(page.get_by_role("row", name="At random")).to_contain_text("299")
        page.get_by_text("glossary.yaml").click()
        expect(page.get_by_text("term: wergild")).to_be_visible()
        page.reload()
        expect(page.get_by_role("heading", name="night")).to_be_visible()
        assert broken_rules(page) == []

"""Somebody looks at the runs of the lab."""

from __future__ import annotations

from pathlib import Path

from playwright.sync_api import expect

from tests.agent.server.running import running, settings_for
from tests.e2e.conftest import OpenPage
from tests.e2e.servers import DIST
from tests.e2e.test_accessibility import broken_rules
from tests.pairs import FIXTURES


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

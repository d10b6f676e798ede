"""Somebody looks at the runs of the lab."""

from __future__ import annotations

import json
from pathlib import Path

from playwright.sync_api import expect

from tests.agent.server.running import running, settings_for
from tests.e2e.conftest import OpenPage
from tests.e2e.servers import DIST
from tests.e2e.test_accessibility import broken_rules

KIT = {
    "kit": "45f3c497dfe5", "round": 1, "by": "mined", "parents": [], "note": "3 terms", "elo": 1516,
    "bradley_terry": 1530, "chosen": True,
    "changes": [{"file": "glossary.yaml", "lines": ["+ terms:", "+ - term: wergild", "+   means: people.pay"]}],
}  # fmt: skip
PROOF = {"n": 299, "before": 0.4682, "after": 0.5217, "won": 16, "lost": 0, "p": 3.1e-05}
SPLIT = {"name": "random", "played": 1, "rounds": 1, "proof": PROOF, "base_elo": 1484, "kits": [KIT]}
RUN = {
    "evolver": "mined", "model": "offline", "seed": 1, "ended": True, "accepted": True,
    "why": "Better on held-out questions.", "splits": [SPLIT],
}  # fmt: skip


def test_the_runs_are_in_the_rail_and_show_what_a_kit_changes(tmp_path: Path, open_page: OpenPage) -> None:
    (tmp_path / "lab/night").mkdir(parents=True)
    (tmp_path / "lab/night/summary.json").write_text(json.dumps(RUN))
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

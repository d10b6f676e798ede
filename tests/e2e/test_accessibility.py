"""Every state of the page, wide and on a phone, light and dark, against axe-core's rules for WCAG 2.2 AA; and what
axe cannot see: that nothing sticks out of a phone's screen, and that the focus comes back."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import pytest
from playwright.sync_api import Page, ViewportSize, expect

from tests.agent.server.running import Running
from tests.e2e.conftest import PHONE, WIDE, OpenPage
from tests.e2e.servers import Kind
from tests.e2e.states import STATES, State, get_answer
from tests.openai_server import OpenAIServer
from tests.samples import sampled

AXE = Path(__file__).resolve().parents[2] / "frontend" / "node_modules" / "axe-core" / "axe.min.js"
TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]


LAYOUT = ["target-size", "scrollable-region-focusable", "color-contrast", "region", "heading-order", "button-name"]
"""Rules that a narrower screen may break though a wide one does not."""
CHECK = """options => axe.run({ preload: false, resultTypes: ["violations"], ...options }).then(found =>
    found.violations.map(v => `${v.id}: ${v.help} (${v.nodes.length}×, first ${v.nodes[0].html.slice(0, 120)}): ` +
        v.nodes[0].failureSummary))"""
UNSTICK = """() => document.querySelectorAll("main ~ *, main *").forEach(e => {
    if (getComputedStyle(e).position === "sticky") e.style.position = "static" })"""
"""What sticks to an edge half covers something at any moment of scrolling, which axe takes for a small target."""
TWO_FRAMES = """() => Promise.race([new Promise(done => setTimeout(done, 2000)),
    new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))]).then(() => null)"""
SETTLED = """() => Promise.race([new Promise(done => setTimeout(done, 5000)), Promise.all(document.getAnimations()
    .filter(a => a.effect.getComputedTiming().endTime !== Infinity)
    .map(a => a.finished.catch(() => null)))]).then(() => null)"""
"""Colours that fade into others have no contrast of their own on the way. A browser on a busy machine may draw no frame
at all for a while, and `evaluate` knows no time-out."""


def violations(page: Page, size: ViewportSize, colours: Literal["light", "dark"], rules: list[str]) -> list[str]:
    """What axe finds, one line for each rule that is broken."""
    page.set_viewport_size(size)
    page.emulate_media(color_scheme=colours)
    page.evaluate(TWO_FRAMES)
    page.evaluate(SETTLED)
    found: list[str] = page.evaluate(CHECK, {"runOnly": rules})
    return [f"{size['width']} px, {colours}: {line}" for line in found]


def broken_rules(page: Page, *, phone: bool = True) -> list[str]:
    """What the page breaks as it stands. Its screen is a phone's afterwards where `phone` is asked for."""
    if not AXE.is_file():
        pytest.skip("axe-core is not installed: make page")
    page.evaluate(AXE.read_text())
    broken = violations(page, WIDE, "light", TAGS) + violations(page, WIDE, "dark", ["color-contrast"])
    if phone:
        page.evaluate(UNSTICK)
        broken += violations(page, PHONE, "light", LAYOUT)
        assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"], "sticks out of the screen"
    return broken


@pytest.mark.parametrize("state", sampled(STATES, 2), ids=lambda state: state.name)
def test_no_state_breaks_a_rule_of_accessibility(
    state: State, servers: dict[Kind, Running], endpoint: OpenAIServer, open_page: OpenPage
) -> None:
    """Wide and on a phone; in dark colours what colours can break."""
    page = open_page(servers[state.kind])
    state.reach(page, endpoint)
    assert broken_rules(page, phone=state.phone) == []


def test_a_menu_gives_the_focus_back_colours_stay_and_a_run_is_announced(offline: Running, open_page: OpenPage) -> None:
    page = open_page(offline, color_scheme="light")
    button = page.get_by_role("button", name="Database: Small shop")
    button.press("Enter")
    page.get_by_role("button", name="Upload files…").focus()
    page.keyboard.press("Escape")
    expect(page.get_by_role("button", name="Upload files…")).to_have_count(0)
    expect(button).to_be_focused()

    light = page.evaluate("getComputedStyle(document.documentElement).backgroundColor")
    page.get_by_role("button", name="Colours: as the system has it").click()
    page.get_by_role("button", name="Colours: light").click()
    page.reload()
    page.get_by_role("button", name="Colours: dark").wait_for()
    expect(page.locator("html")).not_to_have_css("background-color", light)
    get_answer(page, "How many customers are there?")
    expect(page.locator("article[aria-busy=false]")).to_have_count(1)

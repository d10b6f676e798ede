"""Somebody keeps answers: with a chart and with values to set anew, on a board that is arranged, shared and saved."""

from __future__ import annotations

import re

from playwright.sync_api import Locator, Page, expect

from tests.agent.server.running import Running
from tests.e2e.conftest import OpenPage
from tests.e2e.states import answered, ask, board_of, keep
from tests.e2e.test_accessibility import broken_rules

CUSTOMERS = "SELECT COUNT(*) FROM customers"


def test_an_answer_is_kept_with_its_chart_and_run_anew_with_other_values(offline: Running, open_page: OpenPage) -> None:
    page = open_page(offline)
    ask(page, "How many products does each category have?")
    answered(page)
    page.get_by_role("button", name="Chart", exact=True).click()
    page.get_by_label("Sorted").select_option("largest first")
    keep(page, "Products", board="Monday")
    page.get_by_role("link", name="Open the board").click()
    tile = page.get_by_role("listitem").filter(has=page.get_by_role("heading", name="Products"))
    expect(tile.locator("svg[aria-label]")).to_have_attribute("aria-label", re.compile("by name"))
    expect(tile).to_contain_text("11 rows")

    made = offline.post(
        "/sql", {"preset": "shop", "sql": "SELECT name FROM products WHERE price > 50 LIMIT 9", "question": "Dear"}
    ).json()
    page.goto(f"{offline.url}/r/{made['run_id']}")
    keep(page, "Dear products", board="Monday")
    page.get_by_role("link", name="Open the board").click()
    tile = page.get_by_role("listitem").filter(has=page.get_by_role("heading", name="Dear products"))
    tile.get_by_role("button", name="SQL and values").click()
    tile.get_by_label("Rows at most").fill("2")
    tile.get_by_role("button", name="Run and keep").click()
    expect(tile).to_contain_text("2 rows")
    page.reload()
    expect(tile).to_contain_text("2 rows")


def test_a_board_is_arranged_shared_and_saved(offline: Running, open_page: OpenPage) -> None:
    board = board_of(offline, First=CUSTOMERS, Second=CUSTOMERS)
    page = open_page(offline, f"/b/{board}")
    expect(titles(page)).to_have_text(["First", "Second"])
    page.get_by_role("button", name="Arrange").click()
    page.get_by_role("button", name="Move “Second”").press("ArrowLeft")
    expect(titles(page)).to_have_text(["Second", "First"])
    page.get_by_role("button", name="Rename the board").click()
    page.get_by_label("Title of the board").fill("Größe & <b>Zahl</b>")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Größe & <b>Zahl</b>")).to_be_visible()

    page.get_by_role("button", name="Share").click()
    expect(page.get_by_text("Link copied")).to_be_visible()
    link = page.evaluate("navigator.clipboard.readText()")
    for name, start, ending in (("Save as HTML", "<!doctype html>", "html"), ("Save as Markdown", "# Größe & ", "md")):
        page.get_by_role("button", name="More").click()
        with page.expect_download() as download:
            page.get_by_role("button", name=name).click()
        assert download.value.suggested_filename == f"größe-b-zahl-b.{ending}"
        assert download.value.path().read_text().startswith(start)
    viewer = open_page(link)
    expect(titles(viewer)).to_have_text(["Second", "First"])
    expect(viewer.get_by_text("480").first).to_be_visible()
    expect(viewer.get_by_role("button", name="Arrange")).to_have_count(0)
    page.get_by_role("button", name="More").click()
    page.get_by_role("button", name="End sharing").click()
    expect(page.get_by_text("No longer shared")).to_be_visible()
    viewer.reload()
    expect(viewer.get_by_role("heading", name="This board can't be shown.")).to_be_visible()

    page.get_by_role("group", name="Place of “First”").get_by_role("button", name="Unpin").click()
    expect(titles(page)).to_have_text(["Second"])
    page.get_by_role("link", name="Boards").click()
    line = page.get_by_role("listitem").filter(has_text="First").last
    expect(line).to_contain_text("on no board")
    assert broken_rules(page, phone=False) == []
    line.get_by_role("button", name="Keep “First” no longer").click()
    expect(page.get_by_role("button", name="Keep “First” no longer")).to_have_count(0)


def titles(page: Page) -> Locator:
    return page.get_by_role("main").get_by_role("heading", level=2)
